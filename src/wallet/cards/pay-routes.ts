import { limits } from '../../base/limits.ts'
import { Refusal, type RefusalCode } from '../../base/refusal.ts'
import { NostrEventModel } from '../../coupons/models.ts'
import { carry } from '../../http/carry.ts'
import { documented } from '../../http/document.ts'
import { Elysia } from '../../http/elysia.ts'
import { factsOf } from '../../http/facts.ts'
import type { RateLimits } from '../../http/rate-limit.ts'
import { replyJson } from '../../http/reply.ts'
import { npubOf } from '../../nostr/keys.ts'
import { amountView } from '../ledger/amount.ts'
import { k1BudgetOf, requestBudgetOf } from './budget.ts'
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

/** What a `k1` that was given may come to: no affair of others behind the address. */
const ofTheK1: readonly RefusalCode[] = ['k1-used', 'k1-in-flight', 'k1-expired', 'payment-unknown']

/** Paying with the k1 of a tap, and what came of it. */
export function payRoutes(payments: Payments, rateLimits: RateLimits) {
  const { cards } = payments
  /** Run what a k1 pays for; one that nobody was given counts as a failure of its sender. */
  const guarded = async <T>(
    request: Request,
    budget: () => ReturnType<typeof k1BudgetOf>,
    operation: () => Promise<T>,
  ): Promise<T> => {
    await carry(rateLimits, request, budget)
    try {
      return await operation()
    } catch (refused) {
      const code = refused instanceof Refusal ? refused.code : null
      if (code === 'k1-unknown') rateLimits.failure(factsOf(request).address)
      if (code && ofTheK1.includes(code)) factsOf(request).known = true
      throw refused
    }
  }

  /** OK is said only when the ledger has settled. */
  const answer = async (
    request: Request,
    budget: () => ReturnType<typeof k1BudgetOf>,
    operation: () => Promise<Payment>,
  ) => {
    const payment = await awaitOutcome(payments, await guarded(request, budget, operation))
    const refusal = refusalOf(payment)
    // It was a k1 that held, and this is what became of it.
    if (refusal) factsOf(request).known = true
    if (refusal) throw refusal
    return payment.state === 'settled'
      ? replyJson(200, { status: 'OK' })
      : replyJson(202, { status: 'PENDING' })
  }

  return new Elysia({ name: 'card-pay', prefix: '/card/pay' })
    .post(
      '/',
      ({ request }) => {
        const { object } = factsOf(request)
        return answer(
          request,
          () => requestBudgetOf(cards, object),
          () => payExtended(payments, object),
        )
      },
      documented({
        summary: 'Pay a merchant from the card that was tapped',
        access: 'public',
        carrier: 'k1',
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
    .get(
      '/',
      ({ request, query }) =>
        answer(
          request,
          () => k1BudgetOf(cards, query.k1),
          () => payInvoice(payments, query),
        ),
      {
        query: PayModel,
        ...documented({
          summary: 'Pay an invoice from the card that was tapped (LUD-03)',
          access: 'public',
          carrier: 'k1',
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
      },
    )
    .get(
      '/:k1',
      async ({ request, params }) => {
        const payment = await guarded(
          request,
          () => k1BudgetOf(cards, params.k1),
          () => paymentOf(payments, params.k1),
        )
        return replyJson(200, view(payment, payments.cards.now()))
      },
      documented({
        summary: 'What came of a payment',
        access: 'public',
        carrier: 'k1',
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
