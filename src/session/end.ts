import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import type { Database } from '../db/database.ts'
import type { CutoffStore } from './cutoff-store.ts'
import { type Cutoff, everyKey, sessionsEnded } from './cutoffs.ts'

type Ending = {
  database: Database<{ cutoffs: CutoffStore }>
  now: Clock
}

/** Each of two nodes may be so far from the clock of the server, to either side. */
const clocksApartSeconds = 2 * limits.clockBackSeconds

/** End every session of a key, or of all keys (null). Sessions opened later are not affected. */
export function endSessions({ database, now }: Ending, key: string | null): Promise<Cutoff> {
  const pubkey = key ?? everyKey
  return database.transact({ roots: ['instance'] }, async (tx) => {
    // A session has the time of the node that opened it, whose clock may be ahead of ours, or of a clock that was set
    // back. One that is opened after the last cut-off began one second after it.
    const endedAt = Math.max(now() + clocksApartSeconds, (await tx.cutoffs.last(pubkey)) + 1)
    const cutoff = { pubkey, endedAt }
    await tx.cutoffs.set(cutoff)
    tx.tell(sessionsEnded, cutoff)
    return cutoff
  })
}
