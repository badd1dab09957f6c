import type { CouponService } from '../coupons/service.ts'
import type { PosterService } from '../posters/service.ts'
import { createTakeLimit, noTakeLimit } from '../posters/take-limit.ts'
import type { Management } from './management.ts'
import type { Runtime } from './runtime.ts'

/** Put together the poster service. */
export function createPosters(
  { config, database, steady }: Runtime,
  coupons: CouponService,
  { chargeTake }: Pick<Management, 'chargeTake'>,
): PosterService {
  const countTake = config.rateLimit ? createTakeLimit(() => steady() / 1000) : noTakeLimit
  return { database, coupons, chargeTake, countTake }
}
