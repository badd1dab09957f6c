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

// Matches a character that is drawn: no white space, format character, mark, filler or blank.
const seen =
  /[^\p{White_Space}\p{Cc}\p{Cf}\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\u{2800}\u{fffc}\u{13441}\u{13442}\u{1d159}]/u
const turning = /\p{Bidi_Control}/u

/** True for a name of which something can be seen, and which turns no text around (UAX #9). */
export function isPlainName(text: string): boolean {
  return seen.test(text) && !turning.test(text)
}

const closing = new Map([
  ['\u202a', '\u202c'],
  ['\u202b', '\u202c'],
  ['\u2066', '\u2069'],
  ['\u2067', '\u2069'],
  ['\u2068', '\u2069'],
])

/**
 * True for text in which no direction is forced and every embedding and isolate ends with its line
 * (UAX #9). Numbers that were copied from a list of contacts stand in such a pair.
 */
export function isPlainText(text: string): boolean {
  if (/[\u202d\u202e]/.test(text)) return false
  return text.split('\n').every((line) => {
    const open: string[] = []
    for (const [mark] of line.matchAll(/[\u202a-\u202c\u2066-\u2069]/g)) {
      const end = closing.get(mark)
      if (end) open.push(end)
      else if (open.pop() !== mark) return false
    }
    return open.length === 0
  })
}
