/** Decode hexadecimal digits, which the caller has checked. */
export function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex')
}

/** Encode bytes as lower-case hexadecimal digits. */
export function hexOf(bytes: Uint8Array): string {
  return bytes.toHex()
}
