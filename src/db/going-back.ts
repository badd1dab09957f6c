import { limits } from '../base/limits.ts'
import type { Sql } from './sql.ts'

/** The key that stands for all of them in `session_cutoffs`. */
const everybody = new Uint8Array(32)

/** Settle what a step back in time would open again, in the transaction that goes back. `now` is Unix seconds. */
export async function goBack(sql: Sql, now: number): Promise<void> {
  // Otherwise sessions that were ended after the backup would be valid again. The clock of a node that ended them may have been
  // ahead of ours, and each end reaches as far ahead again.
  await sql
    .query<null, [Uint8Array, number]>(
      `INSERT INTO session_cutoffs (pubkey, ended_at) VALUES (?1, ?2)
       ON CONFLICT (pubkey) DO UPDATE SET ended_at = excluded.ended_at
       WHERE session_cutoffs.ended_at < excluded.ended_at`,
    )
    .changes(everybody, now + 4 * limits.clockBackSeconds)
  for (const text of [
    // A session that followed an end began a second after it, by whatever clock.
    'UPDATE session_cutoffs SET ended_at = ended_at + 1',
    // Otherwise a setup code that was used after the backup would be valid again.
    'DELETE FROM setup_code',
    // Cards may have counted on after the backup. Those taps would pass again.
    'UPDATE cards SET counter_known = 0 WHERE deleted_at IS NULL',
    "INSERT INTO facts (name, value) VALUES ('restored', '1') ON CONFLICT (name) DO NOTHING",
  ]) {
    await sql.query<null, []>(text).changes()
  }
}
