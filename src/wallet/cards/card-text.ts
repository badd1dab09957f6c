import { limits } from '../../base/limits.ts'
import { isPlainName, isPlainText } from '../../base/words.ts'

/** The name of a card, of a design or of a limit: none, or one that can be seen and turns nothing. */
export function isCardName(value: unknown): value is string {
  return isText(value, limits.cardNameCharsMax) && (value === '' || isPlainName(value))
}

/** The description of a card or a limit, in words that turn nothing. */
export function isCardDescription(value: unknown): value is string {
  return isText(value, limits.cardDescriptionCharsMax) && isPlainText(value)
}

function isText(value: unknown, charsMax: number): value is string {
  return typeof value === 'string' && value.length <= charsMax && value.isWellFormed()
}
