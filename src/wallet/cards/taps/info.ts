import { Refusal } from '../../../base/refusal.ts'
import type { Card } from '../card-store.ts'
import { openAt, openDelegation } from '../delegation.ts'
import type { CardStores, Cards } from '../service.ts'

/** The state of a card; without its code and without the token of its delegation. */
export async function info(cards: Cards, tx: CardStores, card: Card | null): Promise<object> {
  if (!card || card.deletedAt !== null) throw new Refusal('card-unknown')
  const { cid, counter, design, holder } = card
  const delegation = openDelegation(cards.storeKey, card)
  const current = delegation !== null && openAt(delegation.window, cards.now())
  const account = holder === null ? null : await tx.accounts.findByKey(holder)
  const coded = holder !== null || (await tx.cards.openCode(card.id)) !== null
  return {
    tag: 'laWallet:info',
    info: {
      status: {
        initialized: true,
        associated: coded,
        activated: holder !== null,
        hasDelegation: current,
        hasIdentity: account !== null,
      },
      ntag424: { ok: { cid, ctr: counter, ctrNew: counter, otc: null, design } },
      card: holder === null ? null : { ok: cardView(card) },
      holder: delegation && {
        ok: {
          pubKey: holder,
          delegations: [
            {
              kind: 1112,
              since: new Date(delegation.window.after * 1000).toUTCString(),
              until: new Date(delegation.window.before * 1000).toUTCString(),
              isCurrent: current,
            },
          ],
        },
      },
      identity: account && { ok: { name: account.name } },
    },
  }
}

function cardView({ uuid, name, description, enabled, blocked }: Card) {
  return { uuid, name, description, enabled: enabled && !blocked }
}
