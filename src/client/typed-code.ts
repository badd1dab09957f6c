/**
 * The form of a nonce that people type: Crockford's base32 in groups of four, with two check characters. It is
 * the same credential as the nonce.
 */

/** Crockford's alphabet: without I, L, O and U. */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** 16 bytes of a nonce take 26 characters, whose last two bits are zero. */
const dataChars = 26
const codeChars = dataChars + 2
const groupChars = 4
const groupCount = codeChars / groupChars
const nonceBits = 128
const nonceChars = 22

/**
 * Arithmetic of GF(32), modulo x⁵ + x² + 1: addition is XOR. `powers[n]` is the n-th power of the generator 2, of
 * which there are 31.
 */
const order = 31
const powers: readonly number[] = Array.from({ length: order - 1 }).reduce<number[]>(
  (list) => {
    const twice = (list.at(-1) ?? 0) << 1
    return [...list, twice > order ? twice ^ 0b100101 : twice]
  },
  [1],
)

function power(exponent: number): number {
  return powers[((exponent % order) + order) % order] ?? 0
}

function logarithm(value: number): number {
  return powers.indexOf(value)
}

function product(one: number, other: number): number {
  return one === 0 || other === 0 ? 0 : power(logarithm(one) + logarithm(other))
}

function quotient(one: number, other: number): number {
  return one === 0 ? 0 : power(logarithm(one) - logarithm(other))
}

/**
 * The two sums of a Reed–Solomon code, which are zero for a whole one: of its symbols, and of each symbol times
 * the power of its place.
 */
function sumsOf(symbols: readonly number[]): [plain: number, placed: number] {
  return symbols.reduce<[number, number]>(
    ([plain, placed], symbol, at) => [plain ^ symbol, placed ^ product(symbol, power(at))],
    [0, 0],
  )
}

/** The groups of the typed form of a nonce; null for a code of another service that is no nonce of 16 bytes. */
export function typedGroups(nonce: string): string[] | null {
  if (nonce.length !== nonceChars || ![...nonce].every((char) => base64.includes(char))) return null
  const bits = [...nonce].map((char) => bitsOf(base64.indexOf(char), 6)).join('')
  if (bits.slice(nonceBits).includes('1')) return null
  const data = numbersOf(bits.slice(0, nonceBits), 5)
  const [plain, placed] = sumsOf(data)
  // The check symbols make both sums zero.
  const [at, last] = [power(dataChars), power(dataChars + 1)]
  const second = quotient(placed ^ product(plain, at), at ^ last)
  const code = [...data, plain ^ second, second].map((symbol) => letters[symbol]).join('')
  return grouped(code)
}

/**
 * Not the whole code of a coupon. `groups`: those to look at first, counted from one; none where nobody can
 * tell. `count`: characters too few or too many. A typed code is never corrected.
 */
export type TypedSlip = {
  nonce: null
  wrong: 'sign' | 'short' | 'long' | 'sum'
  groups: number[]
  count: number
}

/** Read a typed code: in any case, with O for 0 and I or L for 1, with spaces and dashes anywhere. */
export function readTyped(text: string): { nonce: string } | TypedSlip {
  const chars = charsOf(text)
  const strange = chars.findIndex((char) => !letters.includes(char))
  if (strange >= 0 && strange < codeChars) return slip('sign', [groupAt(strange)])
  if (chars.length !== codeChars) {
    const missing = codeChars - chars.length
    return slip(missing > 0 ? 'short' : 'long', oddGroups(text), Math.abs(missing))
  }
  const symbols = chars.map((char) => letters.indexOf(char))
  const [plain, placed] = sumsOf(symbols)
  if (padding(symbols) !== 0) return slip('sum', [groupAt(dataChars - 1)])
  if (plain !== 0 || placed !== 0) return slip('sum', suspects(symbols, plain, placed))
  const bits = symbols.slice(0, dataChars).map((symbol) => bitsOf(symbol, 5))
  const sextets = numbersOf(bits.join('').slice(0, nonceBits), 6)
  return { nonce: sextets.map((sextet) => base64[sextet]).join('') }
}

/** A shorter text is something else, and no code with a slip. */
const triedChars = 3 * groupChars

/** The reason why a text is no code; null while it may become one. `whole`: the person has finished it. */
export function slipOf(text: string, whole: boolean): TypedSlip | null {
  const count = charsOf(text).length
  // A dash may be a character of a nonce, until the text is longer than one.
  if (!unlikeNonce(text) || (text.includes('-') && count < codeChars)) return null
  const reading = readTyped(text)
  if (reading.nonce !== null) return null
  if (count >= (whole ? triedChars : codeChars)) return reading
  const [group = 0] = reading.groups
  return reading.wrong === 'sign' && count >= group * groupChars ? reading : null
}

/** A text in groups, as far as it may be the beginning of a typed code; else without them. */
export function groupTyped(text: string): string {
  const bare = text.replace(/\s/g, '')
  if (/^[\dA-Z]*$/i.test(bare) && unlikeNonce(bare)) return grouped(bare).join(' ')
  // A voucher in JSON may have spaces of its own.
  return text.startsWith('{') ? text : bare
}

/** Letters and digits in one case, or more of them than a nonce has: a nonce needs each character in its case. */
function unlikeNonce(text: string): boolean {
  if (/^[\dA-ZÑ\s-]*$/.test(text) || /^[\da-zñ\s-]*$/.test(text)) return true
  return charsOf(text).length > nonceChars && /^[\dA-ZÑ\s-]*$/i.test(text)
}

function charsOf(text: string): string[] {
  const bare = text.toUpperCase().replace(/[\s\-‐-―]/g, '')
  return [...bare.replaceAll('O', '0').replace(/[IL]/g, '1')]
}

function slip(wrong: TypedSlip['wrong'], groups: number[], count = 0): TypedSlip {
  return { nonce: null, wrong, groups, count }
}

function groupAt(place: number): number {
  return Math.floor(place / groupChars) + 1
}

/**
 * The first group that a person made longer or shorter than the others. A field that groups what is typed leaves a
 * shorter end, wherever a character is missing.
 */
function oddGroups(text: string): number[] {
  const groups = text.split(/[\s\-‐-―]+/).filter(Boolean)
  const odd = groups.findIndex((group) => group.length !== groupChars)
  if (groups.length !== groupCount || odd < 0) return []
  const end = odd === groupCount - 1 && (groups[odd] ?? '').length < groupChars
  return end ? [] : [odd + 1]
}

/** More groups than this are no help. */
const suspectsMax = 3

/** The groups of the one wrong symbol, or of two neighbours that changed places, that explain the sums. */
function suspects(symbols: readonly number[], plain: number, placed: number): number[] {
  if (plain !== 0) {
    if (placed === 0) return []
    const place = logarithm(quotient(placed, plain))
    if (place >= codeChars) return []
    const right = symbols.with(place, (symbols[place] ?? 0) ^ plain)
    return padding(right) === 0 ? [groupAt(place)] : []
  }
  const swaps = symbols.flatMap((symbol, at) => {
    const next = symbols[at + 1]
    if (next === undefined) return []
    const change = product(symbol ^ next, power(at) ^ power(at + 1))
    const right = symbols.with(at, next).with(at + 1, symbol)
    return change === placed && padding(right) === 0 ? [[groupAt(at), groupAt(at + 1)]] : []
  })
  const groups = [...new Set(swaps.flat())]
  return groups.length <= suspectsMax ? groups : []
}

/** The two bits behind the nonce, which are zero. */
function padding(symbols: readonly number[]): number {
  return (symbols[dataChars - 1] ?? 0) & 0b11
}

function grouped(code: string): string[] {
  return code.match(/.{1,4}/g) ?? []
}

function bitsOf(value: number, count: number): string {
  return value.toString(2).padStart(count, '0')
}

/** Numbers of so many bits each; the last is filled with zeros. */
function numbersOf(bits: string, count: number): number[] {
  return Array.from({ length: Math.ceil(bits.length / count) }, (_, at) =>
    Number.parseInt(bits.slice(at * count, (at + 1) * count).padEnd(count, '0'), 2),
  )
}
