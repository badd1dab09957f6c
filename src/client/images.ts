import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { isPictureHash, picturePath } from '../pictures/address.ts'
import { requestFile } from './api.ts'
import { ApiError } from './api-error.ts'

/** Path of what a coupon shows: its uploaded picture, or the image at its address. */
export function shownPath({ image, picture }: { image: string | null; picture?: string }) {
  return picture === undefined ? imagePath(image) : picturePath(picture, null)
}

/** The uploaded picture in an answer or in a stored coupon. Empty where there is none. */
export function pictureIn({ picture }: { picture?: unknown }): { picture?: string } {
  return isPictureHash(picture) ? { picture } : {}
}

/** Path of a coupon's picture at this service. Pages load it from here, so no other server learns of them. */
function imagePath(image: string | null): string | null {
  return image === null ? null : `/api/coupons/images/${bytesToHex(sha256(utf8ToBytes(image)))}`
}

/** Whether the service could not fetch the picture of that address. A lost answer is no proof of it. */
export async function isUnavailable(image: string | null): Promise<boolean> {
  const path = imagePath(image)
  if (path === null) return false
  try {
    await requestFile(path)
    return false
  } catch (cause) {
    return cause instanceof ApiError && cause.code === 'image-unavailable'
  }
}
