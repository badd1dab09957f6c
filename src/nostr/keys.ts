import { decode, npubEncode, nsecEncode } from 'nostr-tools/nip19'
import { bytesOf, hexOf } from '../base/bytes.ts'
import { clientLimits } from '../base/limits-client.ts'

const hex32 = /^[0-9a-f]{64}$/i
/** Order n of secp256k1 (SEC 2). A secret key is 1 to n - 1. */
const curveOrder = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
const npubs = new Map<string, string>()

/**
 * Read a public key from an npub, an nprofile or 64 hex digits, with or without `nostr:` (NIP-19, NIP-21), as
 * lower-case hex. Null for other text. The key may lie off the curve. That is harmless: nobody can sign with it.
 */
export function parsePubkey(text: string): string | null {
  if (text.length > clientLimits.keyTextMax) return null
  const key = text.trim().replace(/^nostr:/i, '')
  if (hex32.test(key)) return key.toLowerCase()
  const decoded = decodeOrNull(key)
  if (decoded?.type === 'nprofile') return decoded.data.pubkey
  if (decoded?.type !== 'npub' || !hex32.test(decoded.data)) return null
  return decoded.data
}

/** Read a secret key (32 bytes) from an nsec or 64 hex digits. Null for other text and for keys that cannot sign. */
export function parseSecret(text: string): Uint8Array | null {
  if (text.length > clientLimits.keyTextMax) return null
  const key = text.trim()
  if (hex32.test(key)) return usableSecret(bytesOf(key))
  const decoded = decodeOrNull(key)
  return decoded?.type === 'nsec' ? usableSecret(decoded.data) : null
}

/** The npub (NIP-19) of a public key in lower-case hex. Cached, because lists show the same keys many times. */
export function npubOf(pubkey: string): string {
  const known = npubs.get(pubkey)
  if (known !== undefined) return known
  const npub = npubEncode(pubkey)
  if (npubs.size >= clientLimits.npubsCachedMax) npubs.clear()
  npubs.set(pubkey, npub)
  return npub
}

/** The nsec (NIP-19) of a 32-byte secret key. Never log it. */
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
    // The decoder throws plain errors for a wrong checksum, prefix or length.
    if (error instanceof Error) return null
    throw error
  }
}
