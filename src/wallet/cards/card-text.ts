import { limits } from '../../base/limits.ts'
import { isPlainName, isPlainText } from '../../base/words.ts'

/** The name of a card, design or limit. It may be empty; else it is visible and changes no text direction. */
export function isCardName(value: unknown): value is string {
  return isText(value, limits.cardNameCharsMax) && (value === '' || isPlainName(value))
}

/** The description of a card or a limit. It changes no text direction. */
export function isCardDescription(value: unknown): value is string {
  return isText(value, limits.cardDescriptionCharsMax) && isPlainText(value)
}

function isText(value: unknown, charsMax: number): value is string {
  return typeof value === 'string' && value.length <= charsMax && value.isWellFormed()
}
