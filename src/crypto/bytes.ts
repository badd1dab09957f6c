/** True for a byte array of exactly that length. */
export function isBytes(value: unknown, length: number): boolean {
  return value instanceof Uint8Array && value.length === length
}

const suuidDigits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const suuidLength = 22

/** The short form of a UUID: its 128 bits as a number of 22 base-64 digits, where `A` is zero. */
export function suuidOf(uuid: string): string {
  let rest = BigInt(`0x${uuid.replaceAll('-', '')}`)
  let text = ''
  for (let at = 0; at < suuidLength; at++) {
    text = suuidDigits.charAt(Number(rest & 63n)) + text
    rest >>= 6n
  }
  return text
}

/** Read the short form of a UUID. Null for other text. */
export function parseSuuid(text: string): string | null {
  if (text.length !== suuidLength) return null
  let number = 0n
  for (const digit of text) {
    const value = suuidDigits.indexOf(digit)
    if (value < 0) return null
    number = (number << 6n) | BigInt(value)
  }
  // 22 digits have 132 bits, four more than a UUID.
  if (number >> 128n > 0n) return null
  const hex = number.toString(16).padStart(32, '0')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
