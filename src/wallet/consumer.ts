import { limits } from '../base/limits.ts'
import type { AfterCommit, Database, Locking } from '../db/database.ts'
import type { Jobs } from '../db/jobs.ts'
import type { NostrEvent } from '../nostr/event.ts'
import type { Filter } from '../nostr/filter.ts'

type ConsumerOptions<Tx> = {
  database: Database<Tx>
  jobs: Jobs
  /** Filters that relays are asked with; read again each time. */
  filters: () => readonly Filter[]
  /** False: this event is not worth a transaction. */
  admitted: (event: NostrEvent) => Promise<boolean>
  consume: (tx: Tx & AfterCommit & Locking, event: NostrEvent) => Promise<void>
  /** An event could not be written now; relays are asked again. */
  failed: (cause: unknown) => void
  /** Wait before relays are asked again. */
  pauseSeconds?: number
}

/**
 * Takes events from relays, in the order they come, and writes their effects. An event that finds no
 * room, or that could not be written, is dropped; relays are asked for it again after a pause.
 */
export function createConsumer<Tx>(options: ConsumerOptions<Tx>) {
  const { database, jobs, filters, admitted, consume, failed } = options
  const { pauseSeconds = limits.courierPauseSeconds } = options
  const seen = new Set<string>()
  const waiting: NostrEvent[] = []
  /** An event was dropped since relays were last asked. */
  let dropped = false
  /** A write failed since then. The reason will hold for a while, so nothing is written meanwhile. */
  let failing = false
  let stopped = false
  let askAgain = (): void => undefined

  const remember = (id: string) => {
    if (seen.size >= limits.eventsSeenMax) {
      const [oldest] = seen
      if (oldest !== undefined) seen.delete(oldest)
    }
    seen.add(id)
  }

  const take = async (event: NostrEvent) => {
    try {
      if (await admitted(event))
        await database.transact({ roots: [{ event: event.id }] }, (tx) => consume(tx, event))
    } catch (cause) {
      seen.delete(event.id)
      dropped = failing = true
      failed(cause)
    }
  }

  const taking = jobs.start({
    async run() {
      // Events of one turn share a commit, in their order.
      while (waiting.length > 0 && !stopped && !failing) {
        await Promise.all(waiting.splice(0, limits.batchMax).map(take))
      }
      if (dropped) asking.wake()
      return undefined
    },
    failed,
  })
  const asking = jobs.start({
    wakeSeconds: pauseSeconds,
    async run() {
      dropped = failing = false
      askAgain()
      taking.wake()
      return undefined
    },
    failed,
  })

  return {
    subscription: {
      filters,
      wanted: (eventId: string) => !seen.has(eventId),
      event(event: NostrEvent) {
        if (stopped || seen.has(event.id)) return
        if (waiting.length >= limits.transactionsWaitingMax) {
          dropped = true
          return
        }
        remember(event.id)
        waiting.push(event)
        taking.wake()
      },
    },
    /** Set the function that asks relays anew. */
    askWith(ask: () => void): void {
      askAgain = ask
    },
    async stop(): Promise<void> {
      stopped = true
      await Promise.all([taking.stop(), asking.stop()])
    },
  }
}
