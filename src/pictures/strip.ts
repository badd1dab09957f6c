import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { stripJpeg } from './jpeg.ts'
import { stripPng } from './png.ts'
import { stripWebp } from './webp.ts'

/** A picture without its metadata, and its size in pixels. */
export type Stripped = { bytes: Uint8Array<ArrayBuffer>; width: number; height: number }

/** Media types of uploaded pictures. Every browser shows each of them, and none can hold a script. */
export const pictureTypes = ['image/jpeg', 'image/png', 'image/webp'] as const

export type PictureType = (typeof pictureTypes)[number]

const formats: {
  type: PictureType
  begins: RegExp
  strip: (bytes: Uint8Array) => Stripped | null
}[] = [
  { type: 'image/jpeg', begins: /^ffd8ff/, strip: stripJpeg },
  { type: 'image/png', begins: /^89504e470d0a1a0a/, strip: stripPng },
  { type: 'image/webp', begins: /^52494646.{8}57454250/, strip: stripWebp },
]

/**
 * Read a picture by its content, and remove its metadata: EXIF, XMP, comments, thumbnails, and everything that is
 * no part of the format. Pixels are not decoded. Refuses `picture-invalid`, `picture-too-wide`.
 */
export function stripPicture(bytes: Uint8Array): {
  type: PictureType
  bytes: Uint8Array<ArrayBuffer>
} {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('hex')
  const format = formats.find(({ begins }) => begins.test(start))
  const stripped = format?.strip(bytes)
  if (!format || !stripped || stripped.width === 0 || stripped.height === 0) {
    throw new Refusal('picture-invalid')
  }
  const { pictureSideMax: sideMax } = limits
  if (stripped.width > sideMax || stripped.height > sideMax) throw new Refusal('picture-too-wide')
  return { type: format.type, bytes: stripped.bytes }
}
