import { limits } from '../../../base/limits.ts'
import { sentenceOf } from '../../../base/refusal.ts'
import { createGuard } from '../../../http/carry.ts'
import { Elysia } from '../../../http/elysia.ts'
import { gatewayEnvelope } from '../../../http/envelope.ts'
import type { RateLimits } from '../../../http/rate-limit.ts'
import { replyJson } from '../../../http/reply.ts'
import { contextOf } from '../../../http/request-context.ts'
import { feature, route } from '../../../http/route.ts'
import { npubOf } from '../../../nostr/keys.ts'
import { NostrEventModel } from '../../../nostr/models.ts'
import { amountView } from '../../ledger/amount.ts'
import { k1BudgetOf, requestBudgetOf } from '../budget.ts'
import { CardPaymentModel, PaidModel, PayModel, PendingModel } from './models.ts'
import { payExtended, payInvoice } from './pay.ts'
import type { Payment } from './payment-store.ts'
import { awaitOutcome, type Payments, paymentOf, refusalOf } from './payments.ts'

const spentRefusals = ['k1-used', 'k1-in-flight', 'k1-expired'] as const
const cardRefusals = [
  'card-unknown',
  'card-inactive',
  'card-disabled',
  'holder-changed',
  'delegation-over',
  'recipient-not-trusted',
  'token-unknown',
] as const
const invoiceRefusals = ['invoice-expired', 'invoice-taken', 'amount-too-large'] as const
/** Refusals that the outcome of a payment may be. */
const spendingRefusals = [
  'limit-exceeded',
  'funds-insufficient',
  'ledger-refused',
  'ledger-silent',
] as const
const ledgerRefusals = [...spendingRefusals, 'outbox-full', 'clock-behind'] as const

const shared = feature({ tag: 'Cards', envelope: gatewayEnvelope })

/** Payments with the k1 of a tap, and their outcome. */
export function payRoutes(payments: Payments, rateLimits: RateLimits) {
  const { cards } = payments
  const guarded = createGuard(rateLimits)

  /** OK is said only when the ledger has settled. */
  const answer = async (
    request: Request,
    operation: () => Promise<Payment>,
    find: () => ReturnType<typeof k1BudgetOf>,
  ) => {
    const payment = await awaitOutcome(payments, await guarded(request, operation, find))
    const refusal = refusalOf(payment)
    if (refusal) {
      // The k1 was a known one, so the refusal is no guess.
      contextOf(request).known = true
      throw refusal
    }
    return payment.state === 'settled'
      ? replyJson(200, { status: 'OK' })
      : replyJson(202, { status: 'PENDING' })
  }

  return new Elysia({ name: 'card-pay', prefix: '/card/pay', ...shared })
    .post(
      '/',
      ({ request }) => {
        const { object } = contextOf(request)
        return answer(
          request,
          () => payExtended(payments, object),
          () => requestBudgetOf(cards, object),
        )
      },
      route({
        summary: 'Pay a merchant from the card that was tapped',
        access: 'public',
        carrier: 'k1',
        guesses: ['k1-unknown'],
        holds: spentRefusals,
        body: NostrEventModel,
        answers: { 200: PaidModel, 202: PendingModel },
        refusals: [
          'card-event-invalid',
          'card-event-stale',
          'card-content-invalid',
          'recipient-invalid',
          'tokens-invalid',
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
          () => payInvoice(payments, query),
          () => k1BudgetOf(cards, query.k1),
        ),
      {
        query: PayModel,
        ...route({
          summary: 'Pay an invoice from the card that was tapped (LUD-03)',
          access: 'public',
          carrier: 'k1',
          guesses: ['k1-unknown'],
          holds: spentRefusals,
          acts: true,
          needs: ['k1', 'pr'],
          answers: { 200: PaidModel, 202: PendingModel },
          refusals: [
            'no-gateway',
            'invoice-invalid',
            'invoice-amountless',
            ...cardRefusals,
            ...invoiceRefusals,
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
          () => paymentOf(payments, params.k1),
          () => k1BudgetOf(cards, params.k1),
        )
        return replyJson(200, view(payment, payments.cards.now()))
      },
      route({
        summary: 'What came of a payment',
        access: 'public',
        carrier: 'k1',
        guesses: ['k1-unknown'],
        holds: ['payment-unknown'],
        answers: { 200: CardPaymentModel },
        told: [...cardRefusals, ...invoiceRefusals, ...spendingRefusals],
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
    ...(refusal && { reason: sentenceOf(refusal), code: refusal.code }),
    late,
    recipient: npubOf(recipient),
    tokens: Object.fromEntries([...amounts].map(([name, amount]) => [name, amountView(amount)])),
    start: startId,
    createdAt,
    endedAt,
  }
}
