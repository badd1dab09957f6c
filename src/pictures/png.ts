import { crc32 } from 'node:zlib'
import { limits } from '../base/limits.ts'
import type { Stripped } from './strip.ts'

/** Chunks that change how the picture looks. Text, time, EXIF, animations and unknown ones are not among them. */
const kept = new Set([
  ...['IHDR', 'PLTE', 'IDAT', 'IEND', 'tRNS'],
  ...['cHRM', 'gAMA', 'iCCP', 'sBIT', 'sRGB', 'cICP', 'pHYs'],
])

/** Remove everything from a PNG (W3C) that does not change how it looks. Null if it is none. */
export function stripPng(bytes: Uint8Array): Stripped | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts = [bytes.subarray(0, 8)]
  let size: { width: number; height: number } | null = null
  let drawn = false
  let at = 8
  for (let read = 0; read < limits.picturePartsMax && at + 12 <= bytes.length; read++) {
    const length = view.getUint32(at)
    const end = at + 12 + length
    if (end > bytes.length) return null
    const name = Buffer.from(bytes.subarray(at + 4, at + 8)).toString('latin1')
    if (view.getUint32(end - 4) !== crc32(bytes.subarray(at + 4, end - 4))) return null
    if ((name === 'IHDR') !== (size === null)) return null
    if (name === 'IHDR') {
      if (length !== 13) return null
      size = { width: view.getUint32(at + 8), height: view.getUint32(at + 12) }
    }
    if (kept.has(name)) parts.push(bytes.subarray(at, end))
    if (name === 'IDAT') drawn = true
    if (name === 'IEND') return size && drawn ? { bytes: Buffer.concat(parts), ...size } : null
    at = end
  }
  return null
}
