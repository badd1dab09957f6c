import { timingSafeEqual } from 'node:crypto'
import { cbc, cmac } from '@noble/ciphers/aes.js'

/** Parameters of a tag's address: encrypted UID and counter (`p`, 16 bytes), and their MAC (`c`, 8 bytes). */
type Tap = { p: Uint8Array; c: Uint8Array }

/** The PICC data of NTAG 424 DNA: the UID of the tag, and the number of its readings so far. */
type PiccData = { uid: Uint8Array; counter: number }

/** The highest counter of a tag; after it the tag gives no more taps. */
export const counterMax = 0xff_ffff

const zeroIv = new Uint8Array(16)
const nothing = new Uint8Array()
/** PICCDataTag for a UID of 7 bytes and a counter. */
const dataTag = 0xc7
const sessionPrefix = Uint8Array.of(0x3c, 0xc3, 0x00, 0x01, 0x00, 0x80)

/** The tap in two hex texts of either case, or null. */
export function parseTap(p: unknown, c: unknown): Tap | null {
  if (typeof p !== 'string' || !/^[0-9a-f]{32}$/i.test(p)) return null
  if (typeof c !== 'string' || !/^[0-9a-f]{16}$/i.test(c)) return null
  return { p: Uint8Array.fromHex(p), c: Uint8Array.fromHex(c) }
}

/** The reading in `p`, decrypted with the meta key; null when it has another form. It is not verified yet. */
export function openTap({ p }: Tap, k1: Uint8Array): PiccData | null {
  const data = cbc(k1, zeroIv, { disablePadding: true }).decrypt(p)
  if (data[0] !== dataTag) return null
  return { uid: data.slice(1, 8), counter: Buffer.from(data).readUIntLE(8, 3) }
}

/** True when the tag with this k2 made the tap (SUN, NXP AN12196: the MAC over nothing). Constant-time. */
export function tapIsGenuine({ c }: Tap, picc: PiccData, k2: Uint8Array): boolean {
  return timingSafeEqual(macOf(picc, k2), c)
}

/** The tap of a tag with these keys, in upper-case hex as tags write it. `filler`: 5 random bytes. */
export function createTap(
  picc: PiccData,
  { k1, k2 }: { k1: Uint8Array; k2: Uint8Array },
  filler: Uint8Array,
): { p: string; c: string } {
  const data = Buffer.concat([Uint8Array.of(dataTag), picc.uid, counterBytes(picc), filler])
  const p = cbc(k1, zeroIv, { disablePadding: true }).encrypt(data)
  return { p: p.toHex().toUpperCase(), c: macOf(picc, k2).toHex().toUpperCase() }
}

function macOf(picc: PiccData, k2: Uint8Array): Uint8Array {
  const vector = Buffer.concat([sessionPrefix, picc.uid, counterBytes(picc)])
  const full = cmac(nothing, cmac(vector, k2))
  return full.filter((_, at) => at % 2 === 1)
}

function counterBytes({ counter }: PiccData): Uint8Array {
  const bytes = Buffer.alloc(3)
  bytes.writeUIntLE(counter, 0, 3)
  return bytes
}
