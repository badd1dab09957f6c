import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import type { NostrEvent } from '../../nostr/event.ts'
import { kinds } from '../../nostr/kinds.ts'
import { createResponse } from '../request.ts'
import type { Card } from './card-store.ts'
import { codeMac } from './code.ts'
import { type Delegation, parseDelegation, sealDelegation } from './delegation.ts'
import { limitView } from './limits.ts'
import { answerOnce, codeOf, readCardRequest } from './requests.ts'
import type { CardStores, Cards } from './service.ts'

/**
 * POST /card: whoever brings the code of a card becomes its holder, with a delegation to the
 * manager. The holder himself may come again with the code he used: his delegation is renewed.
 * Refuses `card-event-invalid`, `card-event-stale`, `card-content-invalid`,
 * `card-delegation-invalid`, `event-repeated`, `otc-unknown`, `cards-full`.
 */
export async function activate(cards: Cards, value: unknown): Promise<NostrEvent> {
  const request = readCardRequest(cards, value, {
    kinds: [kinds.walletEphemeral],
    type: 'card-activation-request',
  })
  const { author: holder, content } = request
  const code = codeOf(content)
  const delegation = parseDelegation(cards, content.delegation, holder)
  return answerOnce(cards, request, 'activate', async (tx) => {
    const card = await handOver(cards, tx, { code, holder, delegation })
    const rows = await tx.holders.limitsOf(card.id)
    const answer = {
      uuid: card.uuid,
      name: card.name,
      description: card.description,
      enabled: card.enabled && !card.blocked,
      holderPubKey: holder,
      ntag424Cid: card.cid,
      limits: rows.map(limitView),
    }
    const response = createResponse(cards.signer, request, {
      type: 'card-activate-response',
      content: JSON.stringify(answer),
      now: cards.now(),
    })
    return { answer: response, again: response }
  })
}

async function handOver(
  { storeKey, now, defaultLimits }: Cards,
  tx: CardStores,
  { code, holder, delegation }: { code: string; holder: string; delegation: Delegation },
): Promise<Card> {
  const mac = codeMac(storeKey, code)
  const found = await tx.cards.findCode(mac)
  const card = found && (await tx.cards.findById(found.cardId))
  if (!card || card.deletedAt !== null) throw new Refusal('otc-unknown')
  const sealed = sealDelegation(storeKey, { uuid: card.uuid, holder }, delegation)
  if (found.used) {
    if (!(await tx.cards.renew(card.id, holder, sealed))) throw new Refusal('otc-unknown')
    return { ...card, delegation: sealed }
  }
  const held = await tx.cards.listOf(holder, limits.cardsPerHolderMax)
  const already = held.some(({ id }) => id === card.id)
  if (held.length >= limits.cardsPerHolderMax && !already) throw new Refusal('cards-full')
  if (!(await tx.cards.spendCode(mac, now()))) throw new Refusal('otc-unknown')
  // From here it must succeed: code, holder and limits go together.
  const activation = { holder, delegation: sealed, name: card.design.name, at: now() }
  await tx.cards.activate(card.id, activation)
  await tx.holders.setLimits(card.id, defaultLimits)
  return (await tx.cards.findById(card.id)) ?? card
}
