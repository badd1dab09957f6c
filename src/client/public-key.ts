/** Whether a value is a public key as the protocol writes it: 32 bytes in lower-case hex. */
export function isPublicKey(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}
