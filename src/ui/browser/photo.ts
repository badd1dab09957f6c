/** Photos of this device, made small enough for the service. */
import { clientLimits } from '../../base/limits-client.ts'

/** Pixels of the longer side. A coupon shows a photo smaller than that on every screen. */
const sideMax = 1200
/** From the best quality downwards, until a photo is small enough. */
const qualities = [0.85, 0.75, 0.65, 0.5, 0.35]
/** The side shrinks by this where no quality is enough, as with a photo of gravel. */
const smaller = 0.7

/** The browser cannot read the file as a picture, such as a HEIC outside of Safari. */
export class PhotoError extends Error {}

/**
 * A photo as WebP, or JPEG where the browser writes no WebP, of at most `pictureBytesMax` bytes. It is drawn anew:
 * upright, and without EXIF. Throws PhotoError.
 */
export async function shrinkPhoto(file: Blob): Promise<Blob> {
  const bitmap = await createImageBitmap(file, { imageOrientation: 'from-image' }).catch(() => {
    throw new PhotoError('not a picture that the browser reads')
  })
  try {
    let scale = Math.min(1, sideMax / Math.max(bitmap.width, bitmap.height))
    for (; scale * Math.max(bitmap.width, bitmap.height) >= 1; scale *= smaller) {
      const photo = await encoded(draw(bitmap, scale))
      if (photo) return photo
    }
  } finally {
    bitmap.close()
  }
  throw new PhotoError('no size is small enough')
}

function draw(bitmap: ImageBitmap, scale: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(bitmap.width * scale))
  canvas.height = Math.max(1, Math.round(bitmap.height * scale))
  const context = canvas.getContext('2d')
  if (!context) throw new PhotoError('no canvas')
  // JPEG has no transparency, and would turn it black.
  context.fillStyle = '#ffffff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  return canvas
}

/** The first encoding that is small enough, or null. */
async function encoded(canvas: HTMLCanvasElement): Promise<Blob | null> {
  for (const quality of qualities) {
    const webp = await blobOf(canvas, 'image/webp', quality)
    // A browser that cannot write WebP answers with a PNG.
    const photo = webp?.type === 'image/webp' ? webp : await blobOf(canvas, 'image/jpeg', quality)
    if (photo && photo.size <= clientLimits.pictureBytesMax) return photo
  }
  return null
}

function blobOf(canvas: HTMLCanvasElement, type: string, quality: number): Promise<Blob | null> {
  return new Promise((resolve) => canvas.toBlob(resolve, type, quality))
}
