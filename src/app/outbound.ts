import { join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { createImageFinder, type Images } from '../coupons/image.ts'
import { openImageFiles } from '../coupons/image-files.ts'
import type { CouponService } from '../coupons/service.ts'
import { type FetchPublic, OutboundError } from '../outbound/fetch-public.ts'
import { createImageFetcher } from '../outbound/image.ts'
import { createNip05Resolver } from '../outbound/nip05.ts'

/** Create the NIP-05 resolver on the guarded outgoing requests. */
export function createNameResolver(fetchPublic: FetchPublic): CouponService['resolveName'] {
  return orOverloaded(createNip05Resolver(fetchPublic))
}

/** Create the finder of pictures. They are cached in a directory of their own. */
export function createImages(
  database: Images['database'],
  dataDir: string,
  fetchPublic: FetchPublic,
  requireDisk: () => void,
) {
  return createImageFinder({
    database,
    requireDisk,
    files: openImageFiles(join(dataDir, 'images'), limits.imagesBytesMax),
    load: orOverloaded(createImageFetcher(fetchPublic)),
    now: systemClock,
  })
}

/** Turn the failure for too many outgoing requests into the refusal `overloaded`. */
export function orOverloaded<Args extends unknown[], T>(ask: (...args: Args) => Promise<T>) {
  return async (...args: Args): Promise<T> => {
    try {
      return await ask(...args)
    } catch (cause) {
      if (cause instanceof OutboundError) throw new Refusal('overloaded', { retryAfter: 5 })
      throw cause
    }
  }
}
