import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { OperatorError } from '../base/operator-error.ts'
import type { Database, News, OpenDatabase } from '../db/database.ts'
import type { Jobs } from '../db/jobs.ts'
import { type Authenticator, createAuthenticator } from '../http/auth.ts'
import { npubOf, parsePubkey } from '../nostr/keys.ts'
import type { Caller } from '../session/caller.ts'
import type { CutoffStore } from '../session/cutoff-store.ts'
import { type Cutoff, createCutoffs, everyKey, sessionsEnded } from '../session/cutoffs.ts'
import { endSessions } from '../session/end.ts'
import { createIdentify } from '../session/identify.ts'
import { createSessions, type Sessions } from '../session/session.ts'
import type { Management } from './management.ts'
import { createUnknownOriginWarning } from './origins.ts'
import type { Runtime } from './runtime.ts'

type SessionParts = {
  /** SESSION_JWT_SECRET. */
  secret: string
  database: Database<{ cutoffs: CutoffStore }> & News & Pick<OpenDatabase<never>, 'requireNews'>
  jobs: Jobs
  now: Clock
  /** Called when the sessions of a key, or of all keys, were ended. Their streams end with them. */
  ended(pubkey?: string): void
  log: Log
}

type RunningSessions = {
  sessions: Sessions
  /** The operator's commands, for the control socket. */
  commands: Record<string, (asked: Record<string, unknown>) => Promise<unknown>>
  stop(): Promise<void>
}

/** Create the sessions, with the cut-offs from before the start. */
export async function startSessions(parts: SessionParts): Promise<RunningSessions> {
  const { secret, database, jobs, now, log } = parts
  const cutoffs = createCutoffs()
  const ended = (cutoff: Cutoff) => {
    if (!cutoffs.set(cutoff)) return
    const everybody = cutoff.pubkey === everyKey
    parts.ended(everybody ? undefined : cutoff.pubkey)
    log.warn('sessions.ended', { of: everybody ? 'all' : npubOf(cutoff.pubkey) })
  }
  // Cut-offs may be unknown from when news were missed until all are read.
  let missed = 0
  let read = 0
  let reading: Promise<void> | null = null
  const readMissed = async () => {
    const upTo = missed
    const list = await database.snapshot((tx) => tx.cutoffs.list())
    for (const cutoff of list) ended(cutoff)
    read = upTo
  }
  const readOnce = () => {
    reading ??= readMissed().finally(() => {
      reading = null
    })
    return reading
  }
  const job = jobs.start({
    async run() {
      await readOnce()
      return undefined
    },
    failed: (cause) => log.error('sessions.unread', { cause }),
  })
  database.listen(sessionsEnded, {
    told: ended,
    missed() {
      missed++
      job.wake()
    },
  })
  const requireCutoffs = async () => {
    await database.requireNews()
    while (read < missed) await readOnce()
  }
  for (const cutoff of await database.snapshot((tx) => tx.cutoffs.list())) cutoffs.set(cutoff)
  return {
    sessions: createSessions(secret, now, cutoffs, requireCutoffs),
    stop: job.stop,
    commands: {
      'POST /sessions': ({ key }) => endSessions({ database, now }, parseSessionKey(key)),
    },
  }
}

/** Create the check of a caller. Keys of members and merchants are known; others share a budget. */
export function createAuth(
  runtime: Runtime,
  sessions: Sessions,
  management: Management,
): Authenticator<Caller> {
  const { database, verifySoon, now, rateLimits, log } = runtime
  const { listed } = management.merchants
  return createAuthenticator({
    identify: createIdentify({ sessions, verify: verifySoon, now }),
    requireOpen: sessions.requireOpen,
    spend: ({ spend }) => database.transact({ roots: 'none', first: spend }, async () => undefined),
    rateLimits,
    isKnown: (pubkey) =>
      database.snapshot(async (tx) => listed.has(pubkey) || tx.members.isMember(pubkey)),
    onUnknownOrigin: createUnknownOriginWarning(log),
  })
}

/** Parse the key (to hex) whose sessions end; null means all keys. Throws OperatorError. */
export function parseSessionKey(value: unknown): string | null {
  if (value === null) return null
  const pubkey = typeof value === 'string' ? parsePubkey(value) : null
  if (pubkey === null || pubkey === everyKey) throw new OperatorError('that is no key: npub or hex')
  return pubkey
}
