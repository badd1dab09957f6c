import { asObject, type JsonObject, parseJson } from '../../base/json.ts'
import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'

/** What a callback is held against; `hosts` are this service's own, `usable` the rules of the way out. */
export type CallbackRules = { hosts: readonly string[]; usable: (url: URL) => boolean }

/**
 * What the wallet of an identity answers to LUD-16, to be registered: `payRequest` with its
 * callback, bounds and metadata. Null when there is none. Refuses `identity-lud16-invalid`.
 */
export function parseLud16(value: unknown, rules: CallbackRules): JsonObject | null {
  if (value === undefined || value === null) return null
  const object = asObject(value)
  if (!object || !shallow(object, limits.lud16DepthMax)) return refuse()
  if (Buffer.byteLength(JSON.stringify(object)) > limits.lud16BytesMax) return refuse()
  const { tag, callback, minSendable, maxSendable, metadata } = object
  if (tag !== 'payRequest' || !payable(callback, rules)) return refuse()
  const bounds = Number.isSafeInteger(minSendable) && Number.isSafeInteger(maxSendable)
  if (!bounds || Number(minSendable) < 1 || Number(maxSendable) < Number(minSendable)) {
    return refuse()
  }
  return names(metadata) ? object : refuse()
}

function refuse(): never {
  throw new Refusal('identity-lud16-invalid')
}

/** Its callback leads outside, and not back to us: that would go round for ever. */
function payable(callback: unknown, { hosts, usable }: CallbackRules): boolean {
  if (typeof callback !== 'string' || callback.length > limits.callbackCharsMax) return false
  const url = URL.parse(callback)
  return url !== null && usable(url) && !hosts.includes(url.host)
}

/** Metadata (LUD-06) with the identifier that LUD-16 adds. */
function names(metadata: unknown): boolean {
  if (typeof metadata !== 'string') return false
  const entries = parseJson(metadata, limits.lud16BytesMax)
  if (!Array.isArray(entries) || !entries.every(isEntry)) return false
  const kinds = new Set(entries.map(([kind]) => kind))
  return kinds.has('text/plain') && (kinds.has('text/identifier') || kinds.has('text/email'))
}

function isEntry(entry: unknown): entry is unknown[] {
  return Array.isArray(entry) && typeof entry[0] === 'string'
}

/** Nested no deeper than that: what stores and answers it has a limit of its own. */
function shallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((part) => shallow(part, depth - 1))
}
