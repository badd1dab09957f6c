import { clientLimits } from './limits-client.ts'

/** A JSON object with unchecked members. */
export type JsonObject = Record<string, unknown>

/** Reason for which a text is refused. */
type JsonRefused = 'too-long' | 'too-deep' | 'too-many-keys' | 'number-too-long' | 'not-json'

/** The value of a text, or the reason for the refusal. */
type JsonReading = { value: unknown } | { refused: JsonRefused }

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Read an untrusted JSON text (bytes are UTF-8). Depth, keys and number lengths are checked in one pass before
 * `JSON.parse`, so that code which walks or prints the value later cannot stall. `bytesMax` counts bytes, or
 * UTF-16 units of a string, which are never more. Of duplicate keys the last one counts.
 */
export function readJson(source: string | Uint8Array, bytesMax: number): JsonReading {
  if (source.length > bytesMax) return { refused: 'too-long' }
  try {
    const text = typeof source === 'string' ? source : utf8.decode(source)
    const refused = findExcess(text)
    return refused === null ? { value: JSON.parse(text) } : { refused }
  } catch (cause) {
    // The decoder throws a TypeError if the bytes are not UTF-8.
    if (cause instanceof SyntaxError || cause instanceof TypeError) return { refused: 'not-json' }
    throw cause
  }
}

/** The value of an untrusted JSON text (`readJson`), or undefined. */
export function parseJson(source: string | Uint8Array, bytesMax: number): unknown {
  const reading = readJson(source, bytesMax)
  return 'value' in reading ? reading.value : undefined
}

/** The value of an untrusted JSON text (`readJson`) if it is an object, else null. */
export function parseJsonObject(source: string | Uint8Array, bytesMax: number): JsonObject | null {
  return asObject(parseJson(source, bytesMax))
}

/** The value of an untrusted JSON text (`readJson`) if it is an array, else null. */
export function parseJsonArray(source: string | Uint8Array, bytesMax: number): unknown[] | null {
  const value = parseJson(source, bytesMax)
  return Array.isArray(value) ? value : null
}

/** The value if it is an object and no array, else null. */
export function asObject(value: unknown): JsonObject | null {
  const object = typeof value === 'object' && value !== null && !Array.isArray(value)
  return object ? (value as JsonObject) : null
}

const quote = '"'.charCodeAt(0)
const backslash = '\\'.charCodeAt(0)
const [brace, braceEnd] = ['{'.charCodeAt(0), '}'.charCodeAt(0)]
const [bracket, bracketEnd] = ['['.charCodeAt(0), ']'.charCodeAt(0)]
const colon = ':'.charCodeAt(0)
const comma = ','.charCodeAt(0)
const [zero, nine] = ['0'.charCodeAt(0), '9'.charCodeAt(0)]

/** The first bound that a text exceeds, or null. For a text that is not JSON either answer is possible. */
function findExcess(text: string): JsonRefused | null {
  let depth = 0
  let keys = 0
  let digits = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    switch (unit) {
      case quote:
        at = endOfString(text, at)
        break
      case brace:
      case bracket:
        digits = 0
        if (++depth > clientLimits.jsonDepthMax) return 'too-deep'
        break
      case braceEnd:
      case bracketEnd:
        depth--
        break
      case colon:
        digits = 0
        if (++keys > clientLimits.jsonKeysMax) return 'too-many-keys'
        break
      case comma:
        digits = 0
        break
      default:
        if (unit < zero || unit > nine) break
        if (++digits > clientLimits.jsonDigitsMax) return 'number-too-long'
    }
  }
  return null
}

/** Index of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = start; ; ) {
    end = text.indexOf('"', end + 1)
    if (end === -1) return text.length
    let before = end - 1
    while (text.charCodeAt(before) === backslash) before--
    // An even number of backslashes before the quote escape each other. An odd number escapes the quote.
    if ((end - before) % 2 === 1) return end
  }
}
