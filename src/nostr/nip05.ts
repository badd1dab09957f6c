import { limits } from '../base/limits.ts'

/** An internet identifier `name@domain`, in lower case, the domain in punycode (NIP-05). */
type Nip05 = { name: string; domain: string }

const localPart = /^[a-z0-9._-]+$/
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
/** At least two labels; the last starts with a letter, which no spelling of an IPv4 address does. */
const hostName = new RegExp(`^(?:${label}\\.)+(?=[a-z])${label}$`)
/** What would end the host name inside a URL, or be silently dropped from it. */
const notInHostName = /[\p{Cc}\p{Cf}/\\:@?#%[\]]/u
const pubkey = /^[0-9a-f]{64}$/

/** The identifier in `name@domain`, or in a bare domain (its name is `_`); null for anything else. */
export function parseNip05(text: string): Nip05 | null {
  if (text.length > limits.nip05TextMax) return null
  const trimmed = text.trim()
  const at = trimmed.indexOf('@')
  const name = at < 0 ? '_' : trimmed.slice(0, at).toLowerCase()
  const domain = parseDomain(trimmed.slice(at + 1))
  if (domain === null || !localPart.test(name)) return null
  return name.length + 1 + domain.length > limits.nip05TextMax ? null : { name, domain }
}

/** The key that a `/.well-known/nostr.json` document gives to `name`, as lower-case hex, or null (NIP-05). */
export function readNip05(json: unknown, name: string): string | null {
  if (typeof json !== 'object' || json === null || !('names' in json)) return null
  const names = json.names
  if (typeof names !== 'object' || names === null || !Object.hasOwn(names, name)) return null
  const key = (names as Record<string, unknown>)[name]
  return typeof key === 'string' && pubkey.test(key) ? key : null
}

/** A public host name in lower-case punycode, or null: no address, no port, no path, no trailing dot. */
function parseDomain(text: string): string | null {
  if (notInHostName.test(text)) return null
  const host = URL.parse(`https://${text}`)?.hostname
  return host !== undefined && hostName.test(host) ? host : null
}
