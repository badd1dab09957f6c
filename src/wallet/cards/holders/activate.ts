import type { SharedGuess } from '../../../base/guesses.ts'
import { limits } from '../../../base/limits.ts'
import { Refusal, requireNoWait } from '../../../base/refusal.ts'
import type { AfterCommit, Locking } from '../../../db/database.ts'
import type { NostrEvent } from '../../../nostr/event.ts'
import { kinds } from '../../../nostr/kinds.ts'
import { createResponse } from '../../request.ts'
import type { Card } from '../card-store.ts'
import { codeMac } from '../code.ts'
import { type Delegation, parseDelegation, sealDelegation } from '../delegation.ts'
import { limitView } from '../limits.ts'
import { answerOnce, codeOf, readCardRequest } from '../requests.ts'
import type { CardStores, Cards } from '../service.ts'
import { oweNotice } from './notices.ts'

/**
 * POST /card: the key that brings the code of a card becomes its holder, with a delegation to the
 * manager key. The holder renews his delegation with the code that he used before.
 * Refuses `card-event-invalid`, `card-event-stale`, `card-content-invalid`,
 * `card-delegation-invalid`, `event-repeated`, `otc-unknown`, `cards-full`; `rate-limited` when the address,
 * the key or all together tried too many wrong codes, but not for a code that the service made.
 */
export async function activate(cards: Cards, value: unknown, address: string): Promise<NostrEvent> {
  const request = readCardRequest(cards, value, {
    kinds: [kinds.walletEphemeral],
    type: 'card-activation-request',
  })
  const { author: holder, content } = request
  const code = codeOf(content)
  const delegation = parseDelegation(cards, content.delegation, holder)
  const attempt = await cards.codeTries.take(address, holder)
  return orTooMany(attempt, () =>
    answerOnce(cards, request, 'activate', {
      roots: [{ holder }],
      async grant(tx) {
        const card = await handOver(cards, tx, { code, holder, delegation, attempt })
        oweNotice(tx, holder)
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
      },
    }),
  )
}

/**
 * Count a wrong code; give the guess back for any other outcome. While no guess is allowed, a wrong code
 * and a right one that was chosen get the same refusal, so that no guesser can tell them apart.
 */
async function orTooMany<T>(attempt: SharedGuess, activation: () => Promise<T>): Promise<T> {
  try {
    const done = await activation()
    await attempt.giveBack()
    return done
  } catch (cause) {
    const wrong = cause instanceof Refusal && cause.code === 'otc-unknown'
    if (wrong) requireNoWait(attempt.wait)
    else await attempt.giveBack()
    throw cause
  }
}

type Bringer = { code: string; holder: string; delegation: Delegation; attempt: SharedGuess }

async function handOver(
  { storeKey, now, defaultLimits }: Cards,
  tx: CardStores & AfterCommit & Locking,
  { code, holder, delegation, attempt }: Bringer,
): Promise<Card> {
  const mac = codeMac(storeKey, code)
  const named = await tx.cards.findCode(mac)
  const cid = named && (await tx.cards.findById(named.cardId))?.cid
  if (cid) await tx.lock({ card: cid })
  const found = await tx.cards.findCode(mac)
  const card = found && (await tx.cards.findById(found.cardId))
  if (!card || card.deletedAt !== null) throw new Refusal('otc-unknown')
  const sealed = sealDelegation(storeKey, { uuid: card.uuid, holder }, delegation)
  if (found.used) {
    if (!(await tx.cards.renew(card.id, holder, sealed))) throw new Refusal('otc-unknown')
    return { ...card, delegation: sealed }
  }
  // A code that the service made cannot be guessed: it needs no guess.
  if (found.chosen) requireNoWait(attempt.wait)
  const held = await tx.cards.listOf(holder, limits.cardsPerHolderMax)
  const already = held.some(({ id }) => id === card.id)
  if (held.length >= limits.cardsPerHolderMax && !already) throw new Refusal('cards-full')
  if (!(await tx.cards.spendCode(mac, now()))) throw new Refusal('otc-unknown')
  // From here it must succeed: code, holder and limits commit together.
  const activation = { holder, delegation: sealed, name: card.design.name, at: now() }
  await tx.cards.activate(card.id, activation)
  if (card.holder !== null && card.holder !== holder) oweNotice(tx, card.holder)
  await tx.holders.setLimits(card.id, defaultLimits)
  return (await tx.cards.findById(card.id)) ?? card
}
