import { limits } from '../base/limits.ts'
import type { Job, SweepParts } from '../db/jobs.ts'
import type { CouponStores } from './service.ts'
import { sweepKilled } from './void.ts'

/** Mark rows that the kill switch voided, and delete answers that nobody may ask for again. */
export function startCouponSweep({ jobs, database, now, failed }: SweepParts<CouponStores>): Job {
  return jobs.sweep({
    lease: 'coupons.sweep',
    failed,
    async step() {
      const marked = await sweepKilled({ database })
      const before = now() - limits.answerSeconds
      const answers = await database.transact({ roots: ['instance'] }, (tx) =>
        tx.answers.prune(limits.sweepRowsMax, before),
      )
      return marked || answers > 0
    },
  })
}
