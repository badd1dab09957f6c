import { limits } from '../../../base/limits.ts'
import { Refusal } from '../../../base/refusal.ts'
import { parseForeignText } from '../../../base/words.ts'
import type { AfterCommit, Database, Locking } from '../../../db/database.ts'
import { type NostrEvent, tagValue } from '../../../nostr/event.ts'
import type { Filter } from '../../../nostr/filter.ts'
import { kinds } from '../../../nostr/kinds.ts'
import type { Ledger, LedgerStores } from '../../ledger/settle.ts'
import { parseContent, transactionTypes } from '../../ledger/transaction.ts'
import type { CardStores, Cards } from '../service.ts'
import type { Payment, PaymentStore } from './payment-store.ts'
import { paymentAnswered, type Waiting } from './waiting.ts'

export type PaymentStores = CardStores & LedgerStores & { payments: PaymentStore }

/** Dependencies of payments by card; put together by `app/cards.ts`. */
export type Payments = {
  cards: Cards
  database: Database<PaymentStores>
  /** The embedded ledger; null where it is elsewhere. */
  ledger: Ledger | null
  /** The ledger's key in hex: the first `p` of start events. */
  ledgerPubkey: string
  /** Queue an event of ours for every relay, in the transaction that causes it. */
  // A method, so that its implementation may use stores of the transaction that this folder does not know.
  broadcast(tx: PaymentStores, event: NostrEvent): Promise<void>
  waiting: Waiting
  /** Milliseconds of a clock that is never set. */
  steady: () => number
  /** A line for the operator, without any secret. */
  report: (event: string, fields: Record<string, string>) => void
}

/** Wait for the answer of a ledger elsewhere; the result is the payment as it is then. */
export async function awaitOutcome(payments: Payments, payment: Payment): Promise<Payment> {
  const { database, waiting, steady } = payments
  const end = steady() + limits.paymentWaitSeconds * 1000
  let current = payment
  while (current.state === 'pending' && current.startId !== null && !waiting.stopped()) {
    const remaining = (end - steady()) / 1000
    if (remaining <= 0) break
    // Read once a second besides: the answer may have come before this wait began.
    await waiting.answered(current.startId, Math.min(remaining, 1))
    current = await database.snapshot((tx) => tx.payments.findById(payment.id))
  }
  return current
}

/** The refusal of a payment, or null when it was not refused. */
export function refusalOf({ state, code, message }: Payment): Refusal | null {
  if (state === 'released') return new Refusal('ledger-silent')
  return state === 'refused' && code !== null ? new Refusal(code, {}, message) : null
}

/** The payment of a k1. Refuses `k1-unknown`, and `payment-unknown` while nobody has paid with it. */
export async function paymentOf({ database }: Payments, text: unknown): Promise<Payment> {
  const k1 = parseK1(text)
  return database.snapshot(async (tx) => {
    const found = await tx.payments.findByK1(k1)
    if (found) return found
    throw new Refusal((await tx.scans.find(k1)) ? 'payment-unknown' : 'k1-unknown')
  })
}

/** 128 bits in base 64. Refuses `k1-unknown`. */
export function parseK1(value: unknown): string {
  if (typeof value !== 'string' || !/^[\w-]{22}$/.test(value)) throw new Refusal('k1-unknown')
  return value
}

/**
 * Take an event that may be the answer of a ledger elsewhere; its id and signature were verified. Its ok
 * commits the reservation, its error releases it. A late answer counts, too, and is marked. Requests
 * that wait for it hear of it once it is on disk.
 */
export async function takeAnswer(
  { cards, ledger, ledgerPubkey, report }: Payments,
  tx: PaymentStores & AfterCommit & Locking,
  event: NostrEvent,
): Promise<void> {
  const type = tagValue(event, 't')
  const ok = type === transactionTypes.ok
  if (ledger || event.pubkey !== ledgerPubkey || event.kind !== kinds.walletRegular) return
  if (!ok && type !== transactionTypes.error) return
  // The ledger sets the first `e`; it copies the others from the start event.
  const startId = tagValue(event, 'e') ?? ''
  const found = hex32.test(startId) ? await tx.payments.findByStart(startId, event.pubkey) : null
  if (!found) return
  await tx.lock({ payment: found.id })
  const payment = await tx.payments.findById(found.id)
  // A settled payment stays settled: the money has moved.
  if (payment.state === 'settled') return
  if (payment.state === 'refused' && !ok) return
  const late = payment.state !== 'pending'
  const outcome = ok
    ? { state: 'settled' as const, code: null, message: null, late }
    : { state: 'refused' as const, code: 'ledger-refused' as const, message: wordsOf(event), late }
  await tx.payments.end(payment.id, outcome, cards.now())
  tx.afterCommit(() => report('payment.answered', { start: startId, answer: event.id }))
  tx.tell(paymentAnswered, startId)
}

const hex32 = /^[0-9a-f]{64}$/

/** The messages of a ledger, or null. */
function wordsOf({ content }: NostrEvent): string | null {
  const messages = parseContent(content)?.messages
  const list = Array.isArray(messages) ? messages : []
  const words = list.filter((message) => typeof message === 'string').join(' ')
  return parseForeignText(words, limits.ledgerWordsCharsMax)
}

/** Filters for relays: the ledger's recent answers, and those that payments wait for. */
export function answerFilters(
  { cards, ledgerPubkey }: Payments,
  open: readonly string[],
): Filter[] {
  const answers = {
    kinds: [kinds.walletRegular],
    authors: [ledgerPubkey],
    limit: limits.fetchMax,
  }
  const types: [string, string[]] = ['t', [transactionTypes.ok, transactionTypes.error]]
  const recent = {
    ...answers,
    since: cards.now() - limits.transactionSeconds,
    tags: new Map([types]),
  }
  const asked = { ...answers, tags: new Map([types, ['e', [...open]] as [string, string[]]]) }
  return open.length > 0 ? [recent, asked] : [recent]
}

/** Release reservations whose start event expired without an answer; the result is their number. */
export async function releaseUnanswered({ cards, database }: Payments): Promise<number> {
  const before = cards.now() - limits.paymentGraceSeconds
  const overdue = await database.snapshot((tx) => tx.payments.overdue(before, limits.sweepRowsMax))
  if (overdue.length === 0) return 0
  const roots = overdue.map((id) => ({ payment: id }))
  return database.transact({ roots }, async (tx) => {
    const now = cards.now()
    let released = 0
    for (const id of overdue) {
      // Meanwhile the answer may have come.
      if ((await tx.payments.findById(id)).state !== 'pending') continue
      const outcome = { state: 'released' as const, code: null, message: null, late: false }
      await tx.payments.end(id, outcome, now)
      released++
    }
    return released
  })
}
