import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import { NostrEventModel } from '../../coupons/models.ts'
import { documented } from '../../http/document.ts'
import { Elysia } from '../../http/elysia.ts'
import { factsOf } from '../../http/facts.ts'
import type { RateLimits } from '../../http/rate-limit.ts'
import { replyJson } from '../../http/reply.ts'
import { npubOf } from '../../nostr/keys.ts'
import { amountView } from '../ledger/amount.ts'
import { payExtended, payInvoice } from './pay.ts'
import { CardPaymentModel, PaidModel, PayModel, PendingModel } from './pay-models.ts'
import type { Payment } from './payment-store.ts'
import { awaitOutcome, type Payments, paymentOf, refusalOf } from './payments.ts'

const stateRefusals = ['k1-unknown', 'k1-used', 'k1-in-flight', 'k1-expired'] as const
const cardRefusals = [
  'card-unknown',
  'card-inactive',
  'card-disabled',
  'holder-changed',
  'delegation-over',
  'recipient-not-trusted',
  'token-unknown',
] as const
const ledgerRefusals = [
  'limit-exceeded',
  'funds-insufficient',
  'ledger-refused',
  'ledger-silent',
  'outbox-full',
  'clock-behind',
] as const

/** Paying with the k1 of a tap, and what came of it. */
export function payRoutes(payments: Payments, rateLimits: RateLimits) {
  /** A k1 that nobody was given counts as a failure of its sender. */
  const guarded = async <T>(request: Request, operation: () => Promise<T>): Promise<T> => {
    try {
      return await operation()
    } catch (refused) {
      const guess = refused instanceof Refusal && refused.code === 'k1-unknown'
      if (guess) rateLimits.failure(factsOf(request).address)
      throw refused
    }
  }

  /** OK is said only when the ledger has settled. */
  const answer = async (request: Request, operation: () => Promise<Payment>) => {
    const payment = await awaitOutcome(payments, await guarded(request, operation))
    const refusal = refusalOf(payment)
    if (refusal) throw refusal
    return payment.state === 'settled'
      ? replyJson(200, { status: 'OK' })
      : replyJson(202, { status: 'PENDING' })
  }

  return new Elysia({ name: 'card-pay', prefix: '/card/pay' })
    .post(
      '/',
      ({ request }) => answer(request, () => payExtended(payments, factsOf(request).object)),
      documented({
        summary: 'Pay a merchant from the card that was tapped',
        access: 'public',
        body: NostrEventModel,
        answers: { 200: PaidModel, 202: PendingModel },
        refusals: [
          'card-event-invalid',
          'card-event-stale',
          'card-content-invalid',
          'recipient-invalid',
          'tokens-invalid',
          ...stateRefusals,
          ...cardRefusals,
          ...ledgerRefusals,
        ],
      }),
    )
    .get('/', ({ request, query }) => answer(request, () => payInvoice(payments, query)), {
      query: PayModel,
      ...documented({
        summary: 'Pay an invoice from the card that was tapped (LUD-03)',
        access: 'public',
        acts: true,
        answers: { 200: PaidModel, 202: PendingModel },
        refusals: [
          'no-gateway',
          'invoice-invalid',
          'invoice-amountless',
          ...stateRefusals,
          ...cardRefusals,
          'invoice-expired',
          'invoice-taken',
          'amount-too-large',
          ...ledgerRefusals,
        ],
      }),
    })
    .get(
      '/:k1',
      async ({ request, params }) => {
        const payment = await guarded(request, () => paymentOf(payments, params.k1))
        return replyJson(200, view(payment, payments.cards.now()))
      },
      documented({
        summary: 'What came of a payment',
        access: 'public',
        answers: { 200: CardPaymentModel },
        refusals: ['k1-unknown', 'payment-unknown'],
      }),
    )
}

function view(payment: Payment, now: number) {
  const { state, late, recipient, amounts, startId, createdAt, endedAt } = payment
  const refusal = refusalOf(payment)
  const waiting = state === 'pending' && now - createdAt >= limits.paymentWaitSeconds
  return {
    status: refusal ? 'ERROR' : state === 'settled' ? 'OK' : 'PENDING',
    state: waiting ? 'unknown' : state,
    ...(refusal && { reason: refusal.sentence, code: refusal.code }),
    late,
    recipient: npubOf(recipient),
    tokens: Object.fromEntries([...amounts].map(([name, amount]) => [name, amountView(amount)])),
    start: startId,
    createdAt,
    endedAt,
  }
}
