import type { Config } from '../app/config.ts'
import { parseSessionKey } from '../app/sessions.ts'
import { systemClock } from '../base/clock.ts'
import { OperatorError } from '../base/operator-error.ts'
import { npubOf } from '../nostr/keys.ts'
import { type Cutoff, everyKey } from '../session/cutoffs.ts'
import { endSessions } from '../session/end.ts'
import { withDatabase } from './control.ts'
import { onDatabase } from './on-database.ts'

/** End the sessions of a key, or of all keys. Their tokens are refused from now on. */
export async function endKeySessions(
  config: Config,
  { key, all }: { key: string | undefined; all: boolean },
): Promise<number> {
  if (all === (key !== undefined))
    throw new OperatorError('sessions end needs either NPUB or --all', 'usage')
  const wanted = parseSessionKey(key ?? null)
  const { pubkey } = await withDatabase<Cutoff>(config, {
    alone: (path) =>
      onDatabase(path, (database) => endSessions({ database, now: systemClock }, wanted)),
    running: (server) => server.ask<Cutoff>('POST', 'sessions', { key: wanted }),
  })
  if (pubkey === everyKey) {
    console.log('all sessions have ended: users must sign in again')
    return 0
  }
  console.log(`the sessions of ${npubOf(pubkey)} have ended`)
  console.log('If somebody stole this key, remove its permissions too: it can sign in again.')
  return 0
}
