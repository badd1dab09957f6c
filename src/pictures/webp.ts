import { limits } from '../base/limits.ts'
import type { Stripped } from './strip.ts'

type Size = { width: number; height: number }

/** Flags of the extended header: a colour profile, and transparency. */
const flags = { profile: 0x20, alpha: 0x10, animation: 0x02 }

/** Remove everything from a still WebP (RFC 9649) that does not change how it looks. Null if it is none. */
export function stripWebp(bytes: Uint8Array): Stripped | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 20 || view.getUint32(4, true) + 8 > bytes.length) return null
  const fileEnd = view.getUint32(4, true) + 8
  const parts: Uint8Array[] = []
  let canvas: Size | null = null
  let picture: Size | null = null
  let profiled = false
  let read = 0
  for (let at = 12; at + 8 <= fileEnd; ) {
    if (++read > limits.picturePartsMax) return null
    const name = Buffer.from(bytes.subarray(at, at + 4)).toString('latin1')
    const length = view.getUint32(at + 4, true)
    // A chunk of odd length has one byte of padding.
    const end = at + 8 + length + (length % 2)
    if (end > fileEnd) return null
    const chunk = Buffer.from(bytes.subarray(at, end))
    const data = chunk.subarray(8, 8 + length)
    if (name === 'VP8X') {
      canvas = at === 12 ? canvasOf(data) : null
      if (!canvas) return null
      parts.push(chunk)
    } else if (name === 'VP8 ' || name === 'VP8L') {
      picture = picture ? null : name === 'VP8 ' ? lossySize(data) : losslessSize(data)
      if (!picture) return null
      parts.push(chunk)
    } else if ((name === 'ALPH' || name === 'ICCP') && canvas && !picture) {
      if (name === 'ICCP') profiled = true
      parts.push(chunk)
    }
    at = end
  }
  if (!picture) return null
  const [first] = parts
  if (canvas && first) first[8] = (first[8] ?? 0) & (flags.alpha | (profiled ? flags.profile : 0))
  const header = Buffer.from('RIFF0000WEBP', 'latin1')
  const body = Buffer.concat(parts)
  header.writeUInt32LE(body.length + 4, 4)
  const size = { width: greater('width'), height: greater('height') }
  return { bytes: Buffer.concat([header, body]), ...size }

  function greater(side: keyof Size): number {
    return Math.max(canvas?.[side] ?? 0, picture?.[side] ?? 0)
  }
}

function canvasOf(data: Buffer): Size | null {
  if (data.length !== 10 || ((data[0] ?? 0) & flags.animation) !== 0) return null
  return { width: data.readUIntLE(4, 3) + 1, height: data.readUIntLE(7, 3) + 1 }
}

/** The size in the header of a VP8 key frame (RFC 6386). */
function lossySize(data: Buffer): Size | null {
  if (data.length < 10 || data.readUIntBE(3, 3) !== 0x9d012a) return null
  return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff }
}

function losslessSize(data: Buffer): Size | null {
  if (data.length < 5 || data[0] !== 0x2f) return null
  const bits = data.readUInt32LE(1)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}
