import { Refusal } from '../../base/refusal.ts'
import { readTap } from './read-tap.ts'
import { readCardRequest } from './requests.ts'
import type { Cards } from './service.ts'

type CardBudget = { of: 'card'; id: number }

const k1Form = /^[\w-]{22}$/

/** The budget of the card that was tapped; null for a tap of no card, or one that came before. */
export async function tapBudgetOf(
  cards: Cards,
  p: unknown,
  c: unknown,
): Promise<CardBudget | null> {
  try {
    const { cardId: id, counter } = await readTap(cards, p, c)
    const card = await cards.database.snapshot((tx) => tx.cards.findById(id))
    return card && card.counter < counter ? { of: 'card', id } : null
  } catch (refused) {
    if (refused instanceof Refusal) return null
    throw refused
  }
}

/** The budget of the card whose tap gave this k1, while it can pay or its payment is open. */
export async function k1BudgetOf(
  { database, now }: Cards,
  k1: unknown,
): Promise<CardBudget | null> {
  if (typeof k1 !== 'string' || !k1Form.test(k1)) return null
  const scan = await database.snapshot((tx) => tx.scans.find(k1))
  const open = scan && (scan.state === 'in-flight' || scan.expiresAt > now())
  return open ? { of: 'card', id: scan.cardId } : null
}

/** `k1BudgetOf` for the k1 in a signed request. */
export async function requestBudgetOf(cards: Cards, value: unknown): Promise<CardBudget | null> {
  try {
    return await k1BudgetOf(cards, readCardRequest(cards, value, { type: null }).content.k1)
  } catch (refused) {
    if (refused instanceof Refusal) return null
    throw refused
  }
}
