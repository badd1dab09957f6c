import { decode, npubEncode, nsecEncode } from 'nostr-tools/nip19'
import { bytesOf, hexOf } from '../base/bytes.ts'
import { limits } from '../base/limits.ts'

const hex32 = /^[0-9a-f]{64}$/i
/** Order of secp256k1: a secret is 1 to this minus one. */
const curveOrder = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
const npubs = new Map<string, string>()

/**
 * The public key, as lower-case hex, in an npub, an nprofile or 64 hex digits, each with or without
 * `nostr:` (NIP-19, NIP-21); null for anything else. It may lie off the curve: nobody could sign
 * with it, so knowing it is useless but harmless.
 */
export function parsePubkey(text: string): string | null {
  if (text.length > limits.keyTextMax) return null
  const key = text.trim().replace(/^nostr:/i, '')
  if (hex32.test(key)) return key.toLowerCase()
  const decoded = decodeOrNull(key)
  if (decoded?.type === 'nprofile') return decoded.data.pubkey
  if (decoded?.type !== 'npub' || !hex32.test(decoded.data)) return null
  return decoded.data
}

/** The 32 bytes of a secret key in an nsec or 64 hex digits; null for anything that cannot sign. */
export function parseSecret(text: string): Uint8Array | null {
  if (text.length > limits.keyTextMax) return null
  const key = text.trim()
  if (hex32.test(key)) return usableSecret(bytesOf(key))
  const decoded = decodeOrNull(key)
  return decoded?.type === 'nsec' ? usableSecret(decoded.data) : null
}

/** The npub of a public key in lower-case hex; the last ones asked for are remembered. */
export function npubOf(pubkey: string): string {
  const known = npubs.get(pubkey)
  if (known !== undefined) return known
  const npub = npubEncode(pubkey)
  if (npubs.size >= limits.npubsCachedMax) npubs.clear()
  npubs.set(pubkey, npub)
  return npub
}

/** The nsec of a 32-byte secret. Never log it. */
export function nsecOf(secret: Uint8Array): string {
  return nsecEncode(secret)
}

function usableSecret(secret: Uint8Array): Uint8Array | null {
  if (secret.length !== 32) return null
  const hex = hexOf(secret)
  return /[1-9a-f]/.test(hex) && hex < curveOrder ? Uint8Array.from(secret) : null
}

function decodeOrNull(text: string): ReturnType<typeof decode> | null {
  try {
    return decode(text)
  } catch (error) {
    // The decoder refuses by throwing plain errors: checksum, prefix, length.
    if (error instanceof Error) return null
    throw error
  }
}
