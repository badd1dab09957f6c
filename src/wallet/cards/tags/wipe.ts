import { Refusal } from '../../../base/refusal.ts'
import type { AfterCommit } from '../../../db/database.ts'
import type { NostrEvent } from '../../../nostr/event.ts'
import { npubOf } from '../../../nostr/keys.ts'
import { oweNotice } from '../holders/notices.ts'
import { answerOnce, readCardRequest, requireWriter } from '../requests.ts'
import type { CardAdmin, CardStores, Cards } from '../service.ts'
import { answerKeys, keysOf, parseCid, requireSafeWay } from './initialise.ts'

/**
 * DELETE /ntag424: end a card; the answer has the keys to wipe its tag with. Repeated, the answer is the
 * same; for the very same event it is encrypted to the writer. Refuses `card-event-invalid`,
 * `card-event-stale`, `card-content-invalid`, `card-writer-only`, `encryption-needed`,
 * `card-unknown`, `event-repeated`.
 */
export async function wipe(cards: Cards, value: unknown, secure: boolean): Promise<NostrEvent> {
  const request = readCardRequest(cards, value, { type: 'card-delete-request', untyped: true })
  requireWriter(cards, request)
  const cid = parseCid(request.content.cid)
  await requireSafeWay(cards, request, secure)
  const answer = await answerOnce(cards, request, 'delete', {
    roots: [{ card: cid }],
    grant: async (tx) =>
      answerKeys(cards, request, 'card-delete-response', await wipeTag(cards, tx, cid)),
  })
  cards.keysRead({ cid, reader: npubOf(request.author), why: 'delete' })
  return answer
}

/** End a card; the result has the keys of its tag. Refuses `card-unknown`. */
export async function wipeTag(cards: CardAdmin, tx: CardStores & AfterCommit, cid: string) {
  const card = await tx.cards.findByCid(cid)
  if (!card) throw new Refusal('card-unknown')
  if (await tx.cards.remove(card.id, cards.now())) {
    await tx.cards.unlinkCode(card.id)
    if (card.holder !== null) oweNotice(tx, card.holder)
  }
  return { ...keysOf(cards, card), ctr: card.counter, designUuid: card.design.uuid }
}
