import { clientLimits } from '../base/limits-client.ts'
import { Refusal, type RefusalCode } from '../base/refusal.ts'
import { isPlainName } from '../base/words.ts'

type TextRule = {
  field: string
  charsMin?: number
  charsMax: number
  lines?: boolean
  /** Refusal code. Default `field-invalid`. */
  code?: RefusalCode
}

const control = /\p{Cc}/u
const controlButLines = /[^\P{Cc}\n\t]/u

/**
 * Check a text and return it unchanged. Lengths count code points. Control characters and lone surrogates are
 * refused, because they change when the text passes through JSON, SQLite or a display.
 */
export function parseText(value: unknown, rule: TextRule): string {
  if (typeof value !== 'string' || !value.isWellFormed()) refuse(rule)
  // A code point is one or two UTF-16 units. Code points are counted only if the cheap bounds do not decide.
  if (value.length > rule.charsMax * 2) refuse(rule)
  if (value.length > rule.charsMax && [...value].length > rule.charsMax) refuse(rule)
  if (value.length < (rule.charsMin ?? 0)) refuse(rule)
  if ((rule.lines ? controlButLines : control).test(value)) refuse(rule)
  return value
}

/** Read the label of a key. Undefined leaves the label, null and '' clear it. Refuses `field-invalid`. */
export function parseLabel(value: string | null | undefined): string | null | undefined {
  if (value === undefined || value === null) return value
  const label = parseText(value, { field: 'label', charsMax: clientLimits.labelCharsMax })
  if (label !== '' && !isPlainName(label)) throw new Refusal('field-invalid', { field: 'label' })
  return label || null
}

function refuse(rule: TextRule): never {
  throw new Refusal(rule.code ?? 'field-invalid', { field: rule.field })
}
