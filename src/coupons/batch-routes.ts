import { Type as t } from '@sinclair/typebox'
import { uuidPart } from '../base/field-models.ts'
import type { Authenticator } from '../http/auth.ts'
import { Elysia } from '../http/elysia.ts'
import { replyJson } from '../http/reply.ts'
import { feature, route } from '../http/route.ts'
import type { Caller } from '../session/caller.ts'
import { listBatches, voidBatch } from './batches.ts'
import { BatchesModel, PageModel } from './list-models.ts'
import type { CouponService } from './service.ts'

const batches = feature({
  tag: 'Management',
  parameters: { id: uuidPart('A definition'), batch: uuidPart('A batch') },
})

/** Routes of the vouchers that were issued together. */
export function batchRoutes(service: CouponService, auth: Authenticator<Caller>) {
  return new Elysia({ name: 'batches', prefix: '/api/coupons/:id/batches', ...batches })
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.any(request) }))
    .get(
      '/',
      async ({ caller, params, query }) =>
        replyJson(200, await listBatches(service, caller, params.id.toLowerCase(), query)),
      {
        query: PageModel,
        ...route({
          summary: 'Batches of a definition with their figures, newest first',
          access: 'any',
          answers: { 200: BatchesModel },
          refusals: ['page-invalid', 'merchant-not-allowed', 'coupon-unknown'],
        }),
      },
    )
    .delete(
      '/:batch',
      async ({ caller, params }) => {
        const input = { couponId: params.id.toLowerCase(), batchId: params.batch.toLowerCase() }
        return replyJson(200, await voidBatch(service, caller, input))
      },
      {
        ...route({
          summary: 'Void every open voucher of a batch',
          access: 'any',
          answers: { 200: t.Object({ voided: t.Integer() }) },
          refusals: ['merchant-not-allowed', 'coupon-unknown', 'batch-unknown'],
        }),
      },
    )
}
