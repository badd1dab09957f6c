import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { request } from './api.ts'
import { ApiError } from './api-error.ts'

/** The path under which this service shows the picture of a coupon, so that no page asks a stranger for it. */
export function imagePath(image: string | null): string | null {
  return image === null ? null : `/api/coupons/images/${bytesToHex(sha256(utf8ToBytes(image)))}`
}

/** Whether the service says that it cannot have the picture of that address; a lost answer says nothing. */
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
