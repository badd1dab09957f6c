import { bytesOf, hexOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'
import { type Cutoff, everyKey } from './cutoffs.ts'

export type CutoffStore = ReturnType<typeof createCutoffStore>

/** The cut-offs of sessions, of a key or of all keys. On one connection. */
export function createCutoffStore(sql: Sql) {
  const all = sql.query<{ pubkey: Uint8Array; ended_at: number }, []>(
    'SELECT pubkey, ended_at FROM session_cutoffs WHERE ended_at > 0',
  )
  const ofKey = sql.query<{ ended_at: number | null }, [Uint8Array, Uint8Array]>(
    'SELECT max(ended_at) AS ended_at FROM session_cutoffs WHERE pubkey = ? OR pubkey = ?',
  )
  const newest = sql.query<{ ended_at: number | null }, []>(
    'SELECT max(ended_at) AS ended_at FROM session_cutoffs',
  )
  const put = sql.query<null, [Uint8Array, number]>(
    `INSERT INTO session_cutoffs (pubkey, ended_at) VALUES (?, ?)
     ON CONFLICT (pubkey) DO UPDATE SET ended_at = excluded.ended_at`,
  )
  const prune = sql.query<null, [number]>('DELETE FROM session_cutoffs WHERE ended_at < ?')

  return {
    async list(): Promise<Cutoff[]> {
      return (await all.all()).map(({ pubkey, ended_at }) => ({
        pubkey: hexOf(pubkey),
        endedAt: ended_at,
      }))
    },

    /** The newest cut-off of a key, or of any key for `everyKey`. 0 if there is none. */
    async last(pubkey: string): Promise<number> {
      const row = await (pubkey === everyKey
        ? newest.get()
        : ofKey.get(bytesOf(pubkey), bytesOf(everyKey)))
      return row?.ended_at ?? 0
    },

    async set({ pubkey, endedAt }: Cutoff): Promise<void> {
      put.run(bytesOf(pubkey), endedAt)
    },

    /** Delete the cut-offs before a time in Unix seconds. Returns their number. */
    async prune(before: number): Promise<number> {
      return await prune.changes(before)
    },
  }
}
