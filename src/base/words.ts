/**
 * What another service said, fit to be kept and shown to people: one line of at most so many
 * characters, without control characters and those that turn or hide text; null when nothing is left.
 */
export function foreignWords(value: unknown, charsMax: number): string | null {
  if (typeof value !== 'string') return null
  const words = value
    .slice(0, charsMax)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Cs}]/gu, '')
    .trim()
  return words === '' ? null : words
}
