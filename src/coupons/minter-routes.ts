import { Type as t } from '@sinclair/typebox'
import { keyPart } from '../base/field-models.ts'
import type { Authenticator } from '../http/auth.ts'
import { Elysia } from '../http/elysia.ts'
import { replyJson } from '../http/reply.ts'
import { feature, route } from '../http/route.ts'
import type { Caller } from '../session/caller.ts'
import { authorizations, authorizeMinter, listMinters, removeMinter } from './minters.ts'
import { AuthorizationsModel, MinterModel, NewMinterModel } from './models.ts'
import type { CouponService } from './service.ts'

const minters = feature({
  tag: 'Management',
  parameters: { key: keyPart },
})

/** Routes of the keys that may mint a merchant's coupons. */
export function minterRoutes(service: CouponService, auth: Authenticator<Caller>) {
  return new Elysia({ name: 'minters', prefix: '/api/coupons', ...minters })
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.any(request) }))
    .get(
      '/authorizations',
      async ({ caller }) => replyJson(200, await authorizations(service, caller)),
      {
        ...route({
          summary: 'Merchants that list the caller as a till',
          access: 'any',
          answers: { 200: AuthorizationsModel },
        }),
      },
    )
    .get('/minters', async ({ caller }) => replyJson(200, await listMinters(service, caller)), {
      ...route({
        summary: 'Keys that may mint the caller’s coupons',
        access: 'any',
        answers: { 200: t.Object({ minters: t.Array(MinterModel) }) },
        refusals: ['merchant-not-allowed'],
      }),
    })
    .post(
      '/minters',
      async ({ caller, body }) => {
        const { created, minter } = await authorizeMinter(service, caller, body)
        return replyJson(created ? 201 : 200, { minter })
      },
      {
        body: NewMinterModel,
        ...route({
          summary: 'Let a key mint the caller’s coupons',
          access: 'any',
          answers: {
            200: t.Object({ minter: MinterModel }),
            201: t.Object({ minter: MinterModel }),
          },
          refusals: [
            'body-invalid',
            'field-invalid',
            'minter-is-owner',
            'merchant-not-allowed',
            'minter-unknown',
            'minters-full',
            'disk-low',
          ],
        }),
      },
    )
    .delete(
      '/minters/:key',
      async ({ caller, params }) => replyJson(200, await removeMinter(service, caller, params.key)),
      {
        ...route({
          summary: 'Take the permission to mint back',
          access: 'any',
          answers: { 200: t.Object({ removed: t.Literal(true) }) },
          refusals: ['merchant-not-allowed', 'minter-unknown'],
        }),
      },
    )
}
