import type { RowSweep } from '../db/jobs.ts'
import type { MerchantStore } from './merchant-store.ts'
import { dayOf } from './quota.ts'
import type { QuotaStore } from './quota-store.ts'

/** Expired guests, and the daily counts of past days. */
export const merchantSweep: RowSweep<{ merchants: MerchantStore; quotas: QuotaStore }> = {
  async prune({ merchants, quotas }, now) {
    await merchants.prune(now)
    await quotas.prune(dayOf(now))
    return false
  },
}
