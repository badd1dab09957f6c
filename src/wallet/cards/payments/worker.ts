import { limits } from '../../../base/limits.ts'
import type { Log } from '../../../base/log.ts'
import type { Jobs } from '../../../db/jobs.ts'
import type { Subscription } from '../../../gateway/relays-conversation.ts'
import { createConsumer } from '../../consumer.ts'
import {
  answerFilters,
  type PaymentStores,
  type Payments,
  releaseUnanswered,
  takeAnswer,
} from './payments.ts'

type PaymentWork = {
  payments: Payments
  jobs: Jobs
  /** Ask every relay from now on; the result asks them anew. */
  subscribe: (subscription: Subscription) => () => void
  log: Log
}

/**
 * Take the answers of a ledger elsewhere from relays, and release reservations that it leaves
 * unanswered; the result stops it.
 */
export async function startPaymentWorker(work: PaymentWork): Promise<() => Promise<void>> {
  const { payments, jobs, subscribe, log } = work
  const { database, ledger } = payments
  const findOpen = () => database.snapshot((tx) => tx.payments.open(limits.paymentsAskedMax))
  const failed = (cause: unknown) => log.warn('payments.failed', { cause })
  let open = await findOpen()
  // With the embedded ledger, open reservations are left from a ledger elsewhere that was used before.
  if (ledger && open.length === 0) return async () => undefined
  const consumer = createConsumer<PaymentStores>({
    database,
    jobs,
    filters: () => answerFilters(payments, open),
    admitted: async () => true,
    consume: (tx, event) => takeAnswer(payments, tx, event),
    failed,
  })
  if (!ledger) consumer.askWith(subscribe(consumer.subscription))
  // Without a lease: each node asks its relays for open answers, and a second release does nothing.
  const sweep = jobs.start({
    everySeconds: limits.paymentSweepSeconds,
    failed,
    async run() {
      const released = await releaseUnanswered(payments)
      if (released > 0) log.warn('payment.released', { payments: released })
      open = await findOpen()
      return undefined
    },
  })
  return async () => {
    await sweep.stop()
    await consumer.stop()
  }
}
