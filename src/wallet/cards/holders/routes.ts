import type { TSchema } from '@sinclair/typebox'
import { Refusal } from '../../../base/refusal.ts'
import { createGuard } from '../../../http/carry.ts'
import { Elysia } from '../../../http/elysia.ts'
import { gatewayEnvelope } from '../../../http/envelope.ts'
import type { RateLimits } from '../../../http/rate-limit.ts'
import { replyJson } from '../../../http/reply.ts'
import { contextOf } from '../../../http/request-context.ts'
import { feature, route } from '../../../http/route.ts'
import { NostrEventModel } from '../../../nostr/models.ts'
import { eventRefusals } from '../requests.ts'
import type { Cards } from '../service.ts'
import { activate } from './activate.ts'
import { requestConfig, requestData } from './holdings.ts'
import { CardConfigModel, CardDataModel } from './models.ts'

const shared = feature({ tag: 'Cards', envelope: gatewayEnvelope, paths: ['/card'] })

/** Activation of cards, and the cards of a holder. */
export function holderRoutes(cards: Cards, rateLimits: RateLimits) {
  const guarded = createGuard(rateLimits)
  const eventOf = (request: Request) => contextOf(request).object
  const notSupported = () => {
    throw new Refusal('not-supported')
  }
  const unsupported = (summary: string) =>
    route({ summary, access: 'public', answers: {}, refusals: ['not-supported'] })
  const ofHolder = (summary: string, answer: TSchema) =>
    route({
      summary,
      access: 'public',
      body: NostrEventModel,
      answers: { 200: answer },
      refusals: ['card-event-invalid', 'card-event-stale', 'event-repeated'],
    })

  return new Elysia({ name: 'card-holders', ...shared })
    .post(
      '/card',
      async ({ request }) =>
        replyJson(
          201,
          await guarded(request, () =>
            activate(cards, eventOf(request), contextOf(request).address),
          ),
        ),
      route({
        summary: 'Become the holder of a card, with its code and a delegation',
        access: 'public',
        guesses: ['otc-unknown'],
        body: NostrEventModel,
        answers: { 201: NostrEventModel },
        refusals: [...eventRefusals, 'card-delegation-invalid', 'cards-full', 'event-repeated'],
      }),
    )
    .patch('/card', notSupported, unsupported('Hand a card to another holder: not offered'))
    .post(
      '/card/data/request',
      async ({ request }) => replyJson(200, await requestData(cards, eventOf(request))),
      ofHolder('How the cards of a holder look', CardDataModel),
    )
    .post(
      '/card/config/request',
      async ({ request }) => replyJson(200, await requestConfig(cards, eventOf(request))),
      ofHolder('What a holder decided about his cards', CardConfigModel),
    )
    .post('/card/reset/request', notSupported, unsupported('Start a card anew: not offered'))
    .post('/card/reset/claim', notSupported, unsupported('Claim a card anew: not offered'))
}
