/**
 * Operations on the outbox by name. Two relays wait for each event. Those that give up deliveries are left out: each
 * decides on many rows, one by one, and goes on with what it did not find.
 */

import { openSchnorr } from '../../../src/crypto/schnorr.ts'
import { createHashVerifier } from '../../../src/crypto/sign-event.ts'
import type { Outcome } from '../../../src/gateway/outbox-store.ts'
import { publish } from '../../../src/gateway/publish.ts'
import type { Gateway } from '../../../src/gateway/service.ts'
import { verifyEvent } from '../../support/client.ts'
import type { Operations, Parts } from './operations.ts'
import { announcementOf, relays } from './world.ts'

/** `queued`: the row of the announcement. */
export function gatewayOperations(
  { world, plain, engine }: Omit<Parts, 'metered'>,
  queued: number,
): Operations {
  const { at, now } = plain
  const gateway = {
    ...{ database: engine, now, verify: verifyEvent, outside: relays, embeddedUrl: null },
    verifyHash: createHashVerifier(openSchnorr()),
    quotas: { address: () => 0, key: () => 0, withinQuota: () => true, giveBack: () => undefined },
    accepting: () => ({ accept: async () => undefined }),
    ...{ wake: () => undefined, requireDisk: () => undefined },
  } as unknown as Gateway
  const fresh = world.taker.sign({ kind: 1, created_at: at, tags: [], content: 'hola' })
  const asking = { address: '127.0.0.1', bytes: 300, asked: null }
  const recording = (relay: string, state: Outcome['state']) => () => {
    const error = state === 'delivered' ? null : 'blocked: no'
    const outcome = { outboxId: queued, state, attempts: 1, nextAt: at + 60, error, poison: false }
    return engine.transact({ roots: [{ queued }] }, (tx) =>
      tx.outbox.record(relay, [outcome], now()),
    )
  }
  return {
    'record a delivery': recording(relays[0], 'delivered'),
    'record a refusal of the other relay': recording(relays[1], 'refused'),
    'record a failure': recording(relays[0], 'pending'),
    publish: () => publish(gateway, fresh, asking),
    'publish the announcement': () =>
      publish(gateway, announcementOf(world.owner, at - 60), asking),
  }
}
