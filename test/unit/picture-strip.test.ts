import { describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { stripPicture } from '../../src/pictures/strip.ts'
import {
  dirty,
  jpegOf,
  jpegSegment,
  jpegWith,
  pngChunk,
  pngOf,
  samples,
  secretPlace,
  webpCanvas,
  webpChunk,
  webpOf,
} from '../support/pictures.ts'

const lossy = samples.webp.subarray(12)

/** The code of its refusal; null when it is taken. */
function refusalOf(bytes: Uint8Array): string | null {
  try {
    stripPicture(bytes)
    return null
  } catch (refused) {
    if (refused instanceof Refusal) return refused.code
    throw refused
  }
}

describe('metadata of an uploaded picture', () => {
  for (const [format, { sent, kept }] of Object.entries(dirty)) {
    test(`goes from a ${format}, and the picture stays byte for byte`, () => {
      expect(sent.includes(secretPlace)).toBe(true)
      const { type, bytes } = stripPicture(sent)
      expect([String(type), Buffer.from(bytes)]).toEqual([`image/${format}`, kept])
    })
  }

  for (const [format, bytes] of Object.entries(samples)) {
    test(`a ${format} without any stays as it is, also when it is sent again`, () => {
      const once = stripPicture(bytes)
      expect(Buffer.from(once.bytes)).toEqual(bytes)
      expect(Buffer.from(stripPicture(once.bytes).bytes)).toEqual(bytes)
    })
  }

  test('a colour profile stays, because it changes the colours', () => {
    const profile = jpegSegment(0xe2, 'ICC_PROFILE\0\x01\x01profile')
    expect(Buffer.from(stripPicture(jpegWith([profile])).bytes)).toEqual(jpegWith([profile]))
    const more = [pngChunk('iCCP', Buffer.from('x\0\0profile')), pngChunk('gAMA', Buffer.alloc(4))]
    expect(Buffer.from(stripPicture(pngOf(1, 1, { more })).bytes)).toEqual(pngOf(1, 1, { more }))
    const extended = webpOf(webpCanvas(0x20, 1, 1), webpChunk('ICCP', Buffer.from('abc')), lossy)
    expect(Buffer.from(stripPicture(extended).bytes)).toEqual(extended)
  })

  test('segments between the scans of a JPEG go, too, and its stuffed bytes stay', () => {
    const scan = samples.jpeg.subarray(samples.jpeg.indexOf(Buffer.from('ffda', 'hex')), -2)
    const withData = (...between: Buffer[]) =>
      Buffer.concat([
        samples.jpeg.subarray(0, -2),
        Buffer.from('ff00ffd0aaff00', 'hex'),
        ...between,
        scan,
        Buffer.from('ffd9', 'hex'),
      ])
    const sent = withData(jpegSegment(0xfe, secretPlace))
    expect(Buffer.from(stripPicture(sent).bytes)).toEqual(withData())
  })
})

describe('a picture is refused', () => {
  const side = limits.pictureSideMax
  const animated = webpOf(webpCanvas(0x02, 1, 1), lossy)
  const none = Buffer.alloc(0)
  const parts = (one: Buffer) => Array<Buffer>(limits.picturePartsMax).fill(one)
  const wrongSum = Buffer.from(samples.png)
  wrongSum[20] = 1
  const lossless = (width: number, height: number) => {
    const data = Buffer.alloc(10)
    data[0] = 0x2f
    data.writeUInt32LE((width - 1) | ((height - 1) << 14), 1)
    return webpOf(webpChunk('VP8L', data))
  }
  const cases: [name: string, bytes: Uint8Array, code: string | null][] = [
    ['empty', new Uint8Array(), 'picture-invalid'],
    ['a GIF', Buffer.from('GIF89a'), 'picture-invalid'],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'picture-invalid'],
    [
      'a page behind the first bytes of a JPEG',
      Buffer.from('\xff\xd8\xff<html>'),
      'picture-invalid',
    ],
    ['a JPEG without an end', samples.jpeg.subarray(0, -2), 'picture-invalid'],
    ['a JPEG without a scan', jpegWith([Buffer.from('ffd9', 'hex')]), 'picture-invalid'],
    ['a JPEG of no height', jpegOf(5, 0), 'picture-invalid'],
    [
      'a JPEG with a frame of arithmetic codes',
      jpegWith([jpegSegment(0xc9, 'x')]),
      'picture-invalid',
    ],
    ['a PNG without an end', samples.png.subarray(0, -12), 'picture-invalid'],
    ['a PNG with a wrong sum', wrongSum, 'picture-invalid'],
    ['an animated WebP', animated, 'picture-invalid'],
    ['a WebP with two pictures', webpOf(webpCanvas(0, 1, 1), lossy, lossy), 'picture-invalid'],
    ['a WebP that is shorter than it says', samples.webp.subarray(0, -1), 'picture-invalid'],
    ['a JPEG of too many parts', jpegWith(parts(jpegSegment(0xfe, ''))), 'picture-invalid'],
    [
      'a PNG of too many parts',
      pngOf(1, 1, { more: parts(pngChunk('tEXt', none)) }),
      'picture-invalid',
    ],
    [
      'a WebP of too many parts',
      webpOf(...parts(webpChunk('JUNK', none)), lossy),
      'picture-invalid',
    ],
    ['a wide JPEG', jpegOf(side + 1, 1), 'picture-too-wide'],
    ['a high JPEG', jpegOf(1, side + 1), 'picture-too-wide'],
    ['a wide PNG', pngOf(side + 1, 1), 'picture-too-wide'],
    ['a high PNG', pngOf(1, side + 1), 'picture-too-wide'],
    ['a WebP with a wide canvas', webpOf(webpCanvas(0, side + 1, 1), lossy), 'picture-too-wide'],
    ['a wide lossless WebP', lossless(side + 1, 1), 'picture-too-wide'],
    ['no JPEG of the greatest size', jpegOf(side, side), null],
    ['no PNG of the greatest size', pngOf(side, side), null],
    ['no lossless WebP of the greatest size', lossless(side, side), null],
  ]
  for (const [name, bytes, code] of cases) {
    test(`: ${name}`, () => expect(refusalOf(bytes)).toBe(code))
  }
})
