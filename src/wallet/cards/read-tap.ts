import { Refusal } from '../../base/refusal.ts'
import type { First } from '../../db/database.ts'
import type { Card } from './card-store.ts'
import type { CardStores, Cards } from './service.ts'
import { keyVersions } from './tag.ts'
import { openTap, parseTap, tapIsGenuine } from './tap.ts'

/** A tap with a right MAC, of a card that this service knows. */
export type GenuineTap = {
  cardId: number
  /** The UID of its tag. */
  cid: string
  counter: number
  /** Moves the counter up, before the operation that the tap is for; a refusal of that does not undo it. */
  count: First<CardStores>
}

/** Refusals that a route has when it reads a tap. */
export const tapRefusals = ['tap-invalid', 'card-unknown', 'card-unconfirmed', 'tap-used'] as const

/**
 * Read a tap: form, MAC, card. The counter comes last, in `count`, by one conditional update: of two
 * identical taps one passes. Refuses `tap-invalid`, `card-unknown`; `count` refuses `tap-used`,
 * `card-unconfirmed`, `card-unknown`.
 */
export async function readTap(cards: Cards, p: unknown, c: unknown): Promise<GenuineTap> {
  const tap = parseTap(p, c)
  const picc = tap && openTap(tap, cards.keys.k1)
  if (!tap || !picc) throw new Refusal('tap-invalid')
  const { uid, counter } = picc
  const card = await cards.database.snapshot((tx) => tx.cards.findByCid(uid.toHex()))
  const k2 = cards.keys.k2Of(uid, card?.keyVersion ?? keyVersions.first)
  if (!tapIsGenuine(tap, picc, k2)) throw new Refusal('tap-invalid')
  if (!card || card.deletedAt !== null) throw new Refusal('card-unknown')
  const cardId = card.id
  return {
    cardId,
    cid: card.cid,
    counter,
    async count(tx) {
      if (await tx.cards.tapped(cardId, counter)) return
      const now = await tx.cards.findById(cardId)
      if (now?.deletedAt !== null) throw new Refusal('card-unknown')
      throw new Refusal(now.counterKnown ? 'tap-used' : 'card-unconfirmed')
    },
  }
}

/** A card that has a holder and is enabled. Refuses `card-inactive`, `card-disabled`. */
export function requireWorking(card: Card | null): Card & { holder: string } {
  if (!card || card.deletedAt !== null) throw new Refusal('card-unknown')
  const { holder } = card
  if (holder === null) throw new Refusal('card-inactive')
  if (!card.enabled || card.blocked) throw new Refusal('card-disabled')
  return { ...card, holder }
}
