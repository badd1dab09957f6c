/** Pictures of each format, with metadata and without. */
import { crc32, deflateSync } from 'node:zlib'

/** Text that stands in metadata only. */
export const secretPlace = 'GPS -34.6037,-58.3816'

const jpeg = Buffer.from(
  '/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwhMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wAARCAABAAEDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAf/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAAAAX/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCdABmX/9k=',
  'base64',
)
const webp = Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64')

/** The body of the lossy sample, with its chunk header. */
const lossy = webp.subarray(12)

export const samples = { jpeg, png: pngOf(1, 1), webp }

/** A chunk of a PNG. */
export function pngChunk(name: string, data: Uint8Array): Buffer<ArrayBuffer> {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data])
  return Buffer.concat([uint32(data.length), named, uint32(crc32(named))])
}

/** A white PNG, with more chunks behind its header. `shade` makes another picture of it. */
export function pngOf(
  width: number,
  height: number,
  { more = [], shade = 255 }: { more?: Buffer[]; shade?: number } = {},
): Buffer<ArrayBuffer> {
  const header = Buffer.concat([uint32(width), uint32(height), Buffer.from([8, 0, 0, 0, 0])])
  const pixels = Buffer.alloc((width + 1) * height, shade)
  for (let row = 0; row < height; row++) pixels[row * (width + 1)] = 0
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    ...more,
    pngChunk('IDAT', deflateSync(pixels)),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

/** A segment of a JPEG. */
export function jpegSegment(marker: number, text: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(text.length + 2)
  return Buffer.concat([Buffer.from([0xff, marker]), length, Buffer.from(text, 'latin1')])
}

/** The JPEG with more segments behind its first one, and bytes behind its end. */
export function jpegWith(segments: Buffer[], after = ''): Buffer<ArrayBuffer> {
  const start = 2 + 18
  const parts = [jpeg.subarray(0, start), ...segments, jpeg.subarray(start), Buffer.from(after)]
  return Buffer.concat(parts)
}

/** The JPEG with another size in its header. */
export function jpegOf(width: number, height: number): Buffer<ArrayBuffer> {
  const copy = Buffer.from(jpeg)
  const frame = copy.indexOf(Buffer.from('ffc0', 'hex'))
  copy.writeUInt16BE(height, frame + 5)
  copy.writeUInt16BE(width, frame + 7)
  return copy
}

export function webpChunk(name: string, data: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(data.length)
  return Buffer.concat([Buffer.from(name, 'latin1'), length, data, Buffer.alloc(data.length % 2)])
}

export function webpOf(...chunks: Uint8Array[]): Buffer<ArrayBuffer> {
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks])
  const length = Buffer.alloc(4)
  length.writeUInt32LE(body.length)
  return Buffer.concat([Buffer.from('RIFF'), length, body])
}

/** An extended header (VP8X) with these flags and this canvas. */
export function webpCanvas(flags: number, width: number, height: number): Buffer {
  const data = Buffer.alloc(10)
  data[0] = flags
  data.writeUIntLE(width - 1, 4, 3)
  data.writeUIntLE(height - 1, 7, 3)
  return webpChunk('VP8X', data)
}

/** Each format with every metadata that it can carry, and the same picture without. */
export const dirty: Record<string, { sent: Buffer<ArrayBuffer>; kept: Buffer<ArrayBuffer> }> = {
  jpeg: {
    sent: jpegWith(
      [
        jpegSegment(0xe1, `Exif\0\0${secretPlace}`),
        jpegSegment(0xe1, `http://ns.adobe.com/xap/1.0/\0${secretPlace}`),
        jpegSegment(0xe2, `MPF\0${secretPlace}`),
        jpegSegment(0xed, `Photoshop 3.0\0${secretPlace}`),
        jpegSegment(0xe0, `JFXX\0${secretPlace}`),
        jpegSegment(0xee, `Adobe${secretPlace}`),
        jpegSegment(0xfe, secretPlace),
      ],
      secretPlace,
    ),
    kept: jpeg,
  },
  png: {
    sent: Buffer.concat([
      pngOf(1, 1, {
        more: [
          ...['eXIf', 'tEXt', 'iTXt', 'zTXt', 'acTL', 'prVt'].map((name) =>
            pngChunk(name, Buffer.from(secretPlace)),
          ),
          pngChunk('tIME', Buffer.alloc(7)),
        ],
      }),
      Buffer.from(secretPlace),
    ]),
    kept: pngOf(1, 1),
  },
  webp: {
    sent: Buffer.concat([
      webpOf(
        webpCanvas(0x3c, 1, 1),
        lossy,
        webpChunk('EXIF', Buffer.from(secretPlace)),
        webpChunk('XMP ', Buffer.from(secretPlace)),
        webpChunk('note', Buffer.from(secretPlace)),
      ),
      Buffer.from(secretPlace),
    ]),
    // Of the flags, the profile goes too, as there is none.
    kept: webpOf(webpCanvas(0x10, 1, 1), lossy),
  },
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
