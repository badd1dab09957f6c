import { Buckets } from '../base/buckets.ts'
import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import { OperatorError } from '../base/operator-error.ts'
import { Refusal } from '../base/refusal.ts'
import type { Database } from '../db/database.ts'
import type { Subscription } from '../gateway/relays-conversation.ts'
import type { VerifyHash } from '../nostr/delegation.ts'
import type { NostrEvent, Signer } from '../nostr/event.ts'
import { kinds } from '../nostr/kinds.ts'
import { createConsumer } from '../wallet/consumer.ts'
import { issue } from '../wallet/ledger/issue.ts'
import { type Ledger, publishOwed, settle } from '../wallet/ledger/settle.ts'
import type { Token } from '../wallet/ledger/token.ts'
import { addresses, transactionTypes } from '../wallet/ledger/transaction.ts'
import type { Stores } from './stores.ts'

type LedgerParts = {
  tokens: ReadonlyMap<string, Token>
  /** Hex of a ledger elsewhere, and of a lightning gateway; or null. */
  ledgerPubkey: string | null
  gatewayPubkey: string | null
  database: Database<Stores>
  signer: Signer
  verifyHash: VerifyHash
  now: Clock
  /** Milliseconds of a clock that is never set. */
  steady: () => number
  /** False: `RATE_LIMIT=off`. */
  rateLimit: boolean
  /** The gateway's: queue an event of ours for every relay; ask every relay for good. */
  broadcast(tx: Stores, event: NostrEvent): Promise<void>
  subscribe(subscription: Subscription): () => void
  log: Log
}

export type RunningLedger = {
  /** What an operator can have done, for the control socket. */
  commands: Record<string, (asked: Record<string, unknown>) => Promise<unknown>>
  /** Null where the ledger is elsewhere. */
  ledger: Ledger | null
  /** An event was accepted over HTTP: what it does here, in the same transaction. Refuses `rate-limited`. */
  accepted(tx: Stores, event: NostrEvent): Promise<void>
  stop(): Promise<void>
}

/** The operator's tokens are not what the accounts rest on; the message says which. */
export class TokenError extends Error {}

/** Put the ledger together, and what it hears from relays. */
export async function startLedger(parts: LedgerParts): Promise<RunningLedger> {
  const { database, signer, verifyHash, now, log, broadcast } = parts
  const embedded = parts.ledgerPubkey === null || parts.ledgerPubkey === signer.pubkey
  await nameKeys(parts)
  if (!embedded) return elsewhere
  await declareTokens(parts)
  const ledger: Ledger = { signer, verifyHash, tokens: parts.tokens, broadcast }
  const admission = createAdmission(parts)
  const consumer = createConsumer<Stores>({
    database,
    filters: () => [
      {
        kinds: [kinds.walletRegular],
        since: now() - limits.transactionSeconds,
        limit: limits.fetchMax,
        tags: new Map([
          ['p', [signer.pubkey]],
          ['t', [transactionTypes.start]],
        ]),
      },
    ],
    admitted: admission.fromRelay,
    async consume(tx, event) {
      await settle(ledger, tx, event, now())
    },
    failed: (cause) => log.warn('ledger.failed', { cause }),
  })
  consumer.askWith(parts.subscribe(consumer.subscription))
  const owed = startOwed(ledger, parts)

  return {
    ledger,
    commands: {
      'POST /issue': ({ token, to, amount, memo }) =>
        issue(
          { ledger, database, now, newId: () => Bun.randomUUIDv7() },
          {
            token: String(token),
            to: String(to),
            amount: String(amount),
            memo: typeof memo === 'string' ? memo : null,
          },
        ),
    },
    async accepted(tx, event) {
      await admission.published(tx, event)
      await settle(ledger, tx, event, now())
    },
    async stop() {
      await owed()
      await consumer.stop()
    },
  }
}

/** Whoever takes part in payments writes events here, also before he owns anything. */
async function nameKeys(parts: LedgerParts): Promise<void> {
  const { database, tokens, ledgerPubkey, gatewayPubkey } = parts
  const issuers = [...tokens.values()].map(({ issuer }) => issuer)
  const others = [ledgerPubkey, gatewayPubkey].filter((key) => key !== null)
  const keys = new Set([...issuers, ...others])
  // A start that changes nothing does not wait for the disk.
  const before = new Set(await database.snapshot((tx) => tx.members.named()))
  if (before.symmetricDifference(keys).size === 0) return
  await database.transact((tx) => tx.members.setNamed([...keys]))
}

/** The ledger is not here. */
const elsewhere: RunningLedger = {
  ledger: null,
  commands: {
    'POST /issue': async () => {
      throw new OperatorError('LEDGER_PUBKEY names another ledger: tokens are issued there')
    },
  },
  accepted: async () => undefined,
  stop: async () => undefined,
}

/** The terms of a token are those that its accounts were opened with. */
async function declareTokens({ database, tokens }: LedgerParts): Promise<void> {
  const declared = await database.snapshot((tx) => tx.ledger.tokens())
  for (const token of tokens.values()) {
    if (declared.some((known) => Bun.deepEquals(known, token))) continue
    if (await database.transact((tx) => tx.ledger.declare(token))) continue
    throw new TokenError(
      `TOKENS: ${token.name} has accounts with other decimals or another issuer: set those again, or give the new one another name`,
    )
  }
}

/** Anyone may send: each key has a share of what relays bring, and whoever has nothing here shares one for all ways. */
function createAdmission({ rateLimit, steady, signer, tokens, database }: LedgerParts) {
  const byKey = new Buckets({
    burst: limits.transactionKeyBurst,
    perSecond: limits.transactionKeyPerSecond,
    entriesMax: limits.relayQuotasMax,
  })
  const strangers = new Buckets({
    burst: limits.transactionStrangerBurst,
    perSecond: limits.transactionStrangerPerSecond,
    entriesMax: 1,
  })
  const ours = new Set([signer.pubkey, ...[...tokens.values()].map(({ issuer }) => issuer)])
  const strangersWait = () => strangers.take('', steady() / 1000)
  return {
    async fromRelay({ id, pubkey }: NostrEvent): Promise<boolean> {
      // Our own come back from every relay that they were given to.
      if (await database.snapshot((tx) => tx.ledger.outcome(id))) return false
      if (!rateLimit || ours.has(pubkey)) return true
      if (byKey.take(pubkey, steady() / 1000) > 0) return false
      const known = await database.snapshot((tx) => tx.ledger.accountsOf(pubkey))
      return known.length > 0 || strangersWait() === 0
    },

    /** Over HTTP, where keys have quotas already. Refuses `rate-limited`. */
    async published(tx: Stores, event: NostrEvent): Promise<void> {
      if (!rateLimit || !addresses(event, signer.pubkey) || ours.has(event.pubkey)) return
      if (await tx.ledger.outcome(event.id)) return
      if ((await tx.ledger.accountsOf(event.pubkey)).length > 0) return
      const wait = strangersWait()
      if (wait > 0) throw new Refusal('rate-limited', { retryAfter: Math.ceil(wait) })
    },
  }
}

/** Send balance events that are owed, a few a second; how to stop. */
function startOwed(ledger: Ledger, { database, now, log }: LedgerParts): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    running = database
      .snapshot((tx) => tx.ledger.stale(now(), 1))
      .then(async (stale) => {
        if (stale.length > 0) await database.transact((tx) => publishOwed(ledger, tx, now()))
      })
      .catch((cause: unknown) => log.warn('ledger.failed', { cause }))
  }, limits.owedBalancesSeconds * 1000)
  return async () => {
    clearInterval(timer)
    await running
  }
}
