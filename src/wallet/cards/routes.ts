import { type Static, type TSchema, Type as t } from '@sinclair/typebox'
import { Refusal } from '../../base/refusal.ts'
import { NostrEventModel } from '../../coupons/models.ts'
import { createGuard } from '../../http/carry.ts'
import { documented } from '../../http/document.ts'
import { Elysia } from '../../http/elysia.ts'
import { factsOf } from '../../http/facts.ts'
import type { RateLimits } from '../../http/rate-limit.ts'
import { reply, replyJson } from '../../http/reply.ts'
import { tapBudgetOf } from './budget.ts'
import { activate } from './holders/activate.ts'
import { requestConfig, requestData } from './holders/holdings.ts'
import { CardConfigModel, CardDataModel, ScanModel, TapModel } from './models.ts'
import type { Cards } from './service.ts'
import { initialise } from './tags/initialise.ts'
import { link } from './tags/link.ts'
import { wipe } from './tags/wipe.ts'
import { scan } from './taps/scan.ts'

const eventRefusals = ['card-event-invalid', 'card-event-stale', 'card-content-invalid'] as const
const tapRefusals = ['tap-invalid', 'card-unknown', 'card-unconfirmed', 'tap-used'] as const
/** Refusals of a tap or a code that opens nothing, and those that a genuine tap may come to. */
const verdicts: Parameters<typeof createGuard>[1] = {
  guesses: ['tap-invalid', 'otc-unknown'],
  holds: [
    'card-unconfirmed',
    'card-inactive',
    'card-disabled',
    'card-linked',
    'otc-linked',
    'delegation-over',
    'no-gateway',
    'token-unknown',
    'pay-request-unknown',
  ],
}

type Tapped = Static<typeof TapModel>

/** Tags, the cards that they become, and taps. */
export function cardRoutes(cards: Cards, rateLimits: RateLimits) {
  const guarded = createGuard(rateLimits, verdicts)
  const tapped = <T>(request: Request, { p, c }: Tapped, operation: () => Promise<T>) =>
    guarded(request, operation, () => tapBudgetOf(cards, p, c))
  const eventOf = (request: Request) => factsOf(request).object
  const notSupported = () => {
    throw new Refusal('not-supported')
  }
  const unsupported = (summary: string) =>
    documented({ summary, access: 'public', answers: {}, refusals: ['not-supported'] })
  const ofHolder = (summary: string, answer: TSchema) =>
    documented({
      summary,
      access: 'public',
      body: NostrEventModel,
      answers: { 200: answer },
      refusals: ['card-event-invalid', 'card-event-stale', 'event-repeated'],
    })

  return new Elysia({ name: 'cards' })
    .post(
      '/ntag424',
      async ({ request }) => {
        const secure = factsOf(request).secure()
        return replyJson(201, await initialise(cards, eventOf(request), secure))
      },
      documented({
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
        await tapped(request, query, () => link(cards, eventOf(request), query))
        return reply(204, '')
      },
      {
        query: TapModel,
        ...documented({
          summary: 'Give the card that was tapped a code of your own',
          access: 'public',
          carrier: 'tap',
          body: NostrEventModel,
          answers: { 204: t.Null() },
          refusals: [
            ...eventRefusals,
            'card-writer-only',
            ...tapRefusals,
            'card-linked',
            'otc-linked',
          ],
        }),
      },
    )
    .delete(
      '/ntag424',
      async ({ request }) => {
        const secure = factsOf(request).secure()
        return replyJson(200, await wipe(cards, eventOf(request), secure))
      },
      documented({
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
    .post(
      '/card',
      async ({ request }) =>
        replyJson(
          201,
          await guarded(request, () => activate(cards, eventOf(request), factsOf(request).address)),
        ),
      documented({
        summary: 'Become the holder of a card, with its code and a delegation',
        access: 'public',
        body: NostrEventModel,
        answers: { 201: NostrEventModel },
        refusals: [
          ...eventRefusals,
          'card-delegation-invalid',
          'otc-unknown',
          'cards-full',
          'event-repeated',
        ],
      }),
    )
    .patch('/card', notSupported, unsupported('Hand a card to another holder: not offered'))
    .get(
      '/card/scan',
      async ({ request, query }) => {
        const { headers } = request
        const action = headers.get('x-lawallet-action')
        const param = headers.get('x-lawallet-param')
        // Whatever Host a request names; no URL may hold it.
        const asked = factsOf(request).origins()[0] ?? URL.parse(request.url)?.origin
        const base = asked ?? cards.base()
        const input = { p: query.p, c: query.c, action, param, base }
        return replyJson(200, await tapped(request, query, () => scan(cards, input)))
      },
      {
        query: TapModel,
        ...documented({
          summary: 'What a tap is good for (LUD-03)',
          access: 'public',
          carrier: 'tap',
          acts: true,
          answers: { 200: ScanModel },
          refusals: [
            'action-unknown',
            ...tapRefusals,
            'card-inactive',
            'card-disabled',
            'delegation-over',
            'no-gateway',
            'token-unknown',
            'pay-request-unknown',
            'clock-behind',
          ],
        }),
      },
    )
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
