/** Reads QR codes in pictures, by the browser's own reader where there is one, else in JavaScript. */

/** A frame of the camera, or a photo. */
type Picture = HTMLVideoElement | ImageBitmap

type Detector = { detect(picture: Picture): Promise<{ rawValue: string }[]> }

declare global {
  interface Window {
    BarcodeDetector?: {
      new (options: { formats: string[] }): Detector
      getSupportedFormats(): Promise<string[]>
    }
  }
}

/** Longest side in pixels for our own reader: more is slower and finds no more codes. */
const frameSide = 720
/** A photo may have a small code, so the first try is finer; a large code is found in a coarser one. */
const photoSides = [1600, 1000, 600]
/** Larger photos are shrunk while they are decoded: a phone takes 12 to 50 million pixels. */
const photoSideMax = 2400

let detector: Promise<Detector | null> | undefined

/** The text in a frame, or null. The video must have a picture. */
export async function readFrame(video: HTMLVideoElement): Promise<string | null> {
  const native = await nativeText(video)
  if (native !== undefined) return native
  return decodedText(video, video.videoWidth, video.videoHeight, frameSide)
}

/** The text in a photo; null when it has no readable code, or is no picture. */
export async function readPhoto(file: Blob): Promise<string | null> {
  const picture = await openPicture(file)
  if (!picture) return null
  try {
    const native = await nativeText(picture)
    if (native) return native
    for (const side of photoSides) {
      const text = await decodedText(picture, picture.width, picture.height, side)
      if (text !== null) return text
    }
    return null
  } finally {
    picture.close()
  }
}

async function openPicture(file: Blob): Promise<ImageBitmap | null> {
  try {
    const picture = await createImageBitmap(file)
    const side = Math.max(picture.width, picture.height)
    if (side <= photoSideMax) return picture
    const scale = photoSideMax / side
    const size = { resizeWidth: Math.round(picture.width * scale), resizeQuality: 'high' } as const
    const smaller = await createImageBitmap(picture, size)
    picture.close()
    return smaller
  } catch (cause) {
    // InvalidStateError: the file is no picture, or one that this browser cannot read.
    if (cause instanceof DOMException) return null
    throw cause
  }
}

/** The answer of the browser's own reader; undefined where there is none. */
async function nativeText(picture: Picture): Promise<string | null | undefined> {
  detector ??= openDetector()
  const reader = await detector
  if (!reader) return undefined
  try {
    return (await reader.detect(picture))[0]?.rawValue ?? null
  } catch (cause) {
    // Some systems have the class and lack the service behind it, and say so only at the first use.
    if (!(cause instanceof DOMException)) throw cause
    detector = Promise.resolve(null)
    return undefined
  }
}

async function openDetector(): Promise<Detector | null> {
  const { BarcodeDetector } = window
  if (!BarcodeDetector) return null
  try {
    const formats = await BarcodeDetector.getSupportedFormats()
    return formats.includes('qr_code') ? new BarcodeDetector({ formats: ['qr_code'] }) : null
  } catch (cause) {
    // The class exists without its service.
    if (cause instanceof Error) return null
    throw cause
  }
}

let canvas: HTMLCanvasElement | undefined

async function decodedText(
  picture: Picture,
  width: number,
  height: number,
  side: number,
): Promise<string | null> {
  const { decodeQR } = await import('qr/decode.js')
  const scale = Math.min(1, side / Math.max(width, height))
  canvas ??= document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(width * scale))
  canvas.height = Math.max(1, Math.round(height * scale))
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (!context) return null
  context.drawImage(picture, 0, 0, canvas.width, canvas.height)
  const image = context.getImageData(0, 0, canvas.width, canvas.height)
  try {
    return decodeQR(image)
  } catch (cause) {
    // The library throws a plain error where the picture has no code.
    if (cause instanceof Error) return null
    throw cause
  }
}
