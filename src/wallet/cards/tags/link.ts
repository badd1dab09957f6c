import { Refusal } from '../../../base/refusal.ts'
import { codeMac } from '../code.ts'
import { readTap } from '../read-tap.ts'
import { chosenCode, readCardRequest, requireWriter } from '../requests.ts'
import type { CardAdmin, CardStores, Cards } from '../service.ts'
import { parseCid } from './initialise.ts'

/**
 * PATCH /ntag424: give the card that was tapped the code that a writer chose. The same pair again changes
 * nothing. A `cid` in the content has to be that of the tapped card. Refuses `card-event-invalid`,
 * `card-event-stale`, `card-content-invalid`, `card-writer-only`, as `readTap`, `card-linked`,
 * `otc-linked`.
 */
export async function link(
  cards: Cards,
  value: unknown,
  { p, c }: { p?: unknown; c?: unknown },
): Promise<void> {
  const request = readCardRequest(cards, value, { type: null })
  requireWriter(cards, request)
  const code = chosenCode(request.content.otc)
  const { cid } = request.content
  const named = cid === undefined || cid === null ? null : parseCid(cid)
  const { cardId, cid: tapped, count } = await readTap(cards, p, c)
  await cards.database.transact({ roots: [{ card: tapped }], first: count }, async (tx) => {
    const card = await tx.cards.findById(cardId)
    if (!card || card.deletedAt !== null) throw new Refusal('card-unknown')
    if (named !== null && named !== card.cid) {
      throw new Refusal('card-content-invalid', { field: 'cid' })
    }
    const found = await tx.cards.findCode(codeMac(cards.storeKey, code))
    if (found?.cardId === cardId) return
    const open = await tx.cards.openCode(cardId)
    if (card.holder !== null || open?.chosen) throw new Refusal('card-linked')
    await linkCode(cards, tx, cardId, code)
  })
}

/** Link a code to a card in place of its unused one. Refuses `otc-linked`. */
export async function linkCode(
  { storeKey, now }: CardAdmin,
  tx: CardStores,
  cardId: number,
  code: string,
): Promise<void> {
  const mac = codeMac(storeKey, code)
  if (await tx.cards.findCode(mac)) throw new Refusal('otc-linked')
  await tx.cards.linkCode(mac, { cardId, chosen: true, at: now() })
}
