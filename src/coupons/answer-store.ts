import type { Sql } from '../db/sql.ts'

/** A kept answer: the MAC of its request, its HTTP status, its sealed body. */
type KeptAnswer = { request: Uint8Array; status: number; sealed: Uint8Array }

export type AnswerStore = ReturnType<typeof createAnswerStore>

/** Store of the answers that are kept for an Idempotency-Key. */
export function createAnswerStore(sql: Sql) {
  const find = sql.query<KeptAnswer, [Uint8Array]>(
    'SELECT request, status, sealed FROM answers WHERE slot = ?',
  )
  const insert = sql.query<null, [Uint8Array, Uint8Array, number, Uint8Array, number]>(
    'INSERT INTO answers (slot, request, status, sealed, created_at) VALUES (?, ?, ?, ?, ?)',
  )
  // Rows are in the order of their time, so the oldest ones are found without an index on it.
  const prune = sql.query<null, [number, number]>(
    `DELETE FROM answers WHERE created_at < ?2
       AND id IN (SELECT id FROM answers ORDER BY id LIMIT ?1)`,
  )

  return {
    async find(slot: Uint8Array): Promise<KeptAnswer | null> {
      return await find.get(slot)
    },

    async insert(slot: Uint8Array, answer: KeptAnswer, now: number): Promise<void> {
      insert.run(slot, answer.request, answer.status, answer.sealed, now)
    },

    /** Delete up to `rowsMax` of the oldest answers, if older than `before` (Unix seconds). Returns their number. */
    async prune(rowsMax: number, before: number): Promise<number> {
      return await prune.changes(rowsMax, before)
    },
  }
}
