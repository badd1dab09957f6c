import type { Authenticator } from '../http/auth.ts'
import { Elysia } from '../http/elysia.ts'
import { openEventStream } from '../http/event-stream.ts'
import { contextOf } from '../http/request-context.ts'
import { feature, route, textModel } from '../http/route.ts'
import type { Caller } from '../session/caller.ts'
import type { Live } from './live.ts'
import type { CouponService } from './service.ts'

const liveModel = textModel(
  'text/event-stream',
  'Server-sent events: `minted`, `claimed`, `refreshed`, `voided`, `coupon`, `more`; data is JSON',
)

/** Route of the live stream: changes of the caller's coupons as server-sent events. */
export function liveRoutes(service: CouponService, auth: Authenticator<Caller>, live: Live) {
  return new Elysia({ name: 'live', prefix: '/api/coupons', ...feature({ tag: 'Management' }) })
    .derive({ as: 'local' }, async ({ request }) => ({ caller: await auth.any(request) }))
    .get(
      '/live',
      async ({ caller, request }) => {
        // The signature is spent before the first byte of the answer, so that a copy of the request gets nothing.
        const { spend } = caller
        if (spend)
          await service.database.transact({ roots: 'none', first: spend }, async () => undefined)
        await service.database.snapshot((tx) => service.requireMerchant(tx, caller))
        const { pubkey: owner, until } = caller
        // No await between this check and `listen`: a session that ends in between would keep its stream.
        auth.requireOpen(caller)
        const stream = openEventStream()
        const { address } = contextOf(request)
        const stop = live.listen({ owner, address, until, send: stream.send, ended: stream.end })
        stream.gone.addEventListener('abort', stop)
        return stream.response
      },
      {
        ...route({
          summary: 'What happens to the caller’s coupons, as it happens',
          access: 'any',
          answers: { 200: liveModel },
          refusals: ['merchant-not-allowed', 'live-full'],
        }),
      },
    )
}
