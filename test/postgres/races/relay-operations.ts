/** Operations of the embedded relay by name, on events of one author. */

import { limits } from '../../../src/base/limits.ts'
import type { NostrEvent } from '../../../src/nostr/event.ts'
import { createPolicy } from '../../../src/relay/policy.ts'
import { createRelay } from '../../../src/relay/relay.ts'
import { verifyEvent } from '../../support/client.ts'
import type { Operations, Parts } from './operations.ts'

/** The events of the author by what becomes of them. The first three are stored. */
type Events = Record<'note' | 'profile' | 'expired' | 'next' | 'between' | 'newest', NostrEvent>

/** Store the first events, one of them expired. */
export async function fillRelay({ world, plain, engine }: Omit<Parts, 'metered'>): Promise<Events> {
  const { at } = plain
  const sign = (kind: number, created_at: number, tags: string[][]) =>
    world.taker.sign({ kind, created_at, tags, content: '' })
  const mode = ['d', 'mode']
  const events = {
    note: sign(1, at - 60, [['t', 'café']]),
    profile: sign(0, at - 60, []),
    expired: sign(30_000, at - 60, [mode, ['expiration', String(at - 10)]]),
    next: sign(30_000, at - 20, [mode]),
    between: sign(0, at - 20, []),
    newest: sign(0, at, []),
  }
  await engine.transact({ roots: 'none' }, async (tx) => {
    for (const one of [events.note, events.profile, events.expired]) await tx.events.insert(one)
  })
  return events
}

export function relayOperations(
  { world, plain, engine }: Omit<Parts, 'metered'>,
  { note, profile, next, between, newest }: Events,
): Operations {
  const { at, now } = plain
  const nothing = () => undefined
  const relay = createRelay({
    ...{ database: engine, verify: verifyEvent, now, diskLow: () => false },
    events: {
      find: (...asked) => engine.snapshot((tx) => tx.events.find(...asked)),
      count: (...asked) => engine.snapshot((tx) => tx.events.count(...asked)),
      superseded: (version) => engine.snapshot((tx) => tx.events.superseded(version)),
    },
    policy: createPolicy({
      ...{ open: () => true, isMember: async () => true, rateLimit: false, seconds: now },
    }),
    ...{ send: nothing, drop: nothing, missed: nothing, handled: nothing, log: nothing },
  })
  const deletion = (tags: string[][]) =>
    world.taker.sign({ kind: 5, created_at: at - 10, tags, content: '' })
  const accept = (event: NostrEvent) => () => relay.accept(event)
  return {
    'store an event': accept(
      world.taker.sign({ kind: 1, created_at: at, tags: [['t', 'té']], content: '' }),
    ),
    'store a stored event': accept(note),
    'store a newer profile': accept(newest),
    'store a profile between': accept(between),
    'store the next version of an expired event': accept(next),
    'delete events': accept(
      deletion([
        ['e', note.id],
        ['e', newest.id],
      ]),
    ),
    'delete a profile by its address': accept(deletion([['a', `0:${profile.pubkey}:`]])),
    'delete expired events': () =>
      engine.transact({ roots: ['instance'] }, (tx) => tx.events.prune(now(), limits.sweepRowsMax)),
  }
}
