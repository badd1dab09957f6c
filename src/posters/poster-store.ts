import { bytesOf, hexOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'
import type { NewPoster, Poster } from './poster.ts'

type PosterRow = {
  id: number
  uuid: string
  coupon: string
  owner: Uint8Array
  label: string | null
  per_person: number
  per_day: number | null
  total: number | null
  time_zone: string
  starts_at: number | null
  ends_at: number | null
  paused: number
  taken: number
  taken_day: number
  taken_that_day: number
  created_at: number
  updated_at: number
  deleted_at: number | null
}

const columns = `
  p.id, p.uuid, d.uuid AS coupon, p.owner, p.label, p.per_person, p.per_day, p.total, p.time_zone,
  p.starts_at, p.ends_at, p.paused, p.taken, p.taken_day, p.taken_that_day, p.created_at,
  p.updated_at, p.deleted_at
  FROM posters p JOIN definitions d ON d.id = p.definition_id`

type Named = { id: string; definitionRowId: number; owner: string }
type Taking = { taker: string; day: number; now: number }
type Kept = { slot: Uint8Array; sealed: Uint8Array; taker: string; day: number }

export type PosterStore = ReturnType<typeof createPosterStore>

/** Store of posters and of the vouchers that were taken from them. */
export function createPosterStore(sql: Sql) {
  const find = sql.query<PosterRow, [string]>(`SELECT ${columns} WHERE p.uuid = ?`)
  const list = sql.query<PosterRow, [Uint8Array]>(
    `SELECT ${columns} WHERE p.owner = ? AND p.deleted_at IS NULL ORDER BY p.id DESC`,
  )
  const count = sql.query<{ n: number }, [Uint8Array]>(
    'SELECT count(*) AS n FROM posters WHERE owner = ? AND deleted_at IS NULL',
  )
  const insert = sql.query<
    null,
    [
      ...[string, number, Uint8Array, string | null, number, number | null, number | null, string],
      ...[number | null, number | null, number, number],
    ]
  >(
    `INSERT INTO posters (uuid, definition_id, owner, label, per_person, per_day, total, time_zone,
       starts_at, ends_at, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const update = sql.query<
    null,
    [
      ...[string | null, number, number | null, number | null, number | null, number | null],
      ...[number, number, number | null, number],
    ]
  >(
    `UPDATE posters SET label = ?, per_person = ?, per_day = ?, total = ?, starts_at = ?, ends_at = ?,
       paused = ?, updated_at = ?, deleted_at = ? WHERE id = ?`,
  )
  const remove = sql.query<null, [number]>('DELETE FROM posters WHERE id = ?')
  // The guarded write of a take. It counts only within every limit, whatever was read before.
  const countTake = sql.query<null, [number, number, number, Uint8Array]>(
    `UPDATE posters SET taken = taken + 1, taken_day = ?2,
       taken_that_day = CASE WHEN taken_day = ?2 THEN taken_that_day + 1 ELSE 1 END
     WHERE id = ?1 AND deleted_at IS NULL AND paused = 0
       AND (starts_at IS NULL OR starts_at <= ?3) AND (ends_at IS NULL OR ends_at > ?3)
       AND (total IS NULL OR taken < total)
       AND (per_day IS NULL OR taken_day <> ?2 OR taken_that_day < per_day)
       AND (SELECT count(*) FROM poster_takes x WHERE x.poster_id = ?1 AND x.taker = ?4) < per_person`,
  )
  const countOf = sql.query<{ n: number }, [number, Uint8Array]>(
    'SELECT count(*) AS n FROM poster_takes WHERE poster_id = ? AND taker = ?',
  )
  // VALUES with a subquery: SQLite keeps a journal for a statement that may insert many rows.
  const insertTake = sql.query<
    null,
    [Uint8Array, number, Uint8Array, number, Uint8Array, Uint8Array]
  >(
    `INSERT INTO poster_takes (id, poster_id, taker, day, slot, sealed)
     VALUES ((SELECT id FROM vouchers WHERE handle = ?), ?, ?, ?, ?, ?)`,
  )
  const findTake = sql.query<{ sealed: Uint8Array }, [Uint8Array]>(
    'SELECT sealed FROM poster_takes WHERE slot = ?',
  )

  return {
    /** A poster, also a deleted one. */
    async find(id: string): Promise<Poster | null> {
      const row = await find.get(id)
      return row && toPoster(row)
    },

    /** The posters of an owner that are not deleted, newest first. */
    async list(owner: string): Promise<Poster[]> {
      return (await list.all(bytesOf(owner))).map(toPoster)
    },

    /** Their number. */
    async count(owner: string): Promise<number> {
      return (await count.get(bytesOf(owner)))?.n ?? 0
    },

    insert({ id, definitionRowId, owner }: Named, input: NewPoster, now: number): void {
      const { label, perPerson, perDay, total, timeZone, startsAt, endsAt } = input
      const chosen = [label, perPerson, perDay, total, timeZone, startsAt, endsAt] as const
      insert.run(id, definitionRowId, bytesOf(owner), ...chosen, now, now)
    },

    /** Write the fields that a merchant changes. Counters stay. */
    update(edited: Poster): void {
      const { label, perPerson, perDay, total, startsAt, endsAt, updatedAt, deletedAt } = edited
      const limited = [label, perPerson, perDay, total, startsAt, endsAt] as const
      update.run(...limited, edited.paused ? 1 : 0, updatedAt, deletedAt, edited.rowId)
    },

    /** Delete a poster from which nothing was taken. */
    delete(rowId: number): void {
      remove.run(rowId)
    },

    /**
     * Count a take on a day (`dayOfTake`). False if a limit of the poster is reached. The UPDATE decides, so that
     * parallel requests never pass a limit together.
     */
    async countTake(rowId: number, { taker, day, now }: Taking): Promise<boolean> {
      return (await countTake.changes(rowId, day, now, bytesOf(taker))) === 1
    },

    /** Vouchers that a key has taken from a poster. */
    async countOf(rowId: number, taker: string): Promise<number> {
      return (await countOf.get(rowId, bytesOf(taker)))?.n ?? 0
    },

    /** File the voucher of a counted take, with its sealed answer. */
    fileTake(rowId: number, handle: Uint8Array, { slot, sealed, taker, day }: Kept): void {
      insertTake.run(handle, rowId, bytesOf(taker), day, slot, sealed)
    },

    /** The sealed answer of a take, or null. */
    async findTake(slot: Uint8Array): Promise<Uint8Array | null> {
      return (await findTake.get(slot))?.sealed ?? null
    },
  }
}

function toPoster(row: PosterRow): Poster {
  return {
    rowId: row.id,
    id: row.uuid,
    couponId: row.coupon,
    owner: hexOf(row.owner),
    label: row.label,
    perPerson: row.per_person,
    perDay: row.per_day,
    total: row.total,
    timeZone: row.time_zone,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    paused: row.paused === 1,
    taken: row.taken,
    takenDay: row.taken_day,
    takenThatDay: row.taken_that_day,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at,
  }
}
