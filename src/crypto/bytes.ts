/** True for a byte array of exactly that length; what other people send may be anything. */
export function isBytes(value: unknown, length: number): boolean {
  return value instanceof Uint8Array && value.length === length
}
