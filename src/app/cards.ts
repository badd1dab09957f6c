import { Buckets } from '../base/buckets.ts'
import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import { suuidOf } from '../crypto/bytes.ts'
import { createNip44 } from '../crypto/nip44.ts'
import type { AfterCommit, Database, Locking } from '../db/database.ts'
import type { Jobs } from '../db/jobs.ts'
import type { Subscription } from '../gateway/relays-conversation.ts'
import type { RateLimits } from '../http/rate-limit.ts'
import type { VerifyHash } from '../nostr/delegation.ts'
import type { NostrEvent, Signer, VerifyEvent } from '../nostr/event.ts'
import { kinds } from '../nostr/kinds.ts'
import { createCodeTries, noCodeTries } from '../wallet/cards/code-tries.ts'
import { configChange, configure } from '../wallet/cards/holders/configure.ts'
import { holderRoutes } from '../wallet/cards/holders/routes.ts'
import { payRoutes } from '../wallet/cards/payments/routes.ts'
import type { Cards, Funds } from '../wallet/cards/service.ts'
import { createKeyDerivation } from '../wallet/cards/tag.ts'
import { type CardCommand, operateCards } from '../wallet/cards/tags/operator.ts'
import { tagRoutes } from '../wallet/cards/tags/routes.ts'
import { tapRoutes } from '../wallet/cards/taps/routes.ts'
import { createConsumer } from '../wallet/consumer.ts'
import { payRequest } from '../wallet/identities/pay-request.ts'
import type { Identities } from '../wallet/identities/service.ts'
import type { Ledger } from '../wallet/ledger/settle.ts'
import type { Config } from './config.ts'
import { fingerprintOf } from './keyring.ts'
import { type RunningPayments, startPayments } from './payments.ts'
import type { Stores } from './stores.ts'

type CardParts = {
  config: Config
  keys: { managerSecret: Uint8Array; storeKey: Uint8Array }
  cardMasterKey: Uint8Array
  database: Database<Stores>
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
  /** The gateway's: queue an event of ours for every relay; ask every relay for good. */
  broadcast(tx: Stores, event: NostrEvent): Promise<void>
  subscribe(subscription: Subscription): () => void
  log: Log
}

export type RunningCards = {
  routes(rateLimits: RateLimits): ReturnType<typeof routesOf>
  /** The operator's, for the control socket. */
  commands: Record<string, (asked: Record<string, unknown>) => Promise<unknown>>
  payments: RunningPayments
  /** An event was accepted over HTTP: what it does here, in the same transaction. */
  accepted(tx: Stores & AfterCommit & Locking, event: NostrEvent): Promise<void>
  stop(): Promise<void>
}

/** Put together what the operations on cards work with, and take what holders want from relays. */
export async function startCards(parts: CardParts): Promise<RunningCards> {
  const { config, keys, cardMasterKey, database, signer, verify, verifyHash, now, log } = parts
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
    funds: fundsOf(config, parts.ledger),
    payRequest: payRequestOf(database, parts.identities),
    newId: () => Bun.randomUUIDv7(),
    codeTries: config.rateLimit ? createCodeTries(() => parts.steady() / 1000) : noCodeTries,
    newK1: () => suuidOf(crypto.randomUUID()),
    // A warning: LOG_LEVEL hides no reading of keys from who looks for what is out of the ordinary.
    keysRead: (reading) => log.warn('card.keys-read', reading),
  }
  for (const { name, token } of config.defaultLimits) {
    if (!config.tokens.has(token)) log.warn('cards.limit-of-no-token', { limit: name, token })
  }
  const accepted = async (tx: Stores & AfterCommit & Locking, event: NostrEvent) => {
    await configure(cards, tx, event)
    await payments.accepted(tx, event)
  }
  const ledgerPubkey = config.ledgerPubkey ?? signer.pubkey
  const payments = await startPayments({ ...parts, cards, ledgerPubkey })
  const stopListening = listen(cards, parts)
  return {
    routes: (rateLimits) => routesOf(cards, payments, rateLimits),
    payments,
    accepted,
    commands: { 'POST /cards': (asked) => operateCards(cards, asked as CardCommand) },
    async stop() {
      await stopListening()
      await payments.stop()
    },
  }
}

function routesOf(cards: Cards, { payments }: RunningPayments, rateLimits: RateLimits) {
  return [
    tagRoutes(cards, rateLimits),
    holderRoutes(cards, rateLimits),
    tapRoutes(cards, rateLimits),
    payRoutes(payments, rateLimits),
  ]
}

/** What the ledger in here knows; of one elsewhere nothing is known beforehand. */
function fundsOf({ tokens }: Config, ledger: Ledger | null): Funds {
  return {
    tokens: () => [...tokens.keys()],
    balance: async (tx: Stores, pubkey, token) =>
      ledger ? tx.ledger.balance(token, pubkey) : null,
    spent: (tx: Stores, card) => tx.payments.spent(card),
  }
}

function payRequestOf(database: Database<Stores>, identities: Identities): Cards['payRequest'] {
  return async (pubkey, base) => {
    const account = await database.snapshot((tx) => tx.accounts.findByKey(pubkey))
    if (!account?.lud16) return null
    return payRequest(identities, account.name, base)
  }
}

/** Listen to relays; how to stop. */
function listen(
  cards: Cards,
  { database, jobs, subscribe, config, steady, log }: CardParts,
): () => Promise<void> {
  const byKey = new Buckets({
    burst: limits.cardChangeBurst,
    perSecond: limits.cardChangePerSecond,
    entriesMax: limits.relayQuotasMax,
  })
  const consumer = createConsumer<Stores>({
    database,
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
    // Whoever holds no card is told apart by one look at an index.
    admitted: async ({ pubkey }: NostrEvent) =>
      !config.rateLimit || byKey.take(pubkey, steady() / 1000) === 0,
    async consume(tx, event) {
      await configure(cards, tx, event)
    },
    failed: (cause) => log.warn('cards.failed', { cause }),
  })
  consumer.askWith(subscribe(consumer.subscription))
  return () => consumer.stop()
}
