import { Type as t } from '@sinclair/typebox'
import { keyPart } from '../base/field-models.ts'
import type { Authenticator } from '../http/auth.ts'
import { Elysia } from '../http/elysia.ts'
import { replyJson } from '../http/reply.ts'
import { feature, route } from '../http/route.ts'
import type { Caller } from '../session/caller.ts'
import { MerchantModel, NewMerchantModel } from './models.ts'
import { addMerchant, listMerchants, removeMerchant } from './roster.ts'
import type { Merchants } from './service.ts'

const roster = feature({
  tag: 'Management',
  parameters: { key: keyPart },
})

/** The list of merchants, for those that add and remove others. */
export function merchantRoutes(merchants: Merchants, auth: Authenticator<Caller>) {
  return new Elysia({ name: 'merchants', prefix: '/api/merchants', ...roster })
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.any(request) }))
    .get('/', async ({ caller }) => replyJson(200, await listMerchants(merchants, caller)), {
      ...route({
        summary: 'Merchants that were let in, newest first',
        access: 'any',
        answers: { 200: t.Object({ merchants: t.Array(MerchantModel) }) },
        refusals: ['merchants-owner-only', 'merchants-by-setting'],
      }),
    })
    .post(
      '/',
      async ({ caller, body }) => {
        const { created, merchant } = await addMerchant(merchants, caller, body)
        return replyJson(created ? 201 : 200, { merchant })
      },
      {
        body: NewMerchantModel,
        ...route({
          summary: 'Let a key manage coupons of its own',
          access: 'any',
          answers: {
            200: t.Object({ merchant: MerchantModel }),
            201: t.Object({ merchant: MerchantModel }),
          },
          refusals: [
            'body-invalid',
            'field-invalid',
            'merchants-owner-only',
            'merchants-by-setting',
            'merchants-full',
          ],
        }),
      },
    )
    .delete(
      '/:key',
      async ({ caller, params }) =>
        replyJson(200, await removeMerchant(merchants, caller, params.key)),
      {
        ...route({
          summary: 'Let a key manage no longer; its vouchers stay good',
          access: 'any',
          answers: { 200: t.Object({ removed: t.Literal(true) }) },
          refusals: [
            'merchants-owner-only',
            'merchant-unknown',
            'merchants-by-setting',
            'merchant-is-owner',
          ],
        }),
      },
    )
}
