/** The bytes that hexadecimal digits stand for. The caller has checked the digits. */
export function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex')
}

/** Lower-case hexadecimal digits. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
