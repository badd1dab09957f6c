import { limits } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import type { AfterCommit, Database, Locking } from '../db/database.ts'
import type { Jobs } from '../db/jobs.ts'
import type { Subscription } from '../gateway/relays-conversation.ts'
import type { NostrEvent } from '../nostr/event.ts'
import {
  answerFilters,
  type Payments,
  releaseUnanswered,
  takeAnswer,
} from '../wallet/cards/payments/payments.ts'
import type { Cards } from '../wallet/cards/service.ts'
import { createConsumer } from '../wallet/consumer.ts'
import type { Ledger } from '../wallet/ledger/settle.ts'
import type { Stores } from './stores.ts'

type PaymentParts = {
  cards: Cards
  /** The embedded ledger, or null and the key of the one elsewhere. */
  ledger: Ledger | null
  ledgerPubkey: string
  database: Database<Stores>
  jobs: Jobs
  /** The gateway's: queue an event of ours for every relay; ask every relay for good. */
  broadcast(tx: Stores, event: NostrEvent): Promise<void>
  subscribe(subscription: Subscription): () => void
  steady: () => number
  log: Log
}

export type RunningPayments = {
  payments: Payments
  /** An event was accepted over HTTP: what it does here, in the same transaction. */
  accepted(tx: Stores & AfterCommit & Locking, event: NostrEvent): Promise<void>
  /** Whoever waits for a ledger is told to ask later. */
  hurry(): void
  stop(): Promise<void>
}

/** Put paying together; go on with what was open, and with a ledger elsewhere listen to its answers. */
export async function startPayments(parts: PaymentParts): Promise<RunningPayments> {
  const { database, jobs, log } = parts
  const waiting = createWaiting()
  let hurried = false
  const payments: Payments = { ...parts, answered: waiting.answered, hurried: () => hurried }
  const running = {
    payments,
    hurry() {
      hurried = true
      waiting.tellAll()
    },
  }
  const accepted = async (tx: Stores & AfterCommit & Locking, event: NostrEvent) => {
    const answered = await takeAnswer(payments, tx, event)
    if (answered === null) return
    tx.afterCommit(() => {
      log.info('payment.answered', { start: answered, answer: event.id })
      waiting.tell(answered)
    })
  }
  const findOpen = () => database.snapshot((tx) => tx.payments.open(limits.paymentsAskedMax))
  let open = await findOpen()
  // What a ledger elsewhere left open, before there was one in here, is let go when its time comes.
  if (parts.ledger && open.length === 0) {
    return { ...running, accepted, stop: async () => undefined }
  }
  const consumer = createConsumer<Stores>({
    database,
    jobs,
    filters: () => answerFilters(payments, open),
    admitted: async () => true,
    consume: accepted,
    failed: (cause) => log.warn('payments.failed', { cause }),
  })
  if (!parts.ledger) consumer.askWith(parts.subscribe(consumer.subscription))
  const sweep = async () => {
    const released = await releaseUnanswered(payments)
    if (released > 0) log.warn('payment.released', { payments: released })
    open = await findOpen()
  }
  let sweeping: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    sweeping = sweep().catch((cause: unknown) => log.warn('payments.failed', { cause }))
  }, limits.paymentSweepSeconds * 1000)

  return {
    ...running,
    accepted,
    async stop() {
      clearInterval(timer)
      await sweeping
      await consumer.stop()
    },
  }
}

/** Who waits for the answer to which start event. */
function createWaiting() {
  const waiting = new Map<string, Set<() => void>>()
  const tell = (startId: string) => {
    for (const go of waiting.get(startId) ?? []) go()
  }
  return {
    tell,
    tellAll: () => [...waiting.keys()].forEach(tell),
    answered(startId: string, seconds: number): Promise<void> {
      return new Promise((resolve) => {
        const others = waiting.get(startId) ?? new Set()
        const go = () => {
          clearTimeout(timer)
          others.delete(go)
          if (others.size === 0) waiting.delete(startId)
          resolve()
        }
        const timer = setTimeout(go, seconds * 1000)
        waiting.set(startId, others.add(go))
      })
    },
  }
}
