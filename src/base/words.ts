/**
 * Clean a text of another service, so that it can be stored and shown: one line of at most `charsMax` UTF-16
 * units, without control and format characters. Null if nothing remains.
 */
export function parseForeignText(value: unknown, charsMax: number): string | null {
  if (typeof value !== 'string') return null
  const words = value
    .slice(0, charsMax)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Cs}]/gu, '')
    .trim()
  return words === '' ? null : words
}

// Matches a visible character: no white space, format character, mark, filler or blank.
const seen =
  /[^\p{White_Space}\p{Cc}\p{Cf}\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\u{2800}\u{fffc}\u{13441}\u{13442}\u{1d159}]/u
const turning = /\p{Bidi_Control}/u

/** True for a name with a visible character and without bidirectional control characters (UAX #9). */
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
 * True for text without bidirectional overrides, in which every embedding and isolate is closed on its line
 * (UAX #9). Closed pairs are allowed, because phones add them to copied numbers.
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
