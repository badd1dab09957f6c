import { createLive, type Live } from '../coupons/live.ts'
import { couponChanged, couponsKilled } from '../coupons/news.ts'
import { createNonce } from '../coupons/nonce.ts'
import type { CouponService } from '../coupons/service.ts'
import { createVoucherLimits, noVoucherLimits } from '../coupons/voucher-limits.ts'
import { startKillSweep } from '../coupons/worker.ts'
import { merchantRemoved } from '../merchants/service.ts'
import type { FetchPublic } from '../outbound/fetch-public.ts'
import type { RunningGateway } from './gateway.ts'
import type { Management } from './management.ts'
import { pictureAddresses } from './origins.ts'
import { createImages, createNameResolver } from './outbound.ts'
import type { Runtime } from './runtime.ts'

type CouponParts = {
  management: Management
  gateway: RunningGateway
  fetchPublic: FetchPublic
}

export type RunningCoupons = {
  service: CouponService
  live: Live
  images: ReturnType<typeof createImages>
  stop(): Promise<void>
}

/** Put together the coupon service, its live stream and its sweep. */
export function startCoupons(runtime: Runtime, parts: CouponParts): RunningCoupons {
  const { config, database, jobs, keys, log, now, requireDisk, signer, steady, verify } = runtime
  const { management, gateway, fetchPublic } = parts
  const live = createLive({
    ...{ now, jobs },
    failed: (cause) => log.error('live.failed', { cause }),
  })
  management.onExposed(() => live.hangUp())
  const pictures = pictureAddresses(config)
  const sweep = startKillSweep({
    ...{ jobs, database },
    failed: (cause) => log.warn('housekeeping.failed', { cause }),
  })
  // Windows whose stream ends open another one, and read anew. One `missed` ends all of them.
  database.listen(merchantRemoved, { told: live.hangUp, missed: () => undefined })
  database.listen(couponChanged, { told: live.changed, missed: () => live.hangUp() })
  database.listen(couponsKilled, { told: sweep.wake, missed: sweep.wake })
  const service: CouponService = {
    ...{ database, now, signer, verify, requireDisk },
    ...pictures,
    newNonce: createNonce,
    newId: () => Bun.randomUUIDv7(),
    storeKey: keys.storeKey,
    requireMerchant: management.require,
    charge: management.charge,
    resolveName: createNameResolver(fetchPublic),
    broadcast: gateway.broadcast,
    recall: gateway.recall,
    ...(config.rateLimit
      ? createVoucherLimits(() => steady() / 1000, database.buckets)
      : noVoucherLimits),
  }
  const images = createImages(runtime, fetchPublic, pictures)
  return { service, live, images, stop: sweep.stop }
}
