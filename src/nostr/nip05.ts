import { limits } from '../base/limits.ts'

/** An internet identifier `name@domain` (NIP-05) in lower case, with the domain in punycode. */
type Nip05 = { name: string; domain: string }

const localPart = /^[a-z0-9._-]+$/
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
/** At least two labels. The last one starts with a letter, so that no form of an IPv4 address matches. */
const hostName = new RegExp(`^(?:${label}\\.)+(?=[a-z])${label}$`)
/** Characters that end the host name in a URL, or that the URL parser drops. */
const notInHostName = /[\p{Cc}\p{Cf}/\\:@?#%[\]]/u
const pubkey = /^[0-9a-f]{64}$/

/** Read `name@domain`, or a bare domain, whose name is `_`. Null for other text. */
export function parseNip05(text: string): Nip05 | null {
  if (text.length > limits.nip05TextMax) return null
  const trimmed = text.trim()
  const at = trimmed.indexOf('@')
  const name = at < 0 ? '_' : trimmed.slice(0, at).toLowerCase()
  const domain = parseDomain(trimmed.slice(at + 1))
  if (domain === null || !localPart.test(name)) return null
  return name.length + 1 + domain.length > limits.nip05TextMax ? null : { name, domain }
}

/** The public key of `name` in a `/.well-known/nostr.json` document (NIP-05), in lower-case hex, or null. */
export function readNip05(json: unknown, name: string): string | null {
  if (typeof json !== 'object' || json === null || !('names' in json)) return null
  const names = json.names
  if (typeof names !== 'object' || names === null || !Object.hasOwn(names, name)) return null
  const key = (names as Record<string, unknown>)[name]
  return typeof key === 'string' && pubkey.test(key) ? key : null
}

/** Read a public host name, in lower-case punycode. Null if it is an address or has a port, path or trailing dot. */
function parseDomain(text: string): string | null {
  if (notInHostName.test(text)) return null
  const host = URL.parse(`https://${text}`)?.hostname
  return host !== undefined && hostName.test(host) ? host : null
}
