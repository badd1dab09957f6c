import { Refusal, requireNoWait } from '../base/refusal.ts'
import type { Authenticator } from '../http/auth.ts'
import { createGuard } from '../http/carry.ts'
import { Elysia } from '../http/elysia.ts'
import type { RateLimits } from '../http/rate-limit.ts'
import { reply } from '../http/reply.ts'
import { contextOf } from '../http/request-context.ts'
import { feature, route } from '../http/route.ts'
import { npubOf } from '../nostr/keys.ts'
import type { Caller } from '../session/caller.ts'
import { parseIdempotencyKey, parseRepeat } from './answer.ts'
import { budgetOf, refreshBudgetOf } from './budget.ts'
import { claim } from './claim.ts'
import {
  ClaimAnswerModel,
  ClaimModel,
  ManagerModel,
  NonceModel,
  PreviewModel,
  VoucherResultModel,
} from './models.ts'
import { handleOf, handleText, parseNonce } from './nonce.ts'
import { preview } from './preview.ts'
import { refresh } from './refresh.ts'
import { parsePurchase } from './rules.ts'
import type { CouponService } from './service.ts'

/** Routes of nonce holders, and the manager's public key. */
export function voucherRoutes(
  service: CouponService,
  auth: Authenticator<Caller>,
  rateLimits: RateLimits,
) {
  const { pubkey } = service.signer
  const manager = JSON.stringify({ pubkey, npub: npubOf(pubkey) })

  const byNonce = createGuard(rateLimits)
  const previewed = async (request: Request, sent: string) => {
    const nonce = parseNonce(sent)
    const found = await byNonce(
      request,
      () => preview(service, nonce),
      () => budgetOf(service, nonce),
    )
    return reply(200, found)
  }

  return new Elysia({ name: 'vouchers', prefix: '/api/coupons', ...feature({ tag: 'Vouchers' }) })
    .get('/manager', () => reply(200, manager, { 'Cache-Control': 'public, max-age=300' }), {
      ...route({
        summary: 'The key that signs vouchers here',
        access: 'public',
        answers: { 200: ManagerModel },
      }),
    })
    .get('/claim', ({ request, query }) => previewed(request, query.nonce), {
      query: NonceModel,
      ...route({
        summary: 'Preview a voucher',
        access: 'public',
        carrier: 'nonce',
        guesses: ['voucher-unknown'],
        answers: { 200: PreviewModel },
        refusals: ['nonce-invalid'],
      }),
    })
    .post('/preview', ({ request, body }) => previewed(request, body.nonce), {
      body: NonceModel,
      ...route({
        summary: 'Preview a voucher, without its nonce in a URL',
        access: 'public',
        carrier: 'nonce',
        guesses: ['voucher-unknown'],
        answers: { 200: PreviewModel },
        refusals: ['body-invalid', 'nonce-invalid'],
      }),
    })
    .post(
      '/claim',
      async ({ request, body }) => {
        const nonce = parseNonce(body.nonce)
        const { zapRequest, amountMsat } = body
        const owner = body.owner?.toLowerCase() ?? null
        const repeat = parseRepeat(request, `claim ${nonce}`, contextOf(request).body)
        const purchase = parsePurchase(body.purchase)
        const input = { nonce, owner, zapRequest, amountMsat, purchase }
        const sent = request.headers.has('authorization')
        const identify = sent ? () => auth.optional(request) : null
        const answer = await byNonce(
          request,
          () => claim(service, input, repeat, identify),
          () => budgetOf(service, nonce),
        )
        return reply(answer.status, answer.body)
      },
      {
        body: ClaimModel,
        ...route({
          summary: 'Redeem a voucher',
          access: 'optional',
          carrier: 'nonce',
          guesses: ['voucher-unknown'],
          holds: ['other-merchant', 'till-not-allowed', 'not-now', 'minimum-not-met'],
          answers: { 200: ClaimAnswerModel },
          refusals: [
            'body-invalid',
            'nonce-invalid',
            'idempotency-key-invalid',
            'idempotency-key-reused',
            'voucher-moved',
            'voucher-cancelled',
            'voucher-expired',
          ],
          idempotencyKey: 'optional',
        }),
      },
    )
    .post(
      '/refresh',
      async ({ request, body }) => {
        const key = parseIdempotencyKey(request.headers.get('idempotency-key'))
        const nonce = parseNonce(body.nonce)
        // A burned nonce has no budget, so tries with a wrong key are counted per nonce and address.
        const tried = [handleText(handleOf(nonce)), contextOf(request).address] as const
        requireNoWait(service.wrongKeys.waitHere(...tried))
        try {
          const outcome = await byNonce(
            request,
            () => refresh(service, { nonce, key }),
            () => refreshBudgetOf(service, nonce),
          )
          // After too many wrong keys the right one is not told, either.
          if (outcome.replayed) requireNoWait(await service.wrongKeys.wait(...tried))
          return reply(outcome.replayed ? 200 : 201, outcome.body)
        } catch (refused) {
          if (refused instanceof Refusal && refused.code === 'voucher-refreshed') {
            requireNoWait((await service.wrongKeys.take(...tried)).wait)
          }
          throw refused
        }
      },
      {
        body: NonceModel,
        ...route({
          summary: 'Swap a nonce for a new one: how a coupon changes hands',
          access: 'public',
          // `rate-limited` shows that the nonce exists: the caller holds it and did not guess.
          carrier: 'nonce',
          guesses: ['voucher-unknown'],
          holds: ['rate-limited'],
          answers: { 200: VoucherResultModel, 201: VoucherResultModel },
          refusals: [
            'body-invalid',
            'nonce-invalid',
            'idempotency-key-invalid',
            'voucher-claimed',
            'voucher-refreshed',
            'voucher-cancelled',
            'voucher-expired',
          ],
          idempotencyKey: 'required',
        }),
      },
    )
}
