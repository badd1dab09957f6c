import { Type as t } from '@sinclair/typebox'
import { keyPart } from '../base/field-models.ts'
import type { Authenticator } from '../http/auth.ts'
import { Elysia } from '../http/elysia.ts'
import { etagOf, isKnown } from '../http/etag.ts'
import { reply, replyJson } from '../http/reply.ts'
import { feature, route } from '../http/route.ts'
import type { Caller } from '../session/caller.ts'
import { PublicShopModel, ShopChangesModel, ShopModel } from './models.ts'
import type { Shops } from './service.ts'
import { changeShop, ownShop, publicShop } from './shop.ts'

const shop = feature({
  tag: 'Management',
  parameters: { key: keyPart },
})

/** The settings of a merchant's shop, for the public and for the merchant. */
export function shopRoutes(shops: Shops, auth: Authenticator<Caller>) {
  return new Elysia({ name: 'shops', prefix: '/api', ...shop })
    .get(
      '/shops/:key',
      async ({ params, request }) => {
        const body = JSON.stringify(await publicShop(shops, params.key))
        const etag = etagOf(body)
        const headers = { 'Cache-Control': 'public, max-age=60', ETag: etag }
        if (!isKnown(etag, request.headers.get('if-none-match'))) return reply(200, body, headers)
        const open = { ...headers, 'Access-Control-Allow-Origin': '*' }
        return new Response(null, { status: 304, headers: open })
      },
      {
        ...route({
          summary: 'Name, colour and logo of a shop; null where unset',
          access: 'public',
          answers: { 200: PublicShopModel, 304: t.Null() },
          refusals: ['merchant-unknown'],
        }),
      },
    )
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.any(request) }))
    .get('/shop', async ({ caller }) => replyJson(200, await ownShop(shops, caller)), {
      ...route({
        summary: 'Settings of the caller’s shop; null where unset',
        access: 'any',
        answers: { 200: ShopModel },
      }),
    })
    .patch(
      '/shop',
      async ({ caller, body }) => replyJson(200, await changeShop(shops, caller, body)),
      {
        body: ShopChangesModel,
        ...route({
          summary: 'Change settings of the caller’s shop',
          access: 'any',
          answers: { 200: ShopModel },
          refusals: [
            'body-invalid',
            'field-invalid',
            'nothing-to-change',
            'merchant-not-allowed',
            'picture-unknown',
            'disk-low',
          ],
        }),
      },
    )
}
