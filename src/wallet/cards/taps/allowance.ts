import { limits } from '../../../base/limits.ts'
import type { Card } from '../card-store.ts'
import type { CardStores, Cards } from '../service.ts'

/** The most that a card can pay of a token now, by its holder's balance and by each of its limits. */
export async function allowanceOf(
  { funds, now }: Pick<Cards, 'funds' | 'now'>,
  tx: CardStores,
  card: Pick<Card, 'id'> & { holder: string },
  token: string,
): Promise<bigint> {
  let most = (await funds.balance(tx, card.holder, token)) ?? limits.tokenAmountMax
  for (const limit of await tx.holders.limitsOf(card.id)) {
    if (limit.token !== token) continue
    const spending = { cardId: card.id, holder: card.holder, token, since: now() - limit.delta }
    const spent = limit.delta === 0 ? 0n : await funds.spent(tx, spending)
    const remaining = limit.amount - spent
    if (remaining < most) most = remaining
  }
  return most > 0n ? most : 0n
}
