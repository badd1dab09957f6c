import { limits } from '../base/limits.ts'
import type { Job, SweepParts } from '../db/jobs.ts'
import type { CouponStores } from './service.ts'
import { sweepKilled } from './void.ts'

/**
 * Start the sweep of this folder: it marks rows that the kill switch voided, and deletes kept answers after
 * `answerSeconds`. It works in small steps, so that requests get their turn.
 */
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
