import { join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { PictureAddresses } from '../coupons/definition-picture.ts'
import { createImageFinder, type Images } from '../coupons/image.ts'
import { openImageFiles } from '../coupons/image-files.ts'
import type { CouponService } from '../coupons/service.ts'
import { type FetchPublic, OutboundError } from '../outbound/fetch-public.ts'
import { createImageFetcher } from '../outbound/image.ts'
import { createNip05Resolver } from '../outbound/nip05.ts'
import type { Runtime } from './runtime.ts'

/** Create the NIP-05 resolver on the guarded outgoing requests. */
export function createNameResolver(fetchPublic: FetchPublic): CouponService['resolveName'] {
  return orOverloaded(createNip05Resolver(fetchPublic))
}

/** Create the finder of pictures. They are cached in a directory of their own. */
export function createImages(
  { config, database, requireDisk }: Pick<Runtime, 'config' | 'database' | 'requireDisk'>,
  fetchPublic: FetchPublic,
  { pictureAt }: PictureAddresses,
) {
  const fetchImage = orOverloaded(createImageFetcher(fetchPublic))
  const load: Images['load'] = async (url, whose) => {
    // An uploaded picture is not fetched over the network: this service may not reach its own address.
    const picture = pictureAt(url)
    if (picture === null) return fetchImage(url, whose)
    return (await database.snapshot((tx) => tx.pictures.find(picture)))?.bytes ?? null
  }
  return createImageFinder({
    database,
    requireDisk,
    load,
    files: openImageFiles(join(config.dataDir, 'images'), limits.imagesBytesMax),
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
