/** "Make it mine": swap a coupon's code for one that only this device knows, and lose no answer. */

import type { Pending, PendingList } from '../../client/pending.ts'
import {
  type Answer,
  type Ask,
  codeOf,
  type Pause,
  persist,
  settles,
} from '../../client/persist.ts'
import { messageOf, termsOf } from '../../client/voucher-terms.ts'
import { parseEvent } from '../../nostr/event.ts'
import type { Held, Holdings } from './holdings.ts'

export type Taking =
  /** `retryAfter`: the service answered that it was asked too often, and when it may be asked again. */
  | { step: 'taking'; nonce: string; lost: number; retryAfter: number | null }
  /** `kept` is false where the browser keeps nothing: then the screen is the only copy. */
  | { step: 'mine'; old: string; held: Held; kept: boolean }
  /** Somebody else swapped, redeemed or cancelled it first, or it is over. */
  | { step: 'gone'; nonce: string; why: 'moved' | 'claimed' | 'voided' | 'expired' | 'unknown' }
  | { step: 'refused'; nonce: string; message: string | null }

type Taker = {
  /** Swap the code of a coupon; with a swap of it already open, finish that one. */
  take(nonce: string, name: string): Promise<Taking | null>
  /** Finish what was left open on this device: one promise for each. */
  resume(): Promise<Taking | null>[]
  /** Stop trying for now; the key stays kept. */
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

const reasons: Record<string, Extract<Taking, { step: 'gone' }>['why']> = {
  'voucher-refreshed': 'moved',
  'voucher-claimed': 'claimed',
  'voucher-cancelled': 'voided',
  'voucher-expired': 'expired',
  'voucher-unknown': 'unknown',
  'nonce-invalid': 'unknown',
}

export function createTaker({ ask, pause, pending, holdings, now, onChange }: Wiring): Taker {
  const running = new Map<string, Promise<Taking | null>>()
  let turn = 0

  const finish = async ({ nonce, key }: Pending): Promise<Taking | null> => {
    const mine = turn
    onChange({ step: 'taking', nonce, lost: 0, retryAfter: null })
    const answer = await persist(() => ask('/api/coupons/refresh', { nonce }, key), {
      pause,
      onLost(lost, answer) {
        const retryAfter = codeOf(answer) === 'rate-limited' ? answer.retryAfter : null
        onChange({ step: 'taking', nonce, lost, retryAfter })
      },
      goOn: () => turn === mine,
    })
    if (!settles(answer)) return null
    const outcome = outcomeOf(nonce, answer)
    // The new code is kept before the old one and its key are forgotten: in between, both fetch it.
    const unkept = outcome.step === 'mine' && !outcome.kept
    if (!unkept) pending.close(nonce)
    if (outcome.step === 'mine' && outcome.kept) holdings.remove(nonce)
    onChange(outcome)
    return outcome
  }

  const outcomeOf = (nonce: string, answer: Answer): Taking => {
    const terms = termsOf(answer)
    if (terms) {
      const at = now()
      const held: Held = {
        ...terms,
        status: 'minted',
        claimedAt: null,
        checkedAt: at,
        addedAt: at,
        voucher: parseEvent(answer.body.voucher),
        own: true,
        sent: null,
      }
      return { step: 'mine', old: nonce, held, kept: holdings.put(held) }
    }
    const why = reasons[codeOf(answer)]
    if (why) return { step: 'gone', nonce, why }
    return { step: 'refused', nonce, message: messageOf(answer) }
  }

  const once = (open: Pending) => {
    const known = running.get(open.nonce)
    if (known !== undefined) return known
    const started = finish(open).finally(() => running.delete(open.nonce))
    running.set(open.nonce, started)
    return started
  }

  return {
    take: (nonce, name) => once(pending.open(nonce, name)),
    resume: () => pending.all().map(once),
    leave() {
      turn++
    },
  }
}
