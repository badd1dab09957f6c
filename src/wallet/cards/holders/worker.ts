import { Buckets } from '../../../base/buckets.ts'
import { limits } from '../../../base/limits.ts'
import type { Database, News } from '../../../db/database.ts'
import type { Job, Jobs } from '../../../db/jobs.ts'
import type { Subscription } from '../../../gateway/relays-conversation.ts'
import { kinds } from '../../../nostr/kinds.ts'
import { createConsumer } from '../../consumer.ts'
import type { CardStores, Cards } from '../service.ts'
import { configChange, configure } from './configure.ts'
import { noticeOwed, type Publishing, publishNotice } from './notices.ts'

type HolderWork = Publishing & {
  cards: Cards
  jobs: Jobs
  /** Ask every relay from now on; the result asks them anew. */
  subscribe: (subscription: Subscription) => () => void
  /** Seconds of a clock that is never set. */
  seconds: () => number
  /** False: `RATE_LIMIT=off`. */
  rateLimit: boolean
  failed: (cause: unknown) => void
  database: Database<CardStores> & News
}

/** Take the changes that holders make to their cards from relays, and tell their wallets; the result stops it. */
export function startHolderWorker(work: HolderWork): () => Promise<void> {
  const { cards, jobs, subscribe, seconds, rateLimit, failed } = work
  const byKey = new Buckets({
    burst: limits.cardChangeBurst,
    perSecond: limits.cardChangePerSecond,
    entriesMax: limits.relayQuotasMax,
  })
  const consumer = createConsumer<CardStores>({
    database: cards.database,
    jobs,
    filters: () => [
      {
        kinds: [kinds.walletRegular],
        since: cards.now() - limits.cardChangeSeconds,
        limit: limits.fetchMax,
        tags: new Map([
          ['p', [cards.signer.pubkey]],
          ['t', [configChange]],
        ]),
      },
    ],
    // Keys without a card are not kept out here: `configure` tells them by one look at an index.
    admitted: async ({ pubkey }) => !rateLimit || byKey.take(pubkey, seconds()) === 0,
    async consume(tx, event) {
      await configure(cards, tx, event)
    },
    failed,
  })
  consumer.askWith(subscribe(consumer.subscription))
  const notices = startNotices(work)
  return async () => {
    await notices.stop()
    await consumer.stop()
  }
}

/** Publish the events that wallets are owed, at most one pair a second for each of them. */
function startNotices({ cards, database, jobs, broadcast, failed }: HolderWork): Job {
  const job = jobs.start({
    lease: 'cards.notices',
    everySeconds: limits.cardNoticesSeconds,
    failed,
    async run() {
      const now = cards.now()
      const due = await database.snapshot((tx) => tx.holders.owed(now, limits.cardNoticesMax))
      for (const holder of due) {
        await database.transact({ roots: [{ holder }] }, (tx) =>
          publishNotice(cards, tx, holder, { now: cards.now(), broadcast }),
        )
      }
      // The rest of the owed ones got events within this second, or there were too many.
      const left = await database.snapshot((tx) => tx.holders.owed(cards.now() + 1, 1))
      return left.length > 0 ? 1 : undefined
    },
  })
  database.listen(noticeOwed, { told: job.wake, missed: job.wake })
  job.wake()
  return job
}
