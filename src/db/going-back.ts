import type { Sql } from './sql.ts'

/** The key that stands for all of them in `session_cutoffs`. */
const everybody = new Uint8Array(32)

/** Settle what a step back in time would open again, in the transaction that goes back. Sessions end that began up to `endedAt` (Unix seconds). */
export async function goBack(sql: Sql, endedAt: number): Promise<void> {
  // Otherwise sessions that were ended after the backup would be valid again.
  await sql
    .query<null, [Uint8Array, number]>(
      `INSERT INTO session_cutoffs (pubkey, ended_at) VALUES (?1, ?2)
       ON CONFLICT (pubkey) DO UPDATE SET ended_at = excluded.ended_at
       WHERE session_cutoffs.ended_at < excluded.ended_at`,
    )
    .changes(everybody, endedAt)
  for (const text of [
    // Otherwise a setup code that was used after the backup would be valid again.
    'DELETE FROM setup_code',
    // Cards may have counted on after the backup. Those taps would pass again.
    'UPDATE cards SET counter_known = 0 WHERE deleted_at IS NULL',
    "INSERT INTO facts (name, value) VALUES ('restored', '1') ON CONFLICT (name) DO NOTHING",
  ]) {
    await sql.query<null, []>(text).changes()
  }
}
