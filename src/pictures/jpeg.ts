import { limits } from '../base/limits.ts'
import type { Stripped } from './strip.ts'

const markers = { frames: [0xc0, 0xc1, 0xc2], tables: [0xc4, 0xdb, 0xdd], scan: 0xda, end: 0xd9 }

/** Remove everything from a JPEG (ITU-T T.81) that does not change its pixels. Null if it is none. */
export function stripJpeg(bytes: Uint8Array): Stripped | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts = [bytes.subarray(0, 2)]
  let size: { width: number; height: number } | null = null
  let scanned = false
  let at = 2
  let read = 0
  while (at + 4 <= bytes.length || (scanned && at + 2 <= bytes.length)) {
    if (bytes[at] !== 0xff) return null
    const marker = bytes[at + 1] ?? 0
    // A marker may have any number of fill bytes before it.
    if (marker === 0xff) {
      at++
      continue
    }
    if (marker === markers.end) {
      parts.push(bytes.subarray(at, at + 2))
      return size && scanned ? { bytes: Buffer.concat(parts), ...size } : null
    }
    if (++read > limits.picturePartsMax) return null
    const end = at + 4 <= bytes.length ? at + 2 + view.getUint16(at + 2) : at
    if (end < at + 4 || end > bytes.length) return null
    const segment = bytes.subarray(at, end)
    if (markers.frames.includes(marker)) {
      if (size || segment.length < 10) return null
      size = { height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
    }
    const kept = keeps(marker, segment)
    if (kept === null) return null
    if (kept) parts.push(segment)
    at = end
    if (marker === markers.scan) {
      if (!size) return null
      at = endOfScan(bytes, end)
      parts.push(bytes.subarray(end, at))
      scanned = true
    }
  }
  return null
}

/** Whether a segment changes the pixels. Null for one that no browser reads. */
function keeps(marker: number, segment: Uint8Array): boolean | null {
  if ([...markers.frames, ...markers.tables, markers.scan].includes(marker)) return true
  const word = Buffer.from(segment.subarray(4, 16)).toString('latin1')
  // JFIF without a thumbnail.
  if (marker === 0xe0) return word.startsWith('JFIF\0') && segment.length === 18
  // The colour profile and the colour transform. Other data that uses these markers, such as MPF, goes.
  if (marker === 0xe2) return word === 'ICC_PROFILE\0'
  if (marker === 0xee) return word.startsWith('Adobe') && segment.length === 16
  const isApplication = marker >= 0xe0 && marker <= 0xef
  return isApplication || marker === 0xfe ? false : null
}

/** The place of the first marker behind the data of a scan. Stuffed bytes and restart markers belong to the data. */
function endOfScan(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0
    const isData = next === 0 || (next >= 0xd0 && next <= 0xd7)
    if (!isData) return at
  }
  return bytes.length
}
