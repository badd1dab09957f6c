import type { Static } from '@sinclair/typebox'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { Caller } from '../session/caller.ts'
import type { StatisticsAskedModel } from './models.ts'
import { cursorOf, parseCursor } from './page.ts'
import type { CouponService } from './service.ts'

type Asked = Static<typeof StatisticsAskedModel>

/** Hours since 1970, the unit of the counters. */
export function hourOf(seconds: number): number {
  return Math.floor(seconds / 3600)
}

/**
 * Counts of minted and redeemed vouchers, by coupon and day, newest coupon first. A page holds whole coupons.
 * A refresh counts as neither. Refuses `field-invalid`, `page-invalid`, `merchant-not-allowed`.
 */
export async function statistics(service: CouponService, caller: Caller, asked: Asked) {
  const offset = parseOffset(asked.offset)
  const today = Math.floor((hourOf(service.now()) + offset) / 24)
  const to = parseDay('to', asked.to) ?? today
  const from = parseDay('from', asked.from) ?? to - limits.statisticsDaysDefault + 1
  if (to < from || to - from >= limits.statisticsDaysMax) refuse('from')
  const before = asked.cursor === undefined ? null : parseCursor(asked.cursor)
  const hours = { from: from * 24 - offset, to: (to + 1) * 24 - offset, offset }
  return service.database.snapshot(async (tx) => {
    await service.requireMerchant(tx, caller)
    const coupons = []
    let rows = 0
    let next: string | null = null
    // A page ends after a whole coupon, so that a client can draw each coupon without the next page.
    const owned = await tx.statistics.listOwned(caller.pubkey, before ?? Number.MAX_SAFE_INTEGER)
    for (const [at, { rowId, couponId }] of owned.entries()) {
      const days = await tx.statistics.days(rowId, hours)
      if (days.length > 0) {
        const shown = days.map(({ day, ...counts }) => ({ day: dayText(day), ...counts }))
        coupons.push({ couponId, days: shown })
      }
      rows += days.length
      if (rows >= limits.statisticsRowsMax && at < owned.length - 1) {
        next = cursorOf(rowId)
        break
      }
    }
    return { from: dayText(from), to: dayText(to), offset, coupons, next }
  })
}

/** Read the offset: whole hours east of UTC, Argentina's if absent. */
function parseOffset(text: string | undefined): number {
  if (text === undefined) return argentina
  const hours = /^-?\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return hours >= -12 && hours <= 14 ? hours : refuse('offset')
}

const argentina = -3

/** Read a `YYYY-MM-DD` into days since 1970. Refuses days that no calendar has, such as 30 February. */
function parseDay(field: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const day = /^(20|21)\d\d-\d\d-\d\d$/.test(text)
    ? Date.parse(`${text}T00:00:00Z`) / 86_400_000
    : 0
  return day > 0 && dayText(day) === text ? day : refuse(field)
}

function dayText(day: number): string {
  return new Date(day * 86_400_000).toISOString().slice(0, 10)
}

function refuse(field: string): never {
  throw new Refusal('field-invalid', { field })
}
