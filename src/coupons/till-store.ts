import { bytesOf, hexOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'

/** A key that redeemed an owner's vouchers. `pubkey` in hex, null for all redemptions without a listed key. */
type Till = { rowId: number; pubkey: string | null; label: string | null }

/** Stands for redemptions without a listed key. The curve has no point there. */
const unlisted = new Uint8Array(32)

/** The part of the stores that counts redemptions by till. */
export function createTillStore(sql: Sql) {
  const till = '(SELECT id FROM tills WHERE owner = ?1 AND pubkey = ?2)'
  const count = { keys: { till_id: till, hour: '?3' }, by: { claimed: '1' } }
  const addToHour = sql.query<null, [Uint8Array, Uint8Array, number]>(
    sql.counters.addToExisting('till_hours', count),
  )
  // Without RETURNING, because SQLite would look at all redemptions for one that waits for this row.
  const insert = sql.query<null, [Uint8Array, Uint8Array]>(
    'INSERT INTO tills (owner, pubkey) VALUES (?, ?) ON CONFLICT (owner, pubkey) DO NOTHING',
  )
  const insertHour = sql.query<null, [Uint8Array, Uint8Array, number]>(
    sql.counters.add('till_hours', count),
  )
  // No index has this order. An owner has as many tills as minters, so that a sort is cheap.
  const list = sql.query<
    { id: number; pubkey: Uint8Array; label: string | null },
    [Uint8Array, number, number]
  >(
    `SELECT t.id, t.pubkey, m.label
     FROM tills t LEFT JOIN minters m ON m.owner = t.owner AND m.pubkey = t.pubkey
     WHERE t.owner = ? AND t.id < ? ORDER BY t.id DESC LIMIT ?`,
  )
  const listDays = sql.query<{ day: number; claimed: number }, [number, number, number, number]>(
    `SELECT (hour + ?4) / 24 AS day, CAST(sum(claimed) AS BIGINT) AS claimed
     FROM ${sql.counters.rows('till_hours')} WHERE till_id = ?1 AND hour >= ?2 AND hour < ?3 GROUP BY day ORDER BY day`,
  )

  return {
    /** Count a redemption for the till of a listed key, or for those without. */
    async count(owner: Uint8Array, pubkey: Uint8Array | null, hour: number): Promise<void> {
      const counted = [owner, pubkey ?? unlisted, hour] as const
      // One statement but for the first redemption of an hour.
      if (await addToHour.expectOne(...counted)) return
      insert.run(owner, pubkey ?? unlisted)
      insertHour.run(...counted)
    },

    /** Up to `most` tills of an owner with a row id below `before`, newest first. */
    async list(owner: string, before: number, most: number): Promise<Till[]> {
      return (await list.all(bytesOf(owner), before, most)).map(({ id, pubkey, label }) => {
        const hex = hexOf(pubkey)
        return { rowId: id, pubkey: hex === hexOf(unlisted) ? null : hex, label }
      })
    },

    /** Days with redemptions, from hour `from` up to before hour `to`, as the days of a coupon. */
    async days(rowId: number, hours: { from: number; to: number; offset: number }) {
      return await listDays.all(rowId, hours.from, hours.to, hours.offset)
    },
  }
}

export type TillStore = ReturnType<typeof createTillStore>
