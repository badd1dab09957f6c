import { hash, randomBytes } from 'node:crypto'
import { Refusal } from '../base/refusal.ts'

const shape = /^[A-Za-z0-9_-]{22}$/

/** A fresh bearer credential: 16 random bytes in base64url, 22 characters. */
export function createNonce(): string {
  return randomBytes(16).toString('base64url')
}

/** True when the text has the form of a nonce (and of a handle, which looks the same). */
export function nonceShaped(text: string): boolean {
  return shape.test(text)
}

/** The nonce in a request. Refuses `nonce-invalid` when it has not the form of one. */
export function parseNonce(text: string): string {
  if (!shape.test(text)) throw new Refusal('nonce-invalid', { field: 'nonce' })
  return text
}

/** The harmless name of a voucher: the first 16 bytes of sha256(nonce as ASCII). */
export function handleOf(nonce: string): Uint8Array {
  return hash('sha256', nonce, 'buffer').subarray(0, 16)
}

export function handleText(handle: Uint8Array): string {
  return Buffer.from(handle).toString('base64url')
}

export function parseHandle(text: string): Uint8Array {
  return Buffer.from(text, 'base64url')
}
