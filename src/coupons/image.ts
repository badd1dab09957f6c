import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { Database } from '../db/database.ts'
import type { ImageFiles, StoredImage } from './image-files.ts'
import { imageKind } from './image-type.ts'
import type { CouponStores } from './service.ts'

/** What pictures need. */
export type Images = {
  database: Database<Pick<CouponStores, 'images'>>
  files: ImageFiles
  /** The bytes at an address, null when it cannot be had; refuses `overloaded`. */
  load: (url: string, whose: { merchant: string; address: string }) => Promise<Uint8Array | null>
  now: Clock
  /** Refuses `disk-low`. */
  requireDisk: () => void
}

const hex32 = /^[0-9a-f]{64}$/

/**
 * The picture of a coupon, by sha256 of its address: fetched once, and only when a definition or a
 * voucher names it; `address` is the client's. Refuses `image-unknown`, `image-unavailable`,
 * `disk-low`, `overloaded`.
 */
export function createImageFinder({ database, files, load, now, requireDisk }: Images) {
  /** Those on their way, so that a crowd asks once. */
  const coming = new Map<string, Promise<StoredImage>>()
  /** Until when a failure is not tried again; the oldest is forgotten first. */
  const failed = new Map<string, number>()

  const get = async (
    hash: string,
    { url, owner: merchant }: { url: string; owner: string },
    address: string,
  ): Promise<StoredImage> => {
    const bytes = await load(url, { merchant, address })
    const kind = bytes && imageKind(bytes)
    if (bytes && kind) return files.put(hash, kind, bytes)
    const [oldest] = failed.keys()
    if (failed.size >= limits.imageFailuresMax && oldest !== undefined) failed.delete(oldest)
    failed.set(hash, now() + limits.imageFailureSeconds)
    throw new Refusal('image-unavailable', { retryAfter: limits.imageFailureSeconds })
  }

  return async (hash: string, address: string): Promise<StoredImage> => {
    const named = hex32.test(hash) ? await database.snapshot((tx) => tx.images.find(hash)) : null
    if (!named) throw new Refusal('image-unknown')
    const stored = files.find(hash)
    if (stored) return stored
    requireDisk()
    const wait = (failed.get(hash) ?? 0) - now()
    if (wait > 0) throw new Refusal('image-unavailable', { retryAfter: wait })
    failed.delete(hash)
    const pending = coming.get(hash) ?? get(hash, named, address).finally(() => coming.delete(hash))
    coming.set(hash, pending)
    return pending
  }
}
