import { limits } from '../../base/limits.ts'
import type { Database } from '../../db/database.ts'
import type { Jobs, RowSweep } from '../../db/jobs.ts'
import type { Subscription } from '../../gateway/relays-conversation.ts'
import { kinds } from '../../nostr/kinds.ts'
import { createConsumer } from '../consumer.ts'
import type { Admission } from './admission.ts'
import { type Ledger, type LedgerStores, publishOwed, settle } from './settle.ts'
import { transactionTypes } from './transaction.ts'

type LedgerWork = {
  ledger: Ledger
  database: Database<LedgerStores>
  jobs: Jobs
  now: () => number
  admission: Admission
  /** Ask every relay from now on; the result asks them anew. */
  subscribe: (subscription: Subscription) => () => void
  failed: (cause: unknown) => void
}

/** Settle the transactions that relays bring, and publish balances that are owed; the result stops it. */
export function startLedgerWorker(work: LedgerWork): () => Promise<void> {
  const { ledger, database, jobs, now, admission, subscribe, failed } = work
  const consumer = createConsumer<LedgerStores>({
    database,
    jobs,
    filters: () => [
      {
        kinds: [kinds.walletRegular],
        since: now() - limits.transactionSeconds,
        limit: limits.fetchMax,
        tags: new Map([
          ['p', [ledger.signer.pubkey]],
          ['t', [transactionTypes.start]],
        ]),
      },
    ],
    admitted: admission.fromRelay,
    async consume(tx, event) {
      await settle(ledger, tx, event, now())
    },
    failed,
  })
  consumer.askWith(subscribe(consumer.subscription))
  const owed = jobs.start({
    lease: 'ledger.balances',
    everySeconds: limits.owedBalancesSeconds,
    failed,
    async run() {
      const stale = await database.snapshot((tx) => tx.ledger.stale(now(), 1))
      if (stale.length > 0)
        await database.transact({ roots: ['instance'] }, (tx) => publishOwed(ledger, tx, now()))
      return undefined
    },
  })
  return async () => {
    await owed.stop()
    await consumer.stop()
  }
}

/** Refusals of start events that are too old to come again. */
export const refusalSweep: RowSweep<LedgerStores> = {
  prune: async ({ ledger }, now) => (await ledger.prune(limits.sweepRowsMax, now)) > 0,
}
