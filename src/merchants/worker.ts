import type { Job, SweepParts } from '../db/jobs.ts'
import type { MerchantStore } from './merchant-store.ts'
import { dayOf } from './quota.ts'
import type { QuotaStore } from './quota-store.ts'

type QuotaStores = { merchants: MerchantStore; quotas: QuotaStore }

/** Delete expired guests and the daily counts of past days. */
export function startMerchantSweep({ jobs, database, now, failed }: SweepParts<QuotaStores>): Job {
  return jobs.sweep({
    lease: 'merchants.sweep',
    failed,
    step: () =>
      database.transact({ roots: ['instance'] }, async (tx) => {
        await tx.merchants.prune(now())
        await tx.quotas.prune(dayOf(now()))
        return false
      }),
  })
}
