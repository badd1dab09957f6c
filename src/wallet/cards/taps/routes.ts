import { createGuard } from '../../../http/carry.ts'
import { Elysia } from '../../../http/elysia.ts'
import { gatewayEnvelope } from '../../../http/envelope.ts'
import type { RateLimits } from '../../../http/rate-limit.ts'
import { replyJson } from '../../../http/reply.ts'
import { contextOf } from '../../../http/request-context.ts'
import { feature, route } from '../../../http/route.ts'
import { tapBudgetOf } from '../budget.ts'
import { TapModel } from '../models.ts'
import { tapRefusals } from '../read-tap.ts'
import type { Cards } from '../service.ts'
import { ScanModel } from './models.ts'
import { scan } from './scan.ts'

const shared = feature({ tag: 'Cards', envelope: gatewayEnvelope })

/** The answer to a tap. */
export function tapRoutes(cards: Cards, rateLimits: RateLimits) {
  const guarded = createGuard(rateLimits)

  return new Elysia({ name: 'card-taps', ...shared }).get(
    '/card/scan',
    async ({ request, query }) => {
      const { headers } = request
      const action = headers.get('x-lawallet-action')
      const param = headers.get('x-lawallet-param')
      // A request may name any Host, also one that no URL can hold.
      const asked = contextOf(request).origins[0] ?? URL.parse(request.url)?.origin
      const base = asked ?? cards.base()
      const input = { p: query.p, c: query.c, action, param, base }
      const answer = await guarded(
        request,
        () => scan(cards, input),
        () => tapBudgetOf(cards, query.p, query.c),
      )
      return replyJson(200, answer)
    },
    {
      query: TapModel,
      ...route({
        summary: 'What a tap is good for (LUD-03)',
        access: 'public',
        carrier: 'tap',
        guesses: ['tap-invalid'],
        holds: [
          'card-unconfirmed',
          'card-inactive',
          'card-disabled',
          'delegation-over',
          'no-gateway',
          'token-unknown',
          'pay-request-unknown',
        ],
        acts: true,
        needs: ['p', 'c'],
        sends: {
          'X-LaWallet-Action': {
            description: 'Another answer than that of LUD-03',
            pattern: '^(extendedScan|identityQuery|info|payRequest)$',
          },
          'X-LaWallet-Param': {
            description: 'For `extendedScan`: `federationId=…, tokens=…`, tokens joined by colons',
            pattern: '^[^=,]+=[^,]*(,[^=,]+=[^,]*)*$',
          },
        },
        answers: { 200: ScanModel },
        refusals: ['action-unknown', ...tapRefusals, 'clock-behind'],
      }),
    },
  )
}
