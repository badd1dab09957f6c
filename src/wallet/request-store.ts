import { bytesOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'

export type RequestStore = ReturnType<typeof createRequestStore>

/** Request events that were granted, with their answers; on one connection. */
export function createRequestStore(sql: Sql) {
  const find = sql.query<{ answer: Uint8Array | null }, [Uint8Array]>(
    'SELECT answer FROM requests WHERE event_id = ?',
  )
  const insert = sql.query<null, [Uint8Array, Uint8Array | null, number]>(
    'INSERT INTO requests (event_id, answer, accepted_until) VALUES (?, ?, ?)',
  )
  const load = sql.query<{ rows: number }, []>(
    `SELECT CAST(coalesce(sum(rows), 0) AS BIGINT) AS rows
     FROM ${sql.counters.rows('request_load')} WHERE id = 1`,
  )
  const addLoad = sql.query<null, [number]>(
    sql.counters.addToExisting('request_load', { keys: { id: '1' }, by: { rows: '?1' } }),
  )
  const prune = sql.query<null, [number, number]>(
    `DELETE FROM requests WHERE accepted_until < ?2
       AND id IN (SELECT id FROM requests ORDER BY id LIMIT ?1)`,
  )

  return {
    /** An event that came before, with its stored answer or null; null when it is new. */
    async find(eventId: string): Promise<{ answer: Uint8Array | null } | null> {
      return await find.get(bytesOf(eventId))
    },

    /** `acceptedUntil`: Unix seconds until which a repeat would be accepted. */
    async insert(eventId: string, answer: Uint8Array | null, acceptedUntil: number): Promise<void> {
      insert.run(bytesOf(eventId), answer, acceptedUntil)
      addLoad.run(1)
    },

    /** The number of events that are stored. */
    async load(): Promise<number> {
      return (await load.get())?.rows ?? 0
    },

    /** Delete up to `rowsMax` of the oldest whose repeat is too old; the result is their number. */
    async prune(rowsMax: number, before: number): Promise<number> {
      const pruned = await prune.changes(rowsMax, before)
      if (pruned > 0) addLoad.run(-pruned)
      return pruned
    },
  }
}
