import type { Static } from '@sinclair/typebox'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { npubOf } from '../nostr/keys.ts'
import type { Caller } from '../session/caller.ts'
import type { StatisticsAskedModel } from './list-models.ts'
import { cursorOf, parseCursor } from './page.ts'
import type { CouponService } from './service.ts'

type Asked = Static<typeof StatisticsAskedModel>

/** Hours since 1970, the unit of the counters. */
export function hourOf(seconds: number): number {
  return Math.floor(seconds / 3600)
}

/**
 * The figures of each coupon as they are now, and its vouchers minted and redeemed by day, newest coupon first.
 * A page holds whole coupons. A refresh changes no figure. Refuses `field-invalid`, `page-invalid`, `merchant-not-allowed`.
 */
export async function statistics(service: CouponService, caller: Caller, asked: Asked) {
  const { hours, before, ...range } = parseRange(service, asked)
  return service.database.snapshot(async (tx) => {
    await service.requireMerchant(tx, caller)
    const owned = await tx.statistics.listOwned(caller.pubkey, before)
    const { found, next } = await pageOfDays(owned, ({ rowId }) => tx.statistics.days(rowId, hours))
    const now = service.now()
    const coupons = []
    for (const { of, days } of found) {
      const figures = figuresOf(of, await tx.statistics.expired(of.rowId, now))
      coupons.push({ couponId: of.couponId, figures, days })
    }
    return { ...range, coupons, next }
  })
}

/**
 * Counts of redeemed vouchers by till and day, newest till first. Redemptions without the key of the owner or
 * of a minter are one till without a key. Refuses as `statistics`.
 */
export async function tillStatistics(service: CouponService, caller: Caller, asked: Asked) {
  const { hours, before, ...range } = parseRange(service, asked)
  return service.database.snapshot(async (tx) => {
    await service.requireMerchant(tx, caller)
    const listed = await tx.tills.list(caller.pubkey, before, limits.statisticsRowsMax)
    const page = await pageOfDays(listed, ({ rowId }) => tx.tills.days(rowId, hours))
    const last = listed.length === limits.statisticsRowsMax ? listed.at(-1) : undefined
    const shown = page.found.filter(({ days }) => days.length > 0)
    const tills = shown.map(({ of: { pubkey, label }, days }) => {
      return { pubkey, npub: pubkey && npubOf(pubkey), label, days }
    })
    return { ...range, tills, next: page.next ?? (last ? cursorOf(last.rowId) : null) }
  })
}

/** The five figures of a coupon. Each of its vouchers counts in one of the last four. */
function figuresOf(
  { issued, claimed, voided }: { issued: number; claimed: number; voided: number },
  expired: number,
) {
  return { issued, open: issued - expired - claimed - voided, expired, claimed, voided }
}

function parseRange(service: CouponService, asked: Asked) {
  const offset = parseOffset(asked.offset)
  const today = Math.floor((hourOf(service.now()) + offset) / 24)
  const to = parseDay('to', asked.to) ?? today
  const from = parseDay('from', asked.from) ?? to - limits.statisticsDaysDefault + 1
  if (to < from || to - from >= limits.statisticsDaysMax) refuse('from')
  return {
    ...{ from: dayText(from), to: dayText(to), offset },
    hours: { from: from * 24 - offset, to: (to + 1) * 24 - offset, offset },
    before: asked.cursor === undefined ? Number.MAX_SAFE_INTEGER : parseCursor(asked.cursor),
  }
}

/** Days of one row after the other. A page ends after a whole row, so that a client can draw it without the next page. */
async function pageOfDays<Row extends { rowId: number }, Counts extends object>(
  rows: readonly Row[],
  daysOf: (row: Row) => Promise<({ day: number } & Counts)[]>,
) {
  const found: { of: Row; days: ({ day: string } & Omit<Counts, 'day'>)[] }[] = []
  let counted = 0
  for (const [at, of] of rows.entries()) {
    const days = await daysOf(of)
    found.push({ of, days: days.map(({ day, ...counts }) => ({ day: dayText(day), ...counts })) })
    counted += Math.max(days.length, 1)
    if (counted >= limits.statisticsRowsMax && at < rows.length - 1) {
      return { found, next: cursorOf(of.rowId) }
    }
  }
  return { found, next: null }
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
