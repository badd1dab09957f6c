import { Type as t } from '@sinclair/typebox'
import { createGuard } from '../../../http/carry.ts'
import { Elysia } from '../../../http/elysia.ts'
import { gatewayEnvelope } from '../../../http/envelope.ts'
import type { RateLimits } from '../../../http/rate-limit.ts'
import { reply, replyJson } from '../../../http/reply.ts'
import { contextOf } from '../../../http/request-context.ts'
import { feature, route } from '../../../http/route.ts'
import { NostrEventModel } from '../../../nostr/models.ts'
import { tapBudgetOf } from '../budget.ts'
import { TapModel } from '../models.ts'
import { tapRefusals } from '../read-tap.ts'
import { eventRefusals } from '../requests.ts'
import type { Cards } from '../service.ts'
import { initialise } from './initialise.ts'
import { link } from './link.ts'
import { wipe } from './wipe.ts'

const shared = feature({ tag: 'Cards', envelope: gatewayEnvelope, paths: ['/ntag424'] })

/** Tags that card writers make cards of, link to codes and wipe. */
export function tagRoutes(cards: Cards, rateLimits: RateLimits) {
  const guarded = createGuard(rateLimits)
  const eventOf = (request: Request) => contextOf(request).object

  return new Elysia({ name: 'card-tags', ...shared })
    .post(
      '/ntag424',
      async ({ request }) => {
        const secure = contextOf(request).secure
        return replyJson(201, await initialise(cards, eventOf(request), secure))
      },
      route({
        summary: 'The keys to write to a tag; again, the same',
        access: 'public',
        body: NostrEventModel,
        answers: { 201: NostrEventModel },
        refusals: [
          ...eventRefusals,
          'encryption-needed',
          'card-writer-only',
          'card-counter-unknown',
          'card-counter-low',
          'card-versions-over',
          'event-repeated',
        ],
      }),
    )
    .patch(
      '/ntag424',
      async ({ request, query }) => {
        await guarded(
          request,
          () => link(cards, eventOf(request), query),
          () => tapBudgetOf(cards, query.p, query.c),
        )
        return reply(204, '')
      },
      {
        query: TapModel,
        ...route({
          summary: 'Give the card that was tapped a code of your own',
          access: 'public',
          needs: ['p', 'c'],
          carrier: 'tap',
          guesses: ['tap-invalid'],
          holds: ['card-unconfirmed', 'card-linked', 'otc-linked'],
          body: NostrEventModel,
          answers: { 204: t.Null() },
          refusals: [...eventRefusals, 'card-writer-only', ...tapRefusals],
        }),
      },
    )
    .delete(
      '/ntag424',
      async ({ request }) => {
        const secure = contextOf(request).secure
        return replyJson(200, await wipe(cards, eventOf(request), secure))
      },
      route({
        summary: 'End a card; the keys to wipe its tag with',
        access: 'public',
        body: NostrEventModel,
        answers: { 200: NostrEventModel },
        refusals: [
          ...eventRefusals,
          'encryption-needed',
          'card-writer-only',
          'card-unknown',
          'event-repeated',
        ],
      }),
    )
}
