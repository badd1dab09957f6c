import { limits } from '../../limits.ts'
import { rememberRequest } from '../request.ts'
import { limitView } from './limits.ts'
import { readCardRequest } from './requests.ts'
import type { CardStores, Cards } from './service.ts'

/** POST /card/data/request: how the holder's cards look. Refuses as `requestConfig`. */
export function requestData(cards: Cards, value: unknown) {
  const request = readCardRequest(cards, value, {
    type: 'card-data-request',
    untyped: true,
    empty: true,
  })
  return cards.database.transact(async (tx) => {
    await rememberRequest(tx.requests, request)
    const held = await tx.cards.listOf(request.author, limits.cardsPerHolderMax)
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
  const request = readCardRequest(cards, value, {
    type: 'card-config-request',
    untyped: true,
    empty: true,
  })
  return cards.database.transact(async (tx) => {
    await rememberRequest(tx.requests, request)
    return configOf(tx, request.author)
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
