import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { suuidOf } from '../crypto/bytes.ts'
import { createNip44 } from '../crypto/nip44.ts'
import type { AfterCommit, Database, Locking, News, OpenDatabase } from '../db/database.ts'
import type { Jobs } from '../db/jobs.ts'
import type { Subscription } from '../gateway/relays-conversation.ts'
import type { RateLimits } from '../http/rate-limit.ts'
import type { VerifyHash } from '../nostr/delegation.ts'
import type { NostrEvent, Signer, VerifyEvent } from '../nostr/event.ts'
import { createCodeTries, noCodeTries } from '../wallet/cards/code-tries.ts'
import { configure } from '../wallet/cards/holders/configure.ts'
import { holderRoutes } from '../wallet/cards/holders/routes.ts'
import { startHolderWorker } from '../wallet/cards/holders/worker.ts'
import { createFunds } from '../wallet/cards/payments/funds.ts'
import { type Payments, takeAnswer } from '../wallet/cards/payments/payments.ts'
import { payRoutes } from '../wallet/cards/payments/routes.ts'
import { createWaiting, paymentAnswered } from '../wallet/cards/payments/waiting.ts'
import { startPaymentWorker } from '../wallet/cards/payments/worker.ts'
import type { Cards } from '../wallet/cards/service.ts'
import { createKeyDerivation } from '../wallet/cards/tag.ts'
import { type CardCommand, operateCards } from '../wallet/cards/tags/operator.ts'
import { tagRoutes } from '../wallet/cards/tags/routes.ts'
import { tapRoutes } from '../wallet/cards/taps/routes.ts'
import { payRequestOf } from '../wallet/identities/pay-request.ts'
import type { Identities } from '../wallet/identities/service.ts'
import type { Ledger } from '../wallet/ledger/settle.ts'
import type { Config } from './config.ts'
import { fingerprintOf } from './keyring.ts'
import type { Stores } from './stores.ts'

type CardParts = {
  config: Config
  keys: { managerSecret: Uint8Array; storeKey: Uint8Array }
  cardMasterKey: Uint8Array
  database: Database<Stores> & News & Pick<OpenDatabase<Stores>, 'buckets'>
  jobs: Jobs
  signer: Signer
  verify: VerifyEvent
  verifyHash: VerifyHash
  now: Clock
  /** Milliseconds of a clock that is never set. */
  steady: () => number
  identities: Identities
  /** Null where the ledger is elsewhere. */
  ledger: Ledger | null
  /** Queue an event of ours for every relay. */
  broadcast(tx: Stores, event: NostrEvent): Promise<void>
  /** Ask every relay from now on; the result asks them anew. */
  subscribe(subscription: Subscription): () => void
  log: Log
}

export type RunningCards = {
  routes(rateLimits: RateLimits): ReturnType<typeof routesOf>
  /** The operator's commands, for the control socket. */
  commands: Record<string, (asked: Record<string, unknown>) => Promise<unknown>>
  /** For each request over HTTP: the function takes its event in the transaction that accepts it. */
  accepting(event: NostrEvent): (tx: Stores & AfterCommit & Locking) => Promise<void>
  /** End the wait of requests for a ledger: their clients ask later. */
  stopWaiting(): void
  stop(): Promise<void>
}

/** Put the dependencies of cards and payments together, and start their workers. */
export async function startCards(parts: CardParts): Promise<RunningCards> {
  const { config, keys, cardMasterKey, database, jobs, signer, verify, verifyHash } = parts
  const { now, subscribe, log } = parts
  const cards: Cards = {
    database,
    signer,
    verify,
    verifyHash,
    now,
    storeKey: keys.storeKey,
    nip44: createNip44(keys.managerSecret),
    keys: createKeyDerivation(cardMasterKey),
    keyFingerprint: fingerprintOf(cardMasterKey),
    writers: config.cardWriters ?? new Set([signer.pubkey]),
    defaultLimits: config.defaultLimits,
    gatewayPubkey: config.gatewayPubkey,
    federationId: parts.identities.federationId,
    base: parts.identities.base,
    funds: createFunds(config.tokens, parts.ledger),
    payRequest: (pubkey, base) => payRequestOf(parts.identities, pubkey, base),
    newId: () => Bun.randomUUIDv7(),
    codeTries: config.rateLimit
      ? createCodeTries({ seconds: () => parts.steady() / 1000, shared: database.buckets })
      : noCodeTries,
    newK1: () => suuidOf(crypto.randomUUID()),
    // A warning, so that LOG_LEVEL does not hide it.
    keysRead: (reading) => log.warn('card.keys-read', reading),
  }
  for (const { name, token } of config.defaultLimits) {
    if (!config.tokens.has(token)) log.warn('cards.limit-of-no-token', { limit: name, token })
  }
  const waiting = createWaiting(jobs.after)
  // A request that waits looks at its payment from time to time, too.
  database.listen(paymentAnswered, { told: waiting.tell, missed: () => undefined })
  const ledgerPubkey = config.ledgerPubkey ?? signer.pubkey
  const { ledger, broadcast, steady } = parts
  const report = log.info
  const payments: Payments = {
    ...{ cards, database, ledger, ledgerPubkey, broadcast, waiting, steady, report },
  }
  const stopPayments = await startPaymentWorker({ payments, jobs, subscribe, log })
  const stopHolders = startHolderWorker({
    ...{ cards, database, jobs, subscribe, broadcast, rateLimit: config.rateLimit },
    seconds: () => steady() / 1000,
    failed: (cause) => log.warn('cards.failed', { cause }),
  })
  return {
    routes: (rateLimits) => routesOf(cards, payments, rateLimits),
    commands: { 'POST /cards': (asked) => operateCards(cards, asked as CardCommand) },
    accepting: (event) => async (tx) => {
      await configure(cards, tx, event)
      await takeAnswer(payments, tx, event)
    },
    stopWaiting: waiting.stop,
    async stop() {
      await stopHolders()
      await stopPayments()
    },
  }
}

function routesOf(cards: Cards, payments: Payments, rateLimits: RateLimits) {
  return [
    tagRoutes(cards, rateLimits),
    holderRoutes(cards, rateLimits),
    tapRoutes(cards, rateLimits),
    payRoutes(payments, rateLimits),
  ]
}
