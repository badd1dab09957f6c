import { countOnce } from '../base/count-once.ts'
import { limits } from '../base/limits.ts'
import { Refusal, requireNoWait } from '../base/refusal.ts'
import { authorOf } from '../nostr/delegation.ts'
import { type NostrEvent, parseEvent, withTextContent } from '../nostr/event.ts'
import { kinds } from '../nostr/kinds.ts'
import { findValidationError } from '../relay/validation-error.ts'
import { giveUpAt } from './outbox.ts'
import type { Delivery, OutboxStore, Priority } from './outbox-store.ts'
import { deliveriesDue, embeddedRelay, type Gateway } from './service.ts'

/**
 * Accept a signed event for delivery. It is on disk when this resolves, to the event and the addresses of
 * its relays. `address` is the client's, `bytes` the size of its body, `asked` the origin of its request.
 * Refuses `disk-low`, `rate-limited`, `event-invalid`, `delegation-invalid`,
 * `event-not-publishable`, `not-allowed`, `outbox-full`.
 */
export async function publish(
  gateway: Gateway,
  value: unknown,
  { address, bytes, asked }: { address: string; bytes: number; asked: string | null },
): Promise<{ event: NostrEvent; urls: string[] }> {
  const { quotas } = gateway
  gateway.requireDisk()
  requireNoWait(quotas.address(address, bytes))
  const event = parseEvent(withTextContent(value))
  if (!event || !(await gateway.verify(event))) throw new Refusal('event-invalid')
  if (authorOf(event, gateway.verifyHash) === null) throw new Refusal('delegation-invalid')
  // The embedded relay would refuse it for good, so it is refused before the promise.
  if (findValidationError(event, gateway.now()) !== null) throw new Refusal('event-not-publishable')
  requireNoWait(quotas.key(event.pubkey, bytes))
  const priority = quotas.withinQuota(event.pubkey, address) ? 'others' : 'later'
  const others = gateway.accepting(event)
  const waitOfStranger = countOnce(() => quotas.stranger(address))
  const plan = { roots: [{ event: event.id }] }
  const { relays, fresh } = await gateway.database.transact(plan, async (tx) => {
    const kept = gateway.embeddedUrl !== null && (await gateway.keeps(tx, event.pubkey))
    const passed = gateway.embeddedUrl !== null && !kept && event.kind === kinds.remoteSigning
    if (passed) requireNoWait(waitOfStranger())
    const targets = kept || passed ? [embeddedRelay, ...gateway.outside] : gateway.outside
    if (targets.length === 0) throw new Refusal('not-allowed')
    const now = gateway.now()
    const fresh = await enqueue(tx.outbox, event, targets, { now, priority })
    await others.accept(tx)
    tx.tell(deliveriesDue, targets)
    return { relays: targets, fresh }
  })
  if (!fresh) quotas.giveBack(event.pubkey, bytes)
  return { event, urls: relays.flatMap((relay) => urlOf(gateway, relay, asked) ?? []) }
}

/** The address of a relay of a delivery, or null. */
function urlOf({ embeddedUrl }: Gateway, relay: string, asked: string | null): string | null {
  return relay === embeddedRelay ? (embeddedUrl?.(asked) ?? null) : relay
}

/**
 * Queue an event for relays, in the caller's transaction. Relays that have it, or have it pending, are left
 * out; false when those are all. A share of the outbox is reserved for the service's own events. Refuses
 * `outbox-full`.
 */
export async function enqueue(
  outbox: OutboxStore,
  event: NostrEvent,
  relays: readonly string[],
  { now, priority }: { now: number; priority: Priority },
): Promise<boolean> {
  const missing = () => outbox.missing(event.id, relays)
  const { events, bytes } = await outbox.load()
  const share = priority === 'own' ? 1 : limits.outboxOpenShare
  if (events >= limits.outboxEventsMax * share || bytes >= limits.outboxBytesMax * share) {
    if ((await missing()).length === 0) return false
    throw new Refusal('outbox-full', { retryAfter: 30 })
  }
  const entry = { now, giveUpAt: giveUpAt(event, now), priority }
  // Most events are new, so a known one is looked up only after this fails.
  if (await outbox.insert(event, relays, entry)) return true
  const left = await missing()
  if (left.length > 0) await outbox.add(event, left, entry)
  return left.length > 0
}

/** The state of a published event at each relay. Refuses `event-unknown`. */
export async function publication(gateway: Gateway, id: string, asked: string | null) {
  const found = /^[0-9a-f]{64}$/.test(id)
    ? await gateway.database.snapshot((tx) => tx.outbox.find(id))
    : null
  if (!found) throw new Refusal('event-unknown')
  const relays = found.map(({ relay, state, attempts, lastError }) => ({
    url: urlOf(gateway, relay, asked) ?? relay,
    status: state,
    attempts,
    // Before the first attempt: the reason for its absence.
    lastError: lastError ?? (state === 'pending' ? gateway.trouble(relay) : null),
  }))
  return { id, status: overall(found), relays }
}

/** `pending` while any is, else `delivered` (all), `partial`, or `failed` (none). */
export function overall(
  deliveries: readonly Pick<Delivery, 'state'>[],
): 'pending' | 'delivered' | 'partial' | 'failed' {
  if (deliveries.some(({ state }) => state === 'pending')) return 'pending'
  const delivered = deliveries.filter(({ state }) => state === 'delivered').length
  if (delivered === deliveries.length) return 'delivered'
  return delivered > 0 ? 'partial' : 'failed'
}
