import type { CouponService, CouponStores } from '../coupons/service.ts'
import type { Database } from '../db/database.ts'
import type { PosterStore } from './poster-store.ts'

/** The stores that an operation of this folder reads and writes. */
export type PosterStores = CouponStores & { posters: PosterStore }

/** Dependencies of the operations of this folder. */
export type PosterService = {
  database: Database<PosterStores>
  /** Mints the vouchers, and knows who may manage. */
  coupons: CouponService
  /** Counts a take against the day of the merchant, if the service has quotas. Refuses `poster-today`. */
  chargeTake: CouponService['charge']
  /** Count a take of an address at a poster. Refuses `rate-limited`. */
  countTake: (posterId: string, address: string) => void
}
