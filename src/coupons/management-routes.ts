import { Type as t } from '@sinclair/typebox'
import { handlePart, uuidPart } from '../base/field-models.ts'
import type { Authenticator } from '../http/auth.ts'
import { Elysia } from '../http/elysia.ts'
import type { RateLimits } from '../http/rate-limit.ts'
import { reply, replyJson } from '../http/reply.ts'
import { contextOf } from '../http/request-context.ts'
import { feature, route } from '../http/route.ts'
import type { Caller } from '../session/caller.ts'
import { payFor } from '../session/pay-for.ts'
import { parseRepeat } from './answer.ts'
import { parseNames } from './batches.ts'
import { define, edit, remove } from './define.ts'
import { chainOf, issuances, mintable, overview, redemptions } from './history.ts'
import {
  IssuanceModel,
  IssuancesAskedModel,
  IssuancesModel,
  MintableModel,
  PageModel,
  RedemptionsModel,
  StatisticsAskedModel,
  StatisticsModel,
  TillStatisticsModel,
  VoidModel,
} from './list-models.ts'
import { mintVouchers } from './mint.ts'
import {
  ChangesModel,
  DefinitionModel,
  MintAnswerModel,
  MintModel,
  NewDefinitionModel,
  OverviewModel,
} from './models.ts'
import type { CouponService } from './service.ts'
import { statistics, tillStatistics } from './statistics.ts'
import { voidAll, voidVoucher } from './void.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** Number of vouchers in one POST that count as one more request against the rate of the key. */
const vouchersPerRequest = 25

const management = feature({
  tag: 'Management',
  parameters: {
    id: uuidPart('A definition'),
    handle: handlePart('A voucher: its handle, or its nonce'),
  },
})

/** Routes of definitions, of their vouchers, and of the lists for the panel. */
export function managementRoutes(
  service: CouponService,
  auth: Authenticator<Caller>,
  rateLimits: RateLimits,
) {
  return new Elysia({ name: 'management', prefix: '/api/coupons', ...management })
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.any(request) }))
    .get('/', async ({ caller }) => replyJson(200, await overview(service, caller)), {
      ...route({
        summary: 'Definitions, minters and announcement of the caller',
        access: 'any',
        answers: { 200: OverviewModel },
        refusals: ['merchant-not-allowed'],
      }),
    })
    .post(
      '/',
      async ({ request, caller, body }) => {
        const repeat = parseRepeat(request, `define ${caller.pubkey}`, contextOf(request).body)
        const answer = await define(service, caller, body, repeat)
        return reply(answer.status, answer.body)
      },
      {
        body: NewDefinitionModel,
        ...route({
          summary: 'Create a definition',
          access: 'any',
          answers: { 201: t.Object({ coupon: DefinitionModel }) },
          refusals: [
            'body-invalid',
            'field-invalid',
            'benefit-invalid',
            'expiry-past',
            'idempotency-key-invalid',
            'merchant-not-allowed',
            'picture-unknown',
            'idempotency-key-reused',
            'definitions-full',
            'bytes-day-full',
            'disk-low',
          ],
          idempotencyKey: 'optional',
        }),
      },
    )
    .get('/mintable', async ({ caller }) => replyJson(200, await mintable(service, caller)), {
      ...route({
        summary: 'Definitions that the caller may mint now',
        access: 'any',
        answers: { 200: MintableModel },
      }),
    })
    .get(
      '/redemptions',
      async ({ caller, query }) => replyJson(200, await redemptions(service, caller, query)),
      {
        query: PageModel,
        ...route({
          summary: 'Redemptions of the caller’s coupons, newest first',
          access: 'any',
          answers: { 200: RedemptionsModel },
          refusals: ['page-invalid', 'merchant-not-allowed'],
        }),
      },
    )
    .get(
      '/stats',
      async ({ caller, query }) => replyJson(200, await statistics(service, caller, query)),
      {
        query: StatisticsAskedModel,
        ...route({
          summary: 'Vouchers minted and redeemed, by coupon and day',
          access: 'any',
          answers: { 200: StatisticsModel },
          refusals: ['field-invalid', 'page-invalid', 'merchant-not-allowed'],
        }),
      },
    )
    .get(
      '/stats/tills',
      async ({ caller, query }) => replyJson(200, await tillStatistics(service, caller, query)),
      {
        query: StatisticsAskedModel,
        ...route({
          summary: 'Vouchers redeemed, by till and day',
          access: 'any',
          answers: { 200: TillStatisticsModel },
          refusals: ['field-invalid', 'page-invalid', 'merchant-not-allowed'],
        }),
      },
    )
    .post(
      '/mint',
      async ({ request, caller, body }) => {
        const { couponId, count = null } = body
        const names = parseNames(body, count)
        const repeat = parseRepeat(request, `mint ${caller.pubkey}`, contextOf(request).body)
        // A kept answer takes more room than the vouchers in it, so it costs more of the rate.
        const perRequest = repeat ? vouchersPerRequest / 5 : vouchersPerRequest
        const cost = Math.floor((count ?? 0) / perRequest)
        const input = { couponId: couponId.toLowerCase(), count, names }
        // Many vouchers in one request take the time of many requests, so they cost as much.
        const paying = payFor(caller, () => rateLimits.key(caller.pubkey, cost))
        const answer = await mintVouchers(service, paying, input, repeat)
        return reply(answer.status, answer.body)
      },
      {
        body: MintModel,
        ...route({
          summary: 'Issue vouchers from a definition',
          access: 'any',
          answers: { 200: MintAnswerModel },
          refusals: [
            'body-invalid',
            'field-invalid',
            'idempotency-key-invalid',
            'mint-not-allowed',
            'coupon-unknown',
            'idempotency-key-reused',
            'coupon-archived',
            'coupon-expired',
            'coupon-exhausted',
            'vouchers-day-full',
            'batch-unknown',
            'batch-full',
            'batches-full',
            'bytes-day-full',
            'disk-low',
          ],
          idempotencyKey: 'optional',
        }),
      },
    )
    .patch(
      '/:id',
      async ({ caller, params, body }) =>
        replyJson(200, await edit(service, caller, parseId(params.id), body)),
      {
        body: ChangesModel,
        ...route({
          summary: 'Edit a definition; minted vouchers do not change',
          access: 'any',
          answers: { 200: t.Object({ coupon: DefinitionModel }) },
          refusals: [
            'body-invalid',
            'field-invalid',
            'benefit-invalid',
            'nothing-to-change',
            'merchant-not-allowed',
            'coupon-unknown',
            'picture-unknown',
            'bytes-day-full',
            'disk-low',
          ],
        }),
      },
    )
    .delete(
      '/:id',
      async ({ caller, params }) =>
        replyJson(200, await remove(service, caller, parseId(params.id))),
      {
        ...route({
          summary: 'Delete a definition that was never minted, archive any other',
          access: 'any',
          answers: { 200: t.Object({ deleted: t.Boolean(), archived: t.Boolean() }) },
          refusals: ['merchant-not-allowed', 'coupon-unknown'],
        }),
      },
    )
    .get(
      '/:id/mints',
      async ({ caller, params, query }) => {
        const couponId = parseId(params.id)
        const { chain, refreshed, ...page } = query
        return replyJson(
          200,
          chain === undefined
            ? await issuances(service, caller, { ...page, couponId, refreshed: refreshed !== '0' })
            : await chainOf(service, caller, { ...page, couponId, handle: chain }),
        )
      },
      {
        query: IssuancesAskedModel,
        ...route({
          summary: 'Vouchers issued from a definition, newest first, or one chain of refreshes',
          access: 'any',
          answers: { 200: IssuancesModel },
          refusals: [
            'field-invalid',
            'page-invalid',
            'merchant-not-allowed',
            'coupon-unknown',
            'voucher-unknown',
          ],
        }),
      },
    )
    .delete(
      '/:id/mints',
      async ({ caller, params }) =>
        replyJson(200, await voidAll(service, caller, parseId(params.id))),
      {
        ...route({
          summary: 'Void every open voucher of a definition',
          access: 'any',
          answers: { 200: t.Object({ voided: t.Integer() }) },
          refusals: ['merchant-not-allowed', 'coupon-unknown'],
        }),
      },
    )
    .delete(
      '/:id/mints/:handle',
      async ({ caller, params, query }) => {
        const input = {
          couponId: parseId(params.id),
          name: params.handle,
          chain: query.chain === '1',
        }
        return replyJson(200, await voidVoucher(service, caller, input))
      },
      {
        query: VoidModel,
        ...route({
          summary: 'Void one voucher, or with chain=1 where refreshes have brought it',
          access: 'any',
          answers: { 200: t.Object({ mint: IssuanceModel }) },
          refusals: [
            'field-invalid',
            'merchant-not-allowed',
            'coupon-unknown',
            'voucher-unknown',
            'voucher-claimed',
            'voucher-refreshed',
            'voucher-voided',
          ],
        }),
      },
    )
}

/** A path that is no UUID names nothing. */
function parseId(text: string): string {
  const id = text.toLowerCase()
  return uuid.test(id) ? id : ''
}
