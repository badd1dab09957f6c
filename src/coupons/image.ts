import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { Database } from '../db/database.ts'
import type { ImageFiles, StoredImage } from './image-files.ts'
import { imageKind } from './image-type.ts'
import type { CouponStores } from './service.ts'

/** Dependencies of the picture route. */
export type Images = {
  database: Database<Pick<CouponStores, 'images'>>
  files: ImageFiles
  /** Fetch the bytes at a URL. Null if it fails. Refuses `overloaded` when too many calls are open. */
  load: (url: string, whose: { merchant: string; address: string }) => Promise<Uint8Array | null>
  now: Clock
  /** Refuses `disk-low`. */
  requireDisk: () => void
}

const hex32 = /^[0-9a-f]{64}$/

/**
 * Create the search for a coupon's picture by the sha256 of its URL. A picture is fetched once, and only if
 * a definition or voucher names it; else strangers could make this service call any URL. `address` is the
 * client's. The search refuses `image-unknown`, `disk-low`, `image-unavailable`, `overloaded`.
 */
export function createImageFinder({ database, files, load, now, requireDisk }: Images) {
  /** Fetches under way. Requests for the same picture share one. */
  const coming = new Map<string, Promise<StoredImage>>()
  /** Failed fetches, with the time (Unix seconds) of the next try. The oldest is forgotten first. */
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
    // Cached pictures are served on a full disk, too. New ones are not fetched.
    requireDisk()
    const wait = (failed.get(hash) ?? 0) - now()
    if (wait > 0) throw new Refusal('image-unavailable', { retryAfter: wait })
    failed.delete(hash)
    const pending = coming.get(hash) ?? get(hash, named, address).finally(() => coming.delete(hash))
    coming.set(hash, pending)
    return pending
  }
}
