import { limits } from '../base/limits.ts'
import { Refusal, type RefusalCode } from '../base/refusal.ts'
import type { Locking } from '../db/database.ts'
import type { Added, QuotaStore } from './quota-store.ts'
import type { Merchants } from './service.ts'

const daySeconds = 86_400

/** The day of a moment, in days since 1970 (UTC). */
export function dayOf(seconds: number): number {
  return Math.floor(seconds / daySeconds)
}

/**
 * Count the growth of a merchant against its day, in the transaction that adds it. Only where any key of the
 * world may be a merchant. Refuses `vouchers-day-full`, `bytes-day-full`, and `rate-limited` for refreshes.
 */
export async function charge(
  { metered, now }: Pick<Merchants, 'metered' | 'now'>,
  tx: { quotas: QuotaStore } & Locking,
  owner: string,
  added: Partial<Added>,
): Promise<void> {
  if (!metered()) return
  const { vouchers = 0, bytes = 0, refreshes = 0 } = added
  const day = dayOf(now())
  await tx.lock({ quota: owner })
  const before = await tx.quotas.find(day, owner)
  const full = (code: RefusalCode) => {
    return new Refusal(code, { retryAfter: (day + 1) * daySeconds - now() })
  }
  if (vouchers > 0 && before.vouchers + vouchers > limits.vouchersPerDayMax) {
    throw full('vouchers-day-full')
  }
  if (bytes > 0 && before.bytes + bytes > limits.merchantBytesPerDayMax) {
    throw full('bytes-day-full')
  }
  if (refreshes > 0 && before.refreshes + refreshes > limits.refreshesPerDayMax) {
    throw full('rate-limited')
  }
  await tx.quotas.add(day, owner, { vouchers, bytes, refreshes })
}
