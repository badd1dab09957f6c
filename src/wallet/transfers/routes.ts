import { namePart } from '../../base/field-models.ts'
import { limits } from '../../base/limits.ts'
import { sentenceOf } from '../../base/refusal.ts'
import { budgetOf } from '../../coupons/budget.ts'
import { nonceShaped } from '../../coupons/nonce.ts'
import { carry, judge } from '../../http/carry.ts'
import { Elysia } from '../../http/elysia.ts'
import { gatewayEnvelope } from '../../http/envelope.ts'
import type { RateLimits } from '../../http/rate-limit.ts'
import { replyJson } from '../../http/reply.ts'
import { contextOf } from '../../http/request-context.ts'
import { feature, route } from '../../http/route.ts'
import { ArrivalModel, ReceptionModel, SendingModel, TransferModel } from './models.ts'
import { parseAnyNonce, parseComment } from './offer.ts'
import { receive } from './receive.ts'
import { send } from './send.ts'
import type { Transfers } from './service.ts'

/** Refusals of a service that does not swap a voucher. */
const aboutVouchers = [
  'voucher-unknown',
  'voucher-claimed',
  'voucher-refreshed',
  'voucher-cancelled',
  'voucher-expired',
] as const

/** Refusals of a name that does not take a voucher. */
const aboutSwaps = [
  'vouchers-not-taken',
  'transfer-busy',
  'inbox-full',
  'inbox-merchant-full',
  'service-silent',
  'transfer-pending',
] as const

const shared = feature({
  tag: 'Transfer',
  envelope: gatewayEnvelope,
  paths: ['/api/transfer'],
  parameters: { name: namePart },
})

/** Vouchers that arrive at a name of this service, and that leave for a name anywhere. */
export function transferRoutes(transfers: Transfers, rateLimits: RateLimits) {
  /** Vouchers of other services are not known here, so they have no budget of their own. */
  const admit = (request: Request, nonce: string) =>
    carry(rateLimits, request, async () => (nonceShaped(nonce) ? budgetOf(transfers, nonce) : null))

  return new Elysia({ name: 'transfers', prefix: '/api', ...shared })
    .post(
      '/lud16/:name/cb',
      async ({ request, params, body }) => {
        const { voucher } = body
        const nonce = parseAnyNonce(body.nonce)
        await admit(request, nonce)
        const arrival = { nonce, voucher, comment: parseComment(body.comment) }
        const reception = await receive(transfers, params.name.toLowerCase(), arrival)
        if (reception.accepted) return replyJson(200, { status: 'ACCEPTED' })
        const { refusal } = reception
        return replyJson(200, { status: 'ERROR', reason: sentenceOf(refusal), code: refusal.code })
      },
      {
        body: ArrivalModel,
        ...route({
          summary: 'Take a voucher for a name',
          access: 'public',
          bodyBytesMax: limits.transferBytesMax,
          carrier: 'nonce',
          answers: { 200: ReceptionModel },
          refusals: ['body-invalid', 'field-invalid', 'nonce-invalid', 'disk-low'],
          told: [...aboutVouchers, ...aboutSwaps, 'voucher-invalid', 'service-unknown'],
        }),
      },
    )
    .post(
      '/transfer',
      async ({ request, body }) => {
        const { address, origins } = contextOf(request)
        const { nonce, voucher, to, comment } = body
        await admit(request, nonce)
        const hosts = origins.map((origin) => new URL(origin).host)
        const outgoing = { nonce, voucher, to, comment, sender: address }
        const sending = await send(transfers, outgoing, hosts)
        if (sending.code) judge(rateLimits, request, sending.code)
        return replyJson(200, sending)
      },
      {
        body: TransferModel,
        ...route({
          summary: 'Hand a voucher to a lightning address',
          access: 'public',
          guesses: ['voucher-unknown'],
          bodyBytesMax: limits.transferBytesMax,
          carrier: 'nonce',
          answers: { 200: SendingModel },
          refusals: [
            'body-invalid',
            'field-invalid',
            'nonce-invalid',
            'voucher-invalid',
            'service-unknown',
            'disk-low',
          ],
          told: [
            ...aboutVouchers,
            ...aboutSwaps,
            'rate-limited',
            'address-unknown',
            'address-silent',
            'overloaded',
            'transfer-unclear',
          ],
        }),
      },
    )
}
