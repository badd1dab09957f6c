/** "Make it mine": a refresh that gives this device a nonce nobody else knows. A lost answer is fetched again. */

import type { RefusalCode } from '../../client/described/codes.ts'
import type { Pending, PendingList } from '../../client/pending.ts'
import {
  type Answer,
  type Ask,
  codeOf,
  createRuns,
  limitedSeconds,
  type Pause,
  persist,
  settles,
} from '../../client/persist.ts'
import { messageOf, termsOf } from '../../client/voucher-terms.ts'
import { parseEvent } from '../../nostr/event.ts'
import type { Held, Holdings } from './holdings.ts'

export type Taking =
  /** `retryAfter`: seconds to wait, where the service refused because of its rate limit. */
  | { step: 'taking'; nonce: string; lost: number; retryAfter: number | null }
  /** `kept`: false where the device did not store it, so that the screen has the only copy. */
  | { step: 'mine'; old: string; held: Held; kept: boolean }
  /** The nonce is no longer valid: swapped, redeemed, voided or expired before. */
  | { step: 'gone'; nonce: string; why: 'moved' | 'claimed' | 'voided' | 'expired' | 'unknown' }
  | { step: 'refused'; nonce: string; message: string | null }

type Taker = {
  /** Swap the nonce of a coupon, or finish the open swap of it. */
  take(nonce: string, name: string): Promise<Taking | null>
  /** Finish the open swaps of this device: one promise for each. */
  resume(): Promise<Taking | null>[]
  /** The coupon of this new nonce is stored or removed, so its swap need not be finished again. */
  settle(nonce: string): void
  /** Stop retrying. The keys stay stored. */
  leave(): void
}

type Wiring = {
  ask: Ask
  pause: Pause
  pending: PendingList
  holdings: Holdings
  now: () => number
  onChange: (state: Taking) => void
}

const reasons: { readonly [code in RefusalCode]?: Extract<Taking, { step: 'gone' }>['why'] } = {
  'voucher-refreshed': 'moved',
  'voucher-claimed': 'claimed',
  'voucher-cancelled': 'voided',
  'voucher-expired': 'expired',
  'voucher-unknown': 'unknown',
}

/** The coupon in an answer that only this device gets; null when there is none. `at`: Unix seconds. */
export function ownCoupon(answer: Answer, at: number): Held | null {
  const terms = termsOf(answer)
  return (
    terms && {
      ...terms,
      ...{ status: 'minted', claimedAt: null, checkedAt: at, addedAt: at },
      voucher: parseEvent(answer.body.voucher),
      ...{ own: true, sent: null },
    }
  )
}

export function createTaker({ ask, pause, pending, holdings, now, onChange }: Wiring): Taker {
  const run = createRuns<Taking | null>()
  /** The open swap of each new nonce that the device did not store. */
  const unstored = new Map<string, Pending>()
  let turn = 0

  const finish = async (open: Pending): Promise<Taking | null> => {
    const { nonce, key } = open
    const mine = turn
    onChange({ step: 'taking', nonce, lost: 0, retryAfter: null })
    const answer = await persist(() => ask('POST /api/coupons/refresh', { nonce }, key), {
      pause,
      onLost(lost, answer) {
        onChange({ step: 'taking', nonce, lost, retryAfter: limitedSeconds(answer) })
      },
      goOn: () => turn === mine,
      settled: settles,
    })
    if (!settles(answer)) return null
    const outcome = outcomeOf(nonce, answer)
    // Store the new nonce before the key goes: a crash in between can still fetch it.
    if (outcome.step === 'mine' && !outcome.kept) unstored.set(outcome.held.nonce, open)
    else pending.close(nonce, key)
    onChange(outcome)
    return outcome
  }

  const outcomeOf = (nonce: string, answer: Answer): Taking => {
    const held = ownCoupon(answer, now())
    if (held) return { step: 'mine', old: nonce, held, kept: holdings.put(held, nonce) }
    const why = reasons[codeOf(answer) as RefusalCode]
    if (why) return { step: 'gone', nonce, why }
    return { step: 'refused', nonce, message: messageOf(answer) }
  }

  const once = (open: Pending) => run(open.nonce, () => finish(open))

  return {
    take: (nonce, name) => once(pending.open(nonce, { name })),
    resume: () => pending.all().map(once),
    settle(nonce) {
      const open = unstored.get(nonce)
      if (open) pending.close(open.nonce, open.key)
      unstored.delete(nonce)
    },
    leave() {
      turn++
    },
  }
}
