import { hash } from 'node:crypto'
import { limits } from '../../../base/limits.ts'
import { httpStatusOf, Refusal } from '../../../base/refusal.ts'
import type { Locking } from '../../../db/database.ts'
import type { NostrEvent } from '../../../nostr/event.ts'
import { parsePubkey } from '../../../nostr/keys.ts'
import { kinds } from '../../../nostr/kinds.ts'
import { parseAmounts } from '../../ledger/amount.ts'
import { book, examine } from '../../ledger/settle.ts'
import { type Transaction, transactionTypes } from '../../ledger/transaction.ts'
import type { Card } from '../card-store.ts'
import { type Delegation, openAt, openDelegation } from '../delegation.ts'
import { requireWorking } from '../read-tap.ts'
import { readCardRequest } from '../requests.ts'
import type { Scan } from '../scan-store.ts'
import { parseInvoice } from './invoice.ts'
import type { Payment } from './payment-store.ts'
import { type PaymentStores, type Payments, parseK1 } from './payments.ts'

/** A payment that is asked for with a k1. */
type Order = {
  k1: string
  form: Scan['form']
  /** Names the request, in hex: a repetition has the same one. */
  request: string
  recipient: string
  amounts: ReadonlyMap<string, bigint>
  /** The tag of the start event that names its cause. */
  cause: string[]
  invoice: { paymentHash: string; expiresAt: number } | null
}

/** Thousandths of a satoshi. */
const lightningToken = 'BTC'

/**
 * Pay a merchant from a card: the second step of an extended scan. The result is the payment, also when
 * it was refused; the same event gets the same one. Refuses `card-event-invalid`, `card-event-stale`,
 * `card-content-invalid`, `k1-unknown`, `recipient-invalid`, `tokens-invalid`, and as `pay`.
 */
export async function payExtended(payments: Payments, value: unknown): Promise<Payment> {
  const { event, content } = readCardRequest(payments.cards, value, { type: null })
  const { k1, npub, pubkey, tokens } = content
  const named = npub ?? pubkey
  const recipient = typeof named === 'string' ? parsePubkey(named) : null
  if (recipient === null) throw new Refusal('recipient-invalid')
  const amounts = parseAmounts(tokens)
  if (!amounts) throw new Refusal('tokens-invalid')
  return pay(payments, {
    k1: parseK1(k1),
    form: 'extended',
    request: event.id,
    recipient,
    amounts,
    cause: ['e', event.id],
    invoice: null,
  })
}

/**
 * Pay an invoice from a card, through the lightning gateway (LUD-03). Refuses `no-gateway`,
 * `k1-unknown`, `invoice-invalid`, `invoice-amountless`, and as `pay`.
 */
export async function payInvoice(
  payments: Payments,
  { k1, pr }: { k1?: unknown; pr?: unknown },
): Promise<Payment> {
  const { gatewayPubkey, funds } = payments.cards
  if (gatewayPubkey === null || !funds.tokens().includes(lightningToken)) {
    throw new Refusal('no-gateway')
  }
  const credential = parseK1(k1)
  const { text, amount, ...invoice } = parseInvoice(String(pr ?? ''))
  return pay(payments, {
    k1: credential,
    form: 'standard',
    request: hash('sha256', text),
    recipient: gatewayPubkey,
    amounts: new Map([[lightningToken, amount]]),
    cause: ['bolt11', text],
    invoice,
  })
}

/**
 * Pay in one transaction. The k1 is taken and the limits are reserved; then the embedded ledger settles,
 * or the start event for a ledger elsewhere is queued. The same request again gets its outcome. A
 * refusal by `check` is stored with the k1, which stays free. Refuses `k1-unknown`, `k1-used`,
 * `k1-in-flight`, `k1-expired`.
 */
function pay(payments: Payments, order: Order): Promise<Payment> {
  const { cards } = payments
  const { k1, invoice } = order
  const roots = [{ scan: k1 }, ...(invoice ? [{ invoice: invoice.paymentHash }] : [])]
  return payments.database.transact({ roots }, async (tx) => {
    const known = await tx.payments.find(order.k1, order.request)
    if (known) return known
    const now = cards.now()
    const scan = requireFree(await tx.scans.find(order.k1), order.form, now)
    const paymentHash = order.invoice?.paymentHash ?? null
    const asked = { ...order, cardId: scan.cardId, holder: scan.holder, paymentHash }
    let checked: Checked
    try {
      checked = await check(payments, tx, { order, scan, now })
    } catch (cause) {
      if (!(cause instanceof Refusal) || httpStatusOf(cause) >= 500) throw cause
      if ((await tx.payments.refusals(order.k1)) >= limits.paymentRefusalsMax) throw cause
      return tx.payments.insertRefused(asked, { code: cause.code, message: cause.words, now })
    }
    if (!(await tx.scans.take(scan.id, now))) throw new Refusal('k1-used')
    // From here it must succeed: the k1, the limits and the money move together.
    const { start, transaction } = checked
    const expiresAt = now + limits.paymentSeconds
    const about = { id: start.id, ledger: payments.ledgerPubkey, expiresAt }
    const state = payments.ledger ? 'settled' : 'pending'
    const payment = await tx.payments.insert(asked, about, { state, now })
    await payments.broadcast(tx, start)
    if (!payments.ledger || !transaction) return payment
    await book(payments.ledger, tx, { start, transaction, now })
    await tx.scans.settle(scan.id, 'used')
    return payment
  })
}

function requireFree(scan: Scan | null, form: Scan['form'], now: number): Scan {
  if (!scan || scan.form !== form) throw new Refusal('k1-unknown')
  if (scan.state === 'used') throw new Refusal('k1-used')
  if (scan.state === 'in-flight') throw new Refusal('k1-in-flight')
  if (scan.expiresAt <= now) throw new Refusal('k1-expired')
  return scan
}

type Checked = { start: NostrEvent; transaction: Transaction | null }

/**
 * Check everything that may have changed since the tap. Refuses `card-unknown`, `card-inactive`,
 * `card-disabled`, `holder-changed`, `delegation-over`, `recipient-not-trusted`, `token-unknown`,
 * `invoice-expired`, `invoice-taken`, `amount-too-large`, `limit-exceeded`, and as the embedded
 * ledger does. Writes nothing.
 */
async function check(
  payments: Payments,
  tx: PaymentStores & Locking,
  { order, scan, now }: { order: Order; scan: Scan; now: number },
): Promise<Checked> {
  const { cards } = payments
  const card = requireWorking(await tx.cards.findById(scan.cardId))
  if (card.holder !== scan.holder) throw new Refusal('holder-changed')
  const delegation = openDelegation(cards.storeKey, card)
  if (!delegation || !openAt(delegation.window, now)) throw new Refusal('delegation-over')
  if (!(await tx.holders.trusts(card.holder, order.recipient))) {
    throw new Refusal('recipient-not-trusted')
  }
  const known = cards.funds.tokens()
  if ([...order.amounts.keys()].some((token) => !known.includes(token))) {
    throw new Refusal('token-unknown')
  }
  if (order.invoice) {
    if (order.invoice.expiresAt <= now) throw new Refusal('invoice-expired')
    if (await tx.payments.invoiceTaken(order.invoice.paymentHash))
      throw new Refusal('invoice-taken')
    for (const [token, amount] of order.amounts) {
      if (amount > (scan.maxima.get(token) ?? 0n)) throw new Refusal('amount-too-large')
    }
  }
  await requireWithinLimits(tx, card, order.amounts, now)
  const start = createStart(payments, order, { holder: card.holder, delegation, now })
  const { ledger } = payments
  return { start, transaction: ledger && (await examine(ledger, tx, start, now)) }
}

async function requireWithinLimits(
  tx: PaymentStores,
  { id: cardId, holder }: Pick<Card, 'id'> & { holder: string },
  amounts: Order['amounts'],
  now: number,
): Promise<void> {
  const rows = await tx.holders.limitsOf(cardId)
  for (const [token, amount] of amounts) {
    for (const row of rows.filter((limit) => limit.token === token)) {
      const spending = { cardId, holder, token, since: now - row.delta }
      const before = row.delta === 0 ? 0n : await tx.payments.spent(spending)
      if (before + amount > row.amount) throw new Refusal('limit-exceeded')
    }
  }
}

type Grant = { holder: string; delegation: Delegation; now: number }

/** The start event for the ledger, signed by the manager key in the holder's name (NIP-26). */
function createStart(
  { cards, ledgerPubkey }: Payments,
  { recipient, amounts, cause }: Order,
  { holder, delegation: { conditions, token }, now }: Grant,
): NostrEvent {
  const tokens = Object.fromEntries(
    [...amounts].map(([name, amount]) => [name, amountInContent(amount)]),
  )
  return cards.signer.sign({
    kind: kinds.walletRegular,
    created_at: now,
    tags: [
      ['p', ledgerPubkey],
      ['p', recipient],
      ['t', transactionTypes.start],
      ['delegation', holder, conditions, token],
      ['expiration', String(now + limits.paymentSeconds)],
      cause,
    ],
    content: JSON.stringify({ tokens }),
  })
}

/** An amount as a number where it can be one: some ledgers read no digits in a string. */
function amountInContent(amount: bigint): number | string {
  return amount <= Number.MAX_SAFE_INTEGER ? Number(amount) : String(amount)
}
