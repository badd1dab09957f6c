import { limits } from '../../../base/limits.ts'
import { rememberRequest } from '../../request.ts'
import { limitView } from '../limits.ts'
import { readCardRequest } from '../requests.ts'
import type { CardStores, Cards } from '../service.ts'

/** POST /card/data/request: how the holder's cards look. Refuses as `requestConfig`. */
export function requestData(cards: Cards, value: unknown) {
  return answerHolder(cards, value, 'card-data-request', async (tx, holder) => {
    const held = await tx.cards.listOf(holder, limits.cardsPerHolderMax)
    return Object.fromEntries(
      held.map(({ uuid, design }) => [uuid, { design: { ...design, description: '' } }]),
    )
  })
}

/**
 * POST /card/config/request: what the holder decided about his cards. Refuses `card-event-invalid`,
 * `card-event-stale`, `event-repeated`.
 */
export function requestConfig(cards: Cards, value: unknown) {
  return answerHolder(cards, value, 'card-config-request', configOf)
}

/** Any fresh key can ask: those that hold no card leave room for the requests of the others. */
function answerHolder<T>(
  cards: Cards,
  value: unknown,
  type: string,
  answer: (tx: CardStores, holder: string) => Promise<T>,
): Promise<T> {
  const request = readCardRequest(cards, value, { type, untyped: true, empty: true })
  return cards.database.transact({ roots: [{ event: request.event.id }] }, async (tx) => {
    const [any] = await tx.cards.listOf(request.author, 1)
    const rowsMax = any ? limits.requestsMax : limits.requestsOfStrangersMax
    await rememberRequest(tx.requests, request, null, rowsMax)
    return answer(tx, request.author)
  })
}

async function configOf(tx: CardStores, holder: string) {
  const merchants = await tx.holders.merchantsOf(holder)
  const cards: Record<string, object> = {}
  for (const card of await tx.cards.listOf(holder, limits.cardsPerHolderMax)) {
    const { uuid, name, description, enabled, blocked } = card
    const rows = await tx.holders.limitsOf(card.id)
    const status = enabled && !blocked ? 'ENABLED' : 'DISABLED'
    cards[uuid] = { name, description, status, limits: rows.map(limitView) }
  }
  return { 'trusted-merchants': merchants.map((pubkey) => ({ pubkey })), cards }
}
