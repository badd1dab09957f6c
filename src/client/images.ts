import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { request } from './api.ts'
import { ApiError } from './api-error.ts'

/** Path of a coupon's picture at this service. Pages load it from here, so no other server learns of them. */
export function imagePath(image: string | null): string | null {
  return image === null ? null : `/api/coupons/images/${bytesToHex(sha256(utf8ToBytes(image)))}`
}

/** Whether the service could not fetch the picture of that address. A lost answer is no proof of it. */
export async function isUnavailable(image: string | null): Promise<boolean> {
  const path = imagePath(image)
  if (path === null) return false
  try {
    await request(path)
    return false
  } catch (cause) {
    return cause instanceof ApiError && cause.code === 'image-unavailable'
  }
}
