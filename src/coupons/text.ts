import { Refusal, type RefusalCode } from '../base/refusal.ts'

type TextRule = {
  field: string
  charsMin?: number
  charsMax: number
  lines?: boolean
  /** What it is refused with; default `field-invalid`. */
  code?: RefusalCode
}

const control = /\p{Cc}/u
const controlButLines = /[^\P{Cc}\n\t]/u

/** Text as it was sent, or a refusal: length in code points, no control characters, no lone surrogates. */
export function parseText(value: unknown, rule: TextRule): string {
  if (typeof value !== 'string' || !value.isWellFormed()) refuse(rule)
  // A code point is one or two UTF-16 units: count only when the cheap bound does not settle it.
  if (value.length > rule.charsMax * 2) refuse(rule)
  if (value.length > rule.charsMax && [...value].length > rule.charsMax) refuse(rule)
  if (value.length < (rule.charsMin ?? 0)) refuse(rule)
  if ((rule.lines ? controlButLines : control).test(value)) refuse(rule)
  return value
}

function refuse(rule: TextRule): never {
  throw new Refusal(rule.code ?? 'field-invalid', { field: rule.field })
}
