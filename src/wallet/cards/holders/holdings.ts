import { limits } from '../../../base/limits.ts'
import { rememberRequest } from '../../request.ts'
import { limitView } from '../limits.ts'
import { readCardRequest } from '../requests.ts'
import type { CardStores, Cards } from '../service.ts'

/** POST /card/data/request: the designs of the holder's cards. Refuses as `requestConfig`. */
export function requestData(cards: Cards, value: unknown) {
  return answerHolder(cards, value, 'card-data-request', dataOf)
}

/**
 * POST /card/config/request: limits and trusted merchants of the holder's cards. Refuses `card-event-invalid`,
 * `card-event-stale`, `event-repeated`.
 */
export function requestConfig(cards: Cards, value: unknown) {
  return answerHolder(cards, value, 'card-config-request', configOf)
}

/** Any new key can ask, so keys without a card have a smaller share of the rows. */
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

/** How the cards of a holder look. */
export async function dataOf(tx: CardStores, holder: string) {
  const held = await tx.cards.listOf(holder, limits.cardsPerHolderMax)
  return Object.fromEntries(
    held.map(({ uuid, design }) => [uuid, { design: { ...design, description: '' } }]),
  )
}

/** Limits of a holder's cards, and the merchants that they pay. */
export async function configOf(tx: CardStores, holder: string) {
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
