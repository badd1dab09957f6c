import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** Where this service shows a coupon's picture: nobody else is asked for it. Null without one. */
export function couponPicture(image: string | null): string | null {
  return image === null ? null : `/api/coupons/images/${bytesToHex(sha256(utf8ToBytes(image)))}`
}
