import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/database.ts'
import type { CutoffStore } from './cutoff-store.ts'
import { type Cutoff, everyKey, sessionsEnded } from './cutoffs.ts'

type Ending = {
  database: Database<{ cutoffs: CutoffStore }>
  now: Clock
}

/** End every session of a key, or of all keys (null). Sessions opened later are not affected. */
export function endSessions({ database, now }: Ending, key: string | null): Promise<Cutoff> {
  const pubkey = key ?? everyKey
  return database.transact({ roots: ['instance'] }, async (tx) => {
    // A session opened in the second of the last cut-off began one second after it.
    const endedAt = Math.max(now(), (await tx.cutoffs.last(pubkey)) + 1)
    const cutoff = { pubkey, endedAt }
    await tx.cutoffs.set(cutoff)
    tx.tell(sessionsEnded, cutoff)
    return cutoff
  })
}
