import { Buckets } from '../../../base/buckets.ts'
import { limits } from '../../../base/limits.ts'
import type { Jobs } from '../../../db/jobs.ts'
import type { Subscription } from '../../../gateway/relays-conversation.ts'
import { kinds } from '../../../nostr/kinds.ts'
import { createConsumer } from '../../consumer.ts'
import type { CardStores, Cards } from '../service.ts'
import { configChange, configure } from './configure.ts'

type HolderWork = {
  cards: Cards
  jobs: Jobs
  /** Ask every relay from now on; the result asks them anew. */
  subscribe: (subscription: Subscription) => () => void
  /** Seconds of a clock that is never set. */
  seconds: () => number
  /** False: `RATE_LIMIT=off`. */
  rateLimit: boolean
  failed: (cause: unknown) => void
}

/** Take the changes that holders make to their cards from relays; the result stops it. */
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
  return () => consumer.stop()
}
