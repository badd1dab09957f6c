import { Type as t } from '@sinclair/typebox'
import type { Authenticator } from '../http/auth.ts'
import { Elysia } from '../http/elysia.ts'
import { replyJson } from '../http/reply.ts'
import { contextOf } from '../http/request-context.ts'
import { feature, route } from '../http/route.ts'
import type { Caller } from '../session/caller.ts'
import { announce, withdraw } from './announce.ts'
import { AnnouncementModel, NewAnnouncementModel } from './models.ts'
import type { CouponService } from './service.ts'

/** Routes of a merchant's announcement (kind 30078), which the URL calls discovery. */
export function announcementRoutes(service: CouponService, auth: Authenticator<Caller>) {
  return new Elysia({
    name: 'announcements',
    prefix: '/api/coupons',
    ...feature({ tag: 'Management' }),
  })
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.any(request) }))
    .put(
      '/discovery',
      async ({ request, caller, body }) => {
        const { origins } = contextOf(request)
        return replyJson(200, await announce(service, caller, body.event, origins))
      },
      {
        body: NewAnnouncementModel,
        ...route({
          summary: 'Store and broadcast the caller’s announcement',
          access: 'any',
          answers: { 200: AnnouncementModel },
          refusals: [
            'body-invalid',
            'field-invalid',
            'announcement-kind',
            'announcement-author',
            'announcement-id',
            'announcement-signature',
            'announcement-d',
            'announcement-content',
            'announcement-url',
            'announcement-future',
            'merchant-not-allowed',
            'announcement-older',
            'bytes-day-full',
            'outbox-full',
            'disk-low',
          ],
        }),
      },
    )
    .delete('/discovery', async ({ caller }) => replyJson(200, await withdraw(service, caller)), {
      ...route({
        summary: 'Withdraw the announcement',
        access: 'any',
        answers: { 200: t.Object({ removed: t.Literal(true) }) },
        refusals: ['merchant-not-allowed', 'announcement-unknown'],
      }),
    })
}
