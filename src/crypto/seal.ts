import { createCipheriv, createDecipheriv, hkdfSync, timingSafeEqual } from 'node:crypto'

const ivBytes = 12
const tagBytes = 16

/**
 * Encrypt a text at rest: AES-256-GCM with a random IV, under HKDF-SHA256 (RFC 5869) of the store key, with the
 * secret as salt and purpose and key as info. To open it takes the store key and both texts of the caller.
 */
export function seal(storeKey: Uint8Array, binding: Binding, text: string): Uint8Array {
  // Each binding has its own key, so a random IV of 96 bits cannot repeat under one key.
  const iv = crypto.getRandomValues(new Uint8Array(ivBytes))
  const cipher = createCipheriv('aes-256-gcm', deriveKey(storeKey, binding), iv)
  const body = cipher.update(text, 'utf8')
  // GCM is a stream, so that nothing is left for the end.
  cipher.final()
  return Buffer.concat([iv, cipher.getAuthTag(), body])
}

/** Decrypt a text of `seal`. Throws if key or binding differ, or if a byte has changed. */
export function unseal(storeKey: Uint8Array, binding: Binding, sealed: Uint8Array): string {
  const decipher = createDecipheriv(
    'aes-256-gcm',
    deriveKey(storeKey, binding),
    sealed.subarray(0, ivBytes),
  )
  decipher.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes))
  const body = sealed.subarray(ivBytes + tagBytes)
  return decipher.update(body, undefined, 'utf8') + decipher.final('utf8')
}

/** Texts that a sealed text or a MAC is bound to. `purpose` separates the uses of the store key. */
export type Binding = {
  purpose: 'refresh' | 'answer' | 'request' | 'fingerprint' | 'transfer' | 'card' | 'setup' | 'take'
  secret: string
  key: string
}

/** HMAC-SHA256 under the store key, 32 bytes. Parts have a length prefix, so that no two bindings give one input. */
export function mac(storeKey: Uint8Array, binding: Binding): Uint8Array {
  const hmac = new Bun.CryptoHasher('sha256', storeKey)
  const length = new Uint8Array(4)
  const number = new DataView(length.buffer)
  for (const part of [binding.purpose, binding.secret, binding.key]) {
    number.setUint32(0, Buffer.byteLength(part))
    hmac.update(length).update(part, 'utf8')
  }
  return hmac.digest()
}

/** Compare two MACs in constant time. */
export function sameMac(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

function deriveKey(storeKey: Uint8Array, { purpose, secret, key }: Binding): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', storeKey, secret, `cuponera ${purpose} ${key}`, 32))
}
