import { bytesOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'

export type ProofStore = ReturnType<typeof createProofStore>

/** The replay guard of NIP-98: the ids of used events. On one connection. */
export function createProofStore(sql: Sql) {
  const insert = sql.query<null, [Uint8Array, number]>(
    'INSERT INTO proofs (event_id, accepted_until) VALUES (?, ?) ON CONFLICT (event_id) DO NOTHING',
  )
  const prune = sql.query<null, [number, number]>(
    `DELETE FROM proofs WHERE accepted_until < ?2
       AND id IN (SELECT id FROM proofs ORDER BY id LIMIT ?1)`,
  )

  return {
    /** Use up an event. False if it was used before. `acceptedUntil` is in Unix seconds. */
    async use(eventId: string, acceptedUntil: number): Promise<boolean> {
      return (await insert.changes(bytesOf(eventId), acceptedUntil)) === 1
    },

    /** Delete up to `rowsMax` of the oldest ids whose events are no longer accepted. Returns their number. */
    async prune(rowsMax: number, before: number): Promise<number> {
      return await prune.changes(rowsMax, before)
    },
  }
}
