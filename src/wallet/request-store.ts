import type { Database as Sqlite } from 'bun:sqlite'

export type RequestStore = ReturnType<typeof createRequestStore>

/** Request events that were granted, and what was answered; on one connection. */
export function createRequestStore(sql: Sqlite) {
  const find = sql.query<{ answer: Uint8Array | null }, [Uint8Array]>(
    'SELECT answer FROM requests WHERE event_id = ?',
  )
  const insert = sql.query<null, [Uint8Array, Uint8Array | null, number]>(
    'INSERT INTO requests (event_id, answer, accepted_until) VALUES (?, ?, ?)',
  )
  // Rows leave from the oldest on: between the two ends lie at most so many.
  const span = sql.query<{ rows: number }, []>(
    `SELECT ifnull((SELECT max(id) FROM requests) - (SELECT min(id) FROM requests) + 1, 0) AS rows`,
  )
  const prune = sql.query<null, [number, number]>(
    `DELETE FROM requests WHERE accepted_until < ?2
       AND id IN (SELECT id FROM requests ORDER BY id LIMIT ?1)`,
  )

  return {
    /** The answer kept for an event that came before (null: none is); null when it did not. */
    async find(eventId: string): Promise<{ answer: Uint8Array | null } | null> {
      return find.get(Buffer.from(eventId, 'hex'))
    },

    /** `acceptedUntil`: Unix seconds until which it could come again. */
    async insert(eventId: string, answer: Uint8Array | null, acceptedUntil: number): Promise<void> {
      insert.run(Buffer.from(eventId, 'hex'), answer, acceptedUntil)
    },

    /** How many rows there are at most. */
    async load(): Promise<number> {
      return span.get()?.rows ?? 0
    },

    /** Delete up to `rowsMax` of the oldest that nobody could send again; how many there were. */
    async prune(rowsMax: number, before: number): Promise<number> {
      return prune.run(rowsMax, before).changes
    },
  }
}
