import { limits } from '../base/limits.ts'
import type { Locking } from '../db/database.ts'
import type { NostrEvent } from '../nostr/event.ts'
import { classOf, expirationOf } from '../nostr/kind-class.ts'
import type { OutboxStore, UnderWay } from './outbox-store.ts'
import type { RelayAnswer } from './relays-conversation.ts'

/** Prefixes of a final refusal. `deleted:`, ours too, keeps out events that their author deleted (NIP-09). */
const finalPrefixes = ['blocked:', 'invalid:', 'pow:', 'restricted:', 'deleted:']

/** Unix seconds at which deliveries of an event expire. */
export function giveUpAt(event: NostrEvent, now: number): number {
  const patience =
    classOf(event.kind) === 'ephemeral' ? limits.ephemeralSeconds : limits.deliverySeconds
  return Math.min(now + patience, expirationOf(event) ?? Number.MAX_SAFE_INTEGER)
}

/** The state of a delivery after this answer. `duplicate:` is as good as OK. */
export function judge(answer: RelayAnswer): 'delivered' | 'refused' | 'pending' {
  if (!answer) return 'pending'
  if (answer.accepted || answer.message.startsWith('duplicate:')) return 'delivered'
  return finalPrefixes.some((prefix) => answer.message.startsWith(prefix)) ? 'refused' : 'pending'
}

/**
 * Seconds until the next attempt. `attempts` counts failures before this one, `jitter` is from 0 to 1.
 * About 4 at first, then doubling to a minute; 10 minutes once the event is an hour old.
 */
export function retryDelay(attempts: number, ageSeconds: number, jitter: number): number {
  const base = ageSeconds < 3600 ? Math.min(60, 4 * 2 ** Math.min(attempts, 10)) : 600
  return Math.ceil(base * (0.5 + jitter / 2))
}

/** Expire up to `sweepRowsMax` overdue deliveries to a relay, but for those under way. Returns their number. */
export async function giveUpOverdue(
  tx: { outbox: OutboxStore } & Locking,
  relay: string,
  { now, underWay }: { now: number; underWay: UnderWay },
): Promise<number> {
  const overdue = await tx.outbox.overdue(relay, now, limits.sweepRowsMax, underWay)
  await tx.lock(...overdue.map((id) => ({ queued: id })))
  return tx.outbox.expire(relay, overdue, now)
}

/** Expire some deliveries to relays other than these. False without any. */
export async function retireOthers(
  tx: { outbox: OutboxStore } & Locking,
  relays: readonly string[],
  now: number,
): Promise<boolean> {
  const left = await tx.outbox.left(relays, limits.sweepRowsMax)
  if (!left) return false
  await tx.lock(...left.ids.map((id) => ({ queued: id })))
  await tx.outbox.retire(left, now)
  return true
}
