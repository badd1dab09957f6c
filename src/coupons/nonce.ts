import { Refusal } from '../base/refusal.ts'

const shape = /^[A-Za-z0-9_-]{22}$/

const inUrls = { alphabet: 'base64url', omitPadding: true } as const
/** One buffer for all hashes, because it takes as long to make one as to hash a nonce. */
const digest = new Uint8Array(32)

/** Create a bearer credential: 16 random bytes in base64url, 22 characters. */
export function createNonce(): string {
  return crypto.getRandomValues(new Uint8Array(16)).toBase64(inUrls)
}

/** True if the text has the form of a nonce. A handle has the same form. */
export function nonceShaped(text: string): boolean {
  return shape.test(text)
}

/** Read the nonce of a request. Refuses `nonce-invalid`. */
export function parseNonce(text: string): string {
  if (!shape.test(text)) throw new Refusal('nonce-invalid', { field: 'nonce' })
  return text
}

/** The handle of a voucher: the first 16 bytes of sha256(nonce as ASCII). It names a voucher and cannot spend it. */
export function handleOf(nonce: string): Uint8Array {
  Bun.SHA256.hash(nonce, digest)
  return digest.slice(0, 16)
}

/** A handle as the wire shows it: base64url, 22 characters. */
export function handleText(handle: Uint8Array): string {
  return Buffer.from(handle).toString('base64url')
}

/** The bytes of a handle. The caller has checked its form (`nonceShaped`). */
export function parseHandle(text: string): Uint8Array {
  return Buffer.from(text, 'base64url')
}
