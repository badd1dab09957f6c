import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'

/** Decode hexadecimal digits, which the caller has checked. */
export function bytesOf(hex: string): Uint8Array {
  // The pages call it, too, and browsers have no `Buffer`; older ones lack `fromHex` and `toHex` as well.
  return hexToBytes(hex)
}

/** Encode bytes as lower-case hexadecimal digits. */
export function hexOf(bytes: Uint8Array): string {
  return bytesToHex(bytes)
}
