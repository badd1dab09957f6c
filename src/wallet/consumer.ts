import { limits } from '../base/limits.ts'
import type { AfterCommit, Database } from '../db/database.ts'
import type { NostrEvent } from '../nostr/event.ts'
import type { Filter } from '../nostr/filter.ts'

type ConsumerOptions<Tx> = {
  database: Database<Tx>
  /** What relays are asked for; each time anew. */
  filters: () => readonly Filter[]
  /** False: this event is not worth a transaction. */
  admitted: (event: NostrEvent) => Promise<boolean>
  consume: (tx: Tx & AfterCommit, event: NostrEvent) => Promise<void>
  /** It could not be written now; relays are asked again. */
  failed: (cause: unknown) => void
  /** Before relays are asked again. */
  pauseSeconds?: number
}

/**
 * Takes events from relays, in the order they come, and writes what they do. What there is no room
 * for, or what could not be written, is let go, and asked for again after a pause.
 */
export function createConsumer<Tx>(options: ConsumerOptions<Tx>) {
  const { database, filters, admitted, consume, failed } = options
  const { pauseSeconds = limits.courierPauseSeconds } = options
  const seen = new Set<string>()
  const waiting: NostrEvent[] = []
  let running: Promise<void> | null = null
  /** Something was let go; and the reason is one that will hold for a while. */
  let lost = false
  let broken = false
  let stopped = false
  let askAgain = (): void => undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  const remember = (id: string) => {
    if (seen.size >= limits.eventsSeenMax) {
      const [oldest] = seen
      if (oldest !== undefined) seen.delete(oldest)
    }
    seen.add(id)
  }

  const take = async (event: NostrEvent) => {
    try {
      if (await admitted(event)) await database.transact((tx) => consume(tx, event))
    } catch (cause) {
      seen.delete(event.id)
      lost = broken = true
      failed(cause)
    }
  }

  const run = async () => {
    // Those of one turn share a commit, in their order.
    while (waiting.length > 0 && !stopped && !broken) {
      await Promise.all(waiting.splice(0, limits.batchMax).map(take))
    }
  }

  const wake = () => {
    if (running !== null || stopped || broken) return
    running = run().finally(() => {
      running = null
      if (lost) pause()
      else if (waiting.length > 0) wake()
    })
  }

  const pause = () => {
    clearTimeout(timer)
    if (stopped) return
    timer = setTimeout(() => {
      lost = broken = false
      askAgain()
      wake()
    }, pauseSeconds * 1000)
  }

  return {
    subscription: {
      filters,
      wanted: (eventId: string) => !seen.has(eventId),
      event(event: NostrEvent) {
        if (stopped || seen.has(event.id)) return
        if (waiting.length >= limits.transactionsWaitingMax) {
          lost = true
          return
        }
        remember(event.id)
        waiting.push(event)
        wake()
      },
    },
    /** How relays are asked anew. */
    askWith(ask: () => void): void {
      askAgain = ask
    },
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
