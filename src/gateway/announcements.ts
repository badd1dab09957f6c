import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { parseAnnouncement } from '../coupons/announcement.ts'
import type { AnnouncementStore } from '../coupons/announcement-store.ts'
import type { Database } from '../db/database.ts'
import { type NostrEvent, tagValue, type VerifyEvent } from '../nostr/event.ts'
import type { Filter } from '../nostr/filter.ts'
import { newer } from '../nostr/kind-class.ts'
import { kinds } from '../nostr/kinds.ts'
import { giveUpAt } from './outbox.ts'
import type { OutboxStore } from './outbox-store.ts'
import { enqueue } from './publish.ts'
import { deliveriesDue } from './service.ts'

type Tx = { announcements: AnnouncementStore; outbox: OutboxStore }

export type ReconcileParts = {
  database: Database<Tx>
  now: () => number
  verify: VerifyEvent
  /** The manager key and the origins of this service. An announcement must name them. */
  manager: string
  origins: () => readonly string[]
  /** Every relay that announcements are sent to. */
  relays: readonly string[]
}

type Query = (filters: readonly Filter[]) => Promise<NostrEvent[] | null>

/**
 * Ask a relay for the current announcement of each merchant, and queue those that it lacks. A newer
 * announcement on the relay replaces the stored one; a deletion (NIP-09) by its author removes it.
 * False when the relay did not answer.
 */
export async function reconcile(
  parts: ReconcileParts,
  relay: string,
  query: Query,
): Promise<boolean> {
  let after = ''
  for (;;) {
    const ours = await parts.database.snapshot((tx) =>
      tx.announcements.page(after, limits.announcementBatch),
    )
    const last = ours.at(-1)
    if (!last) return true
    const theirs = await query(askFor(ours))
    if (theirs === null) return false
    // Some relays serve a deleted event together with its deletion.
    const others = theirs.filter(({ id }) => !ours.some((event) => event.id === id))
    const deletions = others.length > 0 ? await query([askForDeletions(others)]) : []
    if (deletions === null) return false
    for (const event of ours) await settle(parts, event, [...theirs, ...deletions], relay)
    after = last.pubkey
  }
}

/** Apply an announcement or a deletion that the embedded relay has stored. */
export async function notice(parts: ReconcileParts, event: NostrEvent): Promise<void> {
  const ours = await parts.database.snapshot((tx) => tx.announcements.find(event.pubkey))
  if (ours) await settle(parts, ours, [event], null)
}

/** Filters for a batch: the announcements by author and name, and their deletions. */
function askFor(ours: readonly NostrEvent[]): Filter[] {
  const authors = ours.map(({ pubkey }) => pubkey)
  const names = [...new Set(ours.map((event) => tagValue(event, 'd') ?? ''))]
  const addresses = new Map([['a', ours.map(coordinate)]])
  return [
    { kinds: [kinds.announcement], authors, tags: new Map([['d', names]]) },
    { kinds: [kinds.deletion], authors, tags: addresses },
    askForDeletions(ours),
  ]
}

/** A filter for deletions of these events by id. */
function askForDeletions(events: readonly NostrEvent[]): Filter {
  const authors = [...new Set(events.map(({ pubkey }) => pubkey))]
  return { kinds: [kinds.deletion], authors, tags: new Map([['e', events.map(({ id }) => id)]]) }
}

/** An announcement as others have it. */
type Found = { replacement: NostrEvent | null; deleted: boolean; has: boolean }

/** Find what replaces or deletes an announcement among the events of its author. */
function judge(parts: ReconcileParts, ours: NostrEvent, theirs: readonly NostrEvent[]): Found {
  const byAuthor = theirs.filter(({ pubkey }) => pubkey === ours.pubkey)
  const deletions = byAuthor.filter(({ kind }) => kind === kinds.deletion)
  const deleted = (event: NostrEvent) => deletions.some((deletion) => deletes(deletion, event))
  const found = byAuthor.filter(
    (event) => event.kind === kinds.announcement && coordinate(event) === coordinate(ours),
  )
  const [replacement = null] = found
    .filter((event) => newer(event, ours) && !deleted(event) && acceptable(parts, event))
    .sort((a, b) => (newer(a, b) ? -1 : 1))
  const has = found.some((event) => event.id === ours.id || newer(event, ours))
  return { replacement, deleted: deleted(ours), has }
}

/** Store a newer announcement, remove a deleted one, and send ours again to a relay that lacks it. */
async function settle(
  parts: ReconcileParts,
  ours: NostrEvent,
  theirs: readonly NostrEvent[],
  relay: string | null,
): Promise<void> {
  const found = judge(parts, ours, theirs)
  if (!found.replacement && !found.deleted && (found.has || relay === null)) return
  const { database, relays, now } = parts
  await database.transact({ roots: [{ merchant: ours.pubkey }] }, async (tx) => {
    const current = await tx.announcements.find(ours.pubkey)
    if (!current) return
    // The merchant may have announced anew since the read, and the relay was not asked for that.
    const same = current.id === ours.id
    const { replacement, deleted, has } = same ? found : judge(parts, current, theirs)
    const named = replacement ? [current, replacement] : [current]
    await tx.lock(...named.map(({ id }) => ({ event: id })))
    tx.tell(deliveriesDue, relays)
    if (replacement) {
      await tx.announcements.put(replacement)
      await tx.outbox.recall(current.id, 'replaced', now())
      await enqueue(tx.outbox, replacement, relays, { now: now(), priority: 'own' })
    } else if (deleted) {
      await tx.announcements.remove(current.pubkey)
      await tx.outbox.recall(current.id, 'deleted by its author', now())
    } else if (relay !== null && same && !has) {
      const until = giveUpAt(current, now())
      await tx.outbox.add(current, [relay], { now: now(), giveUpAt: until, priority: 'own' })
    }
  })
}

/** True for an announcement that PUT /api/coupons/discovery would accept. */
function acceptable({ manager, origins, now, verify }: ReconcileParts, event: NostrEvent): boolean {
  const context = { author: event.pubkey, manager, origins: origins(), now: now(), verify }
  try {
    parseAnnouncement(event, context)
    return true
  } catch (cause) {
    if (cause instanceof Refusal) return false
    throw cause
  }
}

function deletes(deletion: NostrEvent, event: NostrEvent): boolean {
  return deletion.tags.some(
    ([name, value]) =>
      (name === 'e' && value === event.id) ||
      (name === 'a' && value === coordinate(event) && deletion.created_at >= event.created_at),
  )
}

/** The address of an addressable event: `kind:author:d` (NIP-01). */
function coordinate(event: NostrEvent): string {
  return `${event.kind}:${event.pubkey}:${tagValue(event, 'd') ?? ''}`
}
