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

type Charging = Pick<Merchants, 'metered' | 'now'>
type ChargeStores = { quotas: QuotaStore } & Locking

/**
 * Count the growth of a merchant against its day, in the transaction that adds it. Only where any key of the
 * world may be a merchant. Refuses `vouchers-day-full`, `bytes-day-full`, and `rate-limited` for refreshes.
 */
export function charge(
  merchants: Charging,
  tx: ChargeStores,
  owner: string,
  added: Partial<Added>,
): Promise<void> {
  const codes = { vouchers: 'vouchers-day-full', bytes: 'bytes-day-full' } as const
  return count(merchants, tx, { owner, added, share: 1, codes })
}

/**
 * Count what strangers take from the posters of a merchant. They get half of its day, so that the merchant can mint
 * whatever they do. Refuses `poster-today`.
 */
export function chargeTake(
  merchants: Charging,
  tx: ChargeStores,
  owner: string,
  added: Partial<Added>,
): Promise<void> {
  const codes = { vouchers: 'poster-today', bytes: 'poster-today' } as const
  return count(merchants, tx, { owner, added, share: limits.posterShareOfDay, codes })
}

type Count = {
  owner: string
  added: Partial<Added>
  /** The part of the quota that is to be had. */
  share: number
  codes: { vouchers: RefusalCode; bytes: RefusalCode }
}

async function count(
  { metered, now }: Charging,
  tx: ChargeStores,
  { owner, added, share, codes }: Count,
): Promise<void> {
  if (!metered()) return
  const { vouchers = 0, bytes = 0, refreshes = 0 } = added
  const day = dayOf(now())
  await tx.lock({ quota: owner })
  const before = await tx.quotas.find(day, owner)
  const full = (code: RefusalCode) => {
    return new Refusal(code, { retryAfter: (day + 1) * daySeconds - now() })
  }
  if (vouchers > 0 && before.vouchers + vouchers > limits.vouchersPerDayMax * share) {
    throw full(codes.vouchers)
  }
  if (bytes > 0 && before.bytes + bytes > limits.merchantBytesPerDayMax * share) {
    throw full(codes.bytes)
  }
  if (refreshes > 0 && before.refreshes + refreshes > limits.refreshesPerDayMax) {
    throw full('rate-limited')
  }
  await tx.quotas.add(day, owner, { vouchers, bytes, refreshes })
}
