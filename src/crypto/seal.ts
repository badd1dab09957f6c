import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

const ivBytes = 12
const tagBytes = 16

/**
 * AES-256-GCM under HKDF-SHA256(store key, salt = secret, info = purpose and key), random IV:
 * only a caller who brings both texts can have it opened, and only where the store key is.
 */
export function seal(storeKey: Uint8Array, binding: Binding, text: string): Uint8Array {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', deriveKey(storeKey, binding), iv)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body])
}

/** The text that `seal` was given; throws when key or binding are others, or a byte has changed. */
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

/** What a sealed text or a MAC is tied to. `purpose` keeps uses of the store key apart. */
export type Binding = {
  purpose: 'refresh' | 'answer' | 'request' | 'fingerprint' | 'transfer' | 'card' | 'setup'
  secret: string
  key: string
}

/** HMAC-SHA256 under the store key, 32 bytes; the parts are length-prefixed, so none runs into the next. */
export function mac(storeKey: Uint8Array, binding: Binding): Uint8Array {
  const hmac = createHmac('sha256', storeKey)
  for (const part of [binding.purpose, binding.secret, binding.key]) {
    const bytes = Buffer.from(part, 'utf8')
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    hmac.update(length).update(bytes)
  }
  return hmac.digest()
}

/** Constant-time comparison of two MACs. */
export function sameMac(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

function deriveKey(storeKey: Uint8Array, { purpose, secret, key }: Binding): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', storeKey, secret, `cuponera ${purpose} ${key}`, 32))
}
