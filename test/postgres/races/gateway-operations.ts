/** Operations on the outbox and on announcements by name. Two relays wait for each event, and one that was removed. */

import { limits } from '../../../src/base/limits.ts'
import { openSchnorr } from '../../../src/crypto/schnorr.ts'
import { createHashVerifier } from '../../../src/crypto/sign-event.ts'
import { notice, type ReconcileParts, reconcile } from '../../../src/gateway/announcements.ts'
import { giveUpOverdue, retireOthers } from '../../../src/gateway/outbox.ts'
import type { Outcome } from '../../../src/gateway/outbox-store.ts'
import { publish } from '../../../src/gateway/publish.ts'
import type { Gateway } from '../../../src/gateway/service.ts'
import type { NostrEvent } from '../../../src/nostr/event.ts'
import { verifyEvent } from '../../support/client.ts'
import type { WorldDatabase } from './database.ts'
import type { Operations, Parts } from './operations.ts'
import { announcementOf, relays } from './world.ts'

/** Rows of the outbox by what waits: the announcement, an overdue event, and one for a relay that was removed. */
type Queued = {
  announced: number
  late: number
  left: number
  /** The events of these rows. */
  events: readonly [NostrEvent, NostrEvent, NostrEvent]
}

const removed = 'wss://removed.example'
const failure = { state: 'pending', attempts: 1, error: 'no answer', poison: false } as const

/** Add rows to the outbox. The announcement is there already. */
export async function fillOutbox(
  { world, plain, engine }: Omit<Parts, 'metered'>,
  looking: WorldDatabase['looking'],
): Promise<Queued> {
  const { at } = plain
  const note = (content: string) =>
    world.taker.sign({ kind: 1, created_at: at - 600, tags: [], content })
  const [lateEvent, leftEvent] = [note('tarde'), note('lejos')]
  const [announced] = await idsOf(looking)
  const entry = { now: at - 600, giveUpAt: at - 1, priority: 'others' } as const
  await engine.transact({ roots: 'none' }, async (tx) => {
    await tx.outbox.insert(lateEvent, relays, entry)
    await tx.outbox.insert(leftEvent, [relays[0], removed], { ...entry, giveUpAt: at + 600 })
  })
  const [, late, left] = await idsOf(looking)
  const waiting = [late, left].map((id) => ({ ...failure, outboxId: Number(id), nextAt: at + 60 }))
  await engine.transact({ roots: 'none' }, (tx) => tx.outbox.record(relays[0], waiting, at))
  const events = [announcementOf(world.owner, at - 60), lateEvent, leftEvent] as const
  return { announced: Number(announced), late: Number(late), left: Number(left), events }
}

async function idsOf(looking: WorldDatabase['looking']) {
  const { rows } = await looking.send('SELECT id FROM outbox ORDER BY id', [])
  return rows.map(({ id }) => id)
}

export function gatewayOperations(
  { world, plain, engine }: Omit<Parts, 'metered'>,
  { announced, late, left, events: [announcement, lateEvent] }: Queued,
): Operations {
  const { at, now } = plain
  const gateway = {
    ...{ database: engine, now, verify: verifyEvent, outside: relays, embeddedUrl: null },
    verifyHash: createHashVerifier(openSchnorr()),
    quotas: { address: () => 0, key: () => 0, withinQuota: () => true, giveBack: () => undefined },
    accepting: () => ({ accept: async () => undefined }),
    ...{ wake: () => undefined, requireDisk: () => undefined },
  } as unknown as Gateway
  const { owner, taker } = world
  const fresh = taker.sign({ kind: 1, created_at: at, tags: [], content: 'hola' })
  const asking = { address: '127.0.0.1', bytes: 300, asked: null }
  const recording = (
    relay: string,
    state: Outcome['state'],
    { queued = announced, poison = false } = {},
  ) => {
    const error = state === 'delivered' ? null : 'blocked: no'
    const outcome = { outboxId: queued, state, attempts: 1, nextAt: at + 90, error, poison }
    return () =>
      engine.transact({ roots: [{ queued }] }, (tx) => tx.outbox.record(relay, [outcome], now()))
  }
  const givingUp = (relay: string) => () =>
    engine.transact({ roots: [] }, (tx) =>
      giveUpOverdue(tx, relay, { now: now(), underWay: new Map() }),
    )
  const announcements: ReconcileParts = {
    ...{ database: engine, now, verify: verifyEvent, relays, origins: () => [] },
    manager: plain.signer.pubkey,
  }
  const deletion = owner.sign({
    ...{ kind: 5, created_at: at - 3, content: '' },
    tags: [['a', `30078:${owner.pubkey}:lacrypta.merchant/coupons`]],
  })
  return {
    'record a delivery': recording(relays[0], 'delivered'),
    'record a refusal of the other relay': recording(relays[1], 'refused'),
    'record a failure': recording(relays[0], 'pending'),
    'record a late delivery': recording(relays[0], 'delivered', { queued: late }),
    'record a late refusal': recording(relays[0], 'refused', { queued: late }),
    'record an end of the connection': recording(relays[0], 'pending', {
      ...{ queued: late, poison: true },
    }),
    'record a delivery to a removed relay': recording(removed, 'delivered', { queued: left }),
    publish: () => publish(gateway, fresh, asking),
    'publish the announcement': () => publish(gateway, announcement, asking),
    'publish an overdue event again': () => publish(gateway, lateEvent, asking),
    'make deliveries due': () =>
      engine.transact({ roots: 'none' }, (tx) =>
        tx.outbox.makeDue(relays[0], now(), limits.sweepRowsMax),
      ),
    'give up deliveries': givingUp(relays[0]),
    'give up deliveries to the other relay': givingUp(relays[1]),
    'give up for removed relays': () =>
      engine.transact({ roots: ['instance'] }, (tx) => retireOthers(tx, relays, now())),
    'take over an announcement': () => notice(announcements, announcementOf(owner, at - 5)),
    'take over a deletion': () => notice(announcements, deletion),
    'send an announcement that a relay lacks': () =>
      reconcile(announcements, relays[0], async () => []),
  }
}
