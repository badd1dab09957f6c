import { asObject, type JsonObject, parseJson } from '../../base/json.ts'
import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'

/** Checks of a callback: `hosts` are this service's own, `usable` the rules of outgoing requests. */
export type CallbackRules = { hosts: readonly string[]; usable: (url: URL) => boolean }

/**
 * The LUD-16 answer of an identity's own wallet, to be registered: `payRequest` with callback, bounds
 * and metadata. Null when there is none. Refuses `identity-lud16-invalid`.
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

/** True for a callback on another host. One of ours would call itself for ever. */
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

/** True when the value is nested no deeper than that: the store and the answer have limits of depth. */
function shallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((part) => shallow(part, depth - 1))
}
