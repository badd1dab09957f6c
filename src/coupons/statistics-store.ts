import { bytesOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'

/** Counters of a coupon on one day. `day` is days since 1970. */
type DayRow = { day: number; minted: number; claimed: number }

export type StatisticsStore = ReturnType<typeof createStatisticsStore>

/** Store of the hourly counters, read as days. */
export function createStatisticsStore(sql: Sql) {
  const { counters } = sql
  const listOwned = sql.query<
    { id: number; uuid: string; issued: number; claimed: number; voided: number },
    [Uint8Array, number]
  >(
    `SELECT d.id, d.uuid, ${counters.number('definitions', 'issued', 'd')} AS issued,
       ${counters.number('definitions', 'claimed', 'd')} AS claimed,
       ${counters.number('definitions', 'voided', 'd')} AS voided FROM definitions d
     WHERE d.owner = ? AND d.id < ? ORDER BY d.id DESC`,
  )
  const countExpired = sql.query<{ expired: number }, [number, number]>(
    `SELECT CAST(coalesce(sum(open), 0) AS BIGINT) AS expired FROM ${counters.rows('expiries')}
     WHERE definition_id = ? AND expires_at <= ?`,
  )
  // Counters are hourly, so that a day can begin at any offset from UTC.
  const listDays = sql.query<DayRow, [number, number, number, number]>(
    `SELECT (hour + ?4) / 24 AS day, CAST(sum(minted) AS BIGINT) AS minted,
       CAST(sum(claimed) AS BIGINT) AS claimed
     FROM ${counters.rows('hourly')} WHERE definition_id = ?1 AND hour >= ?2 AND hour < ?3 GROUP BY day ORDER BY day`,
  )

  return {
    /** Definitions of an owner with a row id below `before`, newest first. */
    async listOwned(owner: string, before: number) {
      const rows = await listOwned.all(bytesOf(owner), before)
      return rows.map(({ id, uuid, ...counted }) => ({ rowId: id, couponId: uuid, ...counted }))
    },

    /** Vouchers of a definition that expired at `now` or before, and were neither claimed nor voided. */
    async expired(rowId: number, now: number): Promise<number> {
      return (await countExpired.get(rowId, now))?.expired ?? 0
    },

    /** Days with counts, from hour `from` up to before hour `to`. A day begins `offset` hours before the UTC day. */
    async days(rowId: number, hours: { from: number; to: number; offset: number }) {
      return await listDays.all(rowId, hours.from, hours.to, hours.offset)
    },
  }
}
