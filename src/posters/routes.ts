import { Type as t } from '@sinclair/typebox'
import { uuidPart } from '../base/field-models.ts'
import { parseIdempotencyKey, parseRepeat } from '../coupons/answer.ts'
import { VoucherResultModel } from '../coupons/models.ts'
import type { Authenticator } from '../http/auth.ts'
import { Elysia } from '../http/elysia.ts'
import { reply, replyJson } from '../http/reply.ts'
import { contextOf } from '../http/request-context.ts'
import { feature, route } from '../http/route.ts'
import type { Caller } from '../session/caller.ts'
import { createPoster, editPoster, listPosters, removePoster } from './manage.ts'
import { NewPosterModel, PosterChangesModel, PosterModel, ShownPosterModel } from './models.ts'
import type { PosterService } from './service.ts'
import { showPoster } from './show.ts'
import { take } from './take.ts'

const posters = feature({ tag: 'Posters', parameters: { id: uuidPart('A poster') } })

/** The route that the page of a poster shows. It needs no key. */
export function shownPosterRoutes(service: PosterService) {
  return new Elysia({ name: 'shown-posters', prefix: '/api/posters', ...posters }).get(
    '/:id',
    async ({ params }) => replyJson(200, await showPoster(service, params.id.toLowerCase())),
    {
      ...route({
        summary: 'A poster, as its page shows it',
        access: 'public',
        answers: { 200: ShownPosterModel },
        refusals: ['poster-unknown'],
      }),
    },
  )
}

/** Routes of the merchant's posters, and the one that takes a voucher. */
export function posterRoutes(service: PosterService, auth: Authenticator<Caller>) {
  return new Elysia({ name: 'posters', prefix: '/api/posters', ...posters })
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.any(request) }))
    .get('/', async ({ caller }) => replyJson(200, await listPosters(service, caller)), {
      ...route({
        summary: 'Posters of the caller, with what was taken from each',
        access: 'any',
        answers: { 200: t.Object({ posters: t.Array(PosterModel) }) },
        refusals: ['merchant-not-allowed'],
      }),
    })
    .post(
      '/',
      async ({ request, caller, body }) => {
        const repeat = parseRepeat(request, `poster ${caller.pubkey}`, contextOf(request).body)
        const input = { ...body, couponId: body.couponId.toLowerCase() }
        const answer = await createPoster(service, caller, input, repeat)
        return reply(answer.status, answer.body)
      },
      {
        body: NewPosterModel,
        ...route({
          summary: 'Create a poster: an address where anybody takes a voucher of a definition',
          access: 'any',
          answers: { 201: t.Object({ poster: PosterModel }) },
          refusals: [
            'body-invalid',
            'field-invalid',
            'expiry-past',
            'idempotency-key-invalid',
            'merchant-not-allowed',
            'coupon-unknown',
            'idempotency-key-reused',
            'posters-full',
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
        replyJson(200, await editPoster(service, caller, params.id.toLowerCase(), body)),
      {
        body: PosterChangesModel,
        ...route({
          summary: 'Change the limits of a poster, pause it or go on',
          access: 'any',
          answers: { 200: t.Object({ poster: PosterModel }) },
          refusals: [
            'body-invalid',
            'field-invalid',
            'nothing-to-change',
            'merchant-not-allowed',
            'poster-unknown',
          ],
        }),
      },
    )
    .delete(
      '/:id',
      async ({ caller, params }) =>
        replyJson(200, await removePoster(service, caller, params.id.toLowerCase())),
      {
        ...route({
          summary: 'Delete a poster; vouchers taken from it stay',
          access: 'any',
          answers: { 200: t.Object({ deleted: t.Literal(true) }) },
          refusals: ['merchant-not-allowed', 'poster-unknown'],
        }),
      },
    )
    .post(
      '/:id/take',
      async ({ request, caller, params }) => {
        const key = parseIdempotencyKey(request.headers.get('idempotency-key'))
        const { address } = contextOf(request)
        const input = { id: params.id.toLowerCase(), key, address }
        const { replayed, body } = await take(service, caller, input)
        return reply(replayed ? 200 : 201, body)
      },
      {
        ...route({
          summary: 'Take a voucher from a poster, with any key',
          access: 'any',
          answers: { 200: VoucherResultModel, 201: VoucherResultModel },
          refusals: [
            'idempotency-key-invalid',
            'poster-unknown',
            'poster-ended',
            'poster-paused',
            'not-now',
            'poster-taken',
            'poster-exhausted',
            'poster-today',
            'coupon-archived',
            'coupon-expired',
            'coupon-exhausted',
            'disk-low',
          ],
          idempotencyKey: 'required',
        }),
      },
    )
}
