import { limits } from '../base/limits.ts'
import type { AfterCommit, News } from '../db/database.ts'
import type { Job, Jobs, RowSweep } from '../db/jobs.ts'
import type { NostrEvent } from '../nostr/event.ts'
import { kinds } from '../nostr/kinds.ts'
import type { RelayAccess } from './access.ts'
import { notice, type ReconcileParts } from './announcements.ts'
import { type RelayHandle, startHandle } from './handle.ts'
import { retireOthers } from './outbox.ts'
import type { OutboxStore } from './outbox-store.ts'
import { enqueue } from './publish.ts'
import type { Subscription } from './relays-conversation.ts'
import { deliveriesDue, embeddedRelay, type RelayStatus } from './service.ts'

type OutboxStores = { outbox: OutboxStore }

type WorkerParts = ReconcileParts & {
  database: News
  jobs: Jobs
  /** A monotonic clock in milliseconds. */
  steady: () => number
  failed: (cause: unknown) => void
}

/** Every relay of the settings, with its background work. */
export type Relays = {
  /** Queue an event of the service for every relay, in the caller's transaction. Refuses `outbox-full`. */
  broadcast(tx: OutboxStores & AfterCommit, event: NostrEvent): Promise<void>
  /** End the deliveries of an event of the service that was withdrawn or replaced. */
  recall(tx: OutboxStores, eventId: string): Promise<void>
  /** Subscribe at every relay. The returned function asks all of them anew. */
  subscribe(subscription: Subscription): () => void
  /** The reason why a relay cannot be reached now, or null. */
  trouble(relay: string): string | null
  status(): Promise<RelayStatus[]>
  stop(): Promise<void>
}

/** Start the couriers and the checks of announcements of all relays. */
export function startRelays(accesses: readonly RelayAccess[], parts: WorkerParts): Relays {
  const { database, now, failed } = parts
  const handles = new Map<string, RelayHandle>()
  const wake = (relays: readonly string[]) => {
    for (const relay of relays) handles.get(relay)?.wake()
  }
  const all = accesses.map(({ relay }) => relay)
  database.listen(deliveriesDue, { told: wake, missed: () => wake(all) })
  for (const access of accesses) {
    if (access.relay === embeddedRelay) watchAnnouncements(access, parts, failed)
    handles.set(access.relay, startHandle(access, { ...parts, announcements: parts }))
  }
  const retiring = startRetiring(parts)
  return {
    async broadcast(tx, event) {
      await enqueue(tx.outbox, event, all, { now: now(), priority: 'own' })
      tx.tell(deliveriesDue, all)
    },
    recall: (tx, eventId) => tx.outbox.recall(eventId, 'taken back', now()),
    subscribe(subscription) {
      const again = accesses.map((access) => access.subscribe(subscription))
      return () => {
        for (const ask of again) ask()
      }
    },
    trouble(relay) {
      const access = handles.get(relay)?.access
      if (!access || access.connectedAt() !== null) return null
      return access.connectionError() ?? 'not connected'
    },
    async status() {
      const waiting = await database.snapshot((tx) => tx.outbox.waiting())
      return [...handles.values()].map((handle) => handle.status(waiting.get(handle.relay) ?? 0))
    },
    async stop() {
      // Couriers first, so that a delivery that our own hang-up cuts short counts as not tried.
      const stopping = [...handles.values(), retiring].map((one) => one.stop())
      for (const access of accesses) access.close()
      await Promise.all(stopping)
    },
  }
}

/** Apply announcements and deletions as soon as the embedded relay has stored them, not at the next check. */
function watchAnnouncements(
  embedded: RelayAccess,
  parts: ReconcileParts,
  failed: (cause: unknown) => void,
): void {
  const filter = { kinds: [kinds.announcement, kinds.deletion], limit: 0, tags: new Map() }
  embedded.subscribe({
    filters: () => [filter],
    wanted: () => true,
    event: (event) => void notice(parts, event).catch(failed),
  })
}

/** Expire deliveries to relays that are no longer in the settings, once after the start. */
function startRetiring({ jobs, database, relays, now, failed }: WorkerParts): Job {
  const step = () =>
    database.transact({ roots: ['instance'] }, (tx) => retireOthers(tx, relays, now()))
  const job = jobs.start({
    lease: 'outbox.retire',
    run: async () => ((await step()) ? 0 : undefined),
    failed,
  })
  job.wake()
  return job
}

/** Events whose deliveries ended long ago. */
export const outboxSweep: RowSweep<OutboxStores> = {
  prune: async ({ outbox }, now) =>
    (await outbox.prune(limits.sweepRowsMax, now - limits.outboxKeptSeconds)) > 0,
}
