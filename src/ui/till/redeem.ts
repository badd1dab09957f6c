/** Redeeming at the counter: look, then one tap, and no answer is made up. */

import type { Pending, PendingList } from '../../client/pending.ts'
import {
  type Answer,
  type Ask,
  codeOf,
  type Pause,
  persist,
  settles,
} from '../../client/persist.ts'
import { judgeVoucher, type Verdict } from '../../client/voucher-proof.ts'
import { messageOf, termsOf, type VoucherTerms } from '../../client/voucher-terms.ts'
import type { NostrEvent } from '../../nostr/event.ts'
import { parsePubkey } from '../../nostr/keys.ts'

/** `foreign`: of a shop that is none of this till's. */
export type Outcome = 'success' | 'already' | 'foreign' | 'expired' | 'voided' | 'moved' | 'unknown'

export type Redemption = { step: 'idle' } | RedemptionUnderWay

/** A redemption from the moment that a coupon came before the till. */
export type RedemptionUnderWay =
  | { step: 'looking'; nonce: string }
  /** Good as far as the service knows. A tap redeems it, where its shop is one of this till's. */
  | { step: 'shown'; nonce: string; terms: VoucherTerms }
  /** The request is out. After `lost` answers it is unconfirmed: perhaps redeemed, perhaps not. */
  | { step: 'redeeming'; nonce: string; terms: VoucherTerms | null; name: string; lost: number }
  | {
      step: 'done'
      nonce: string
      outcome: Outcome
      terms: VoucherTerms | null
      claimedAt: number | null
    }
  /**
   * The service could not be asked, or could not tell and said so in `message`; `verdict` is what the
   * signature alone proves.
   */
  | {
      step: 'unreachable'
      nonce: string
      message: string | null
      verdict: Verdict | null
      voucher: NostrEvent | null
    }
  /** The service answered something that is neither: `message` is its own sentence, if it had one. */
  | { step: 'refused'; nonce: string; message: string | null }

type Redeemer = {
  state(): Redemption
  /** Look a coupon up. Ignored while a redemption is out, and for the coupon on screen. */
  look(nonce: string, voucher?: NostrEvent | null): Promise<void>
  /** Redeem the coupon on screen. Ignored unless its shop is one of this till's. */
  redeem(): Promise<void>
  /** The coupon on screen is of another shop: the person said so. */
  disown(): void
  /** Fetch the answer of one that was left open, by this page or by one before it. */
  settle(pending: Pending): Promise<void>
  /** Leave the coupon on screen; a redemption that is out stays in the list of pending ones. */
  leave(): void
}

type Wiring = {
  ask: Ask
  pause: Pause
  pending: PendingList
  now: () => number
  /** The npubs of the shops whose coupons are redeemed here; none until somebody said so. */
  shops: () => readonly string[]
  /** The pinned key of the manager; null when this device never was online here. */
  manager: () => string | null
  onChange: (state: Redemption) => void
  /** The answer of a redemption that had left the screen by then. */
  onLate: (name: string, outcome: Redemption) => void
}

export function createRedeemer(wiring: Wiring): Redeemer {
  const { ask, pause, pending, now, shops, manager, onChange, onLate } = wiring
  let state: Redemption = { step: 'idle' }
  /** Answers to a coupon that left the screen are for nobody. */
  let turn = 0
  const show = (next: Redemption) => {
    state = next
    onChange(state)
  }

  const claim = async (open: Pending, terms: VoucherTerms | null) => {
    const mine = ++turn
    const { nonce, key, name, owner } = open
    const body = { nonce, ...(owner !== undefined && { owner }) }
    show({ step: 'redeeming', nonce, terms, name, lost: 0 })
    const answer = await persist(() => ask('/api/coupons/claim', body, key), {
      pause,
      onLost: (lost) => {
        if (turn === mine) show({ step: 'redeeming', nonce, terms, name, lost })
      },
      goOn: () => turn === mine,
    })
    if (!settles(answer)) return
    pending.close(nonce)
    const outcome = outcomeOf(nonce, answer, terms)
    if (turn === mine) show(outcome)
    else onLate(name, outcome)
  }

  return {
    state: () => state,
    async look(nonce, voucher = null) {
      if (state.step === 'redeeming') return
      if (state.step !== 'idle' && state.step !== 'unreachable' && state.nonce === nonce) return
      const open = pending.find(nonce)
      if (open) return claim(open, null)
      const mine = ++turn
      show({ step: 'looking', nonce })
      const answer = await ask('/api/coupons/preview', { nonce })
      if (turn !== mine) return
      if (settles(answer)) return show(previewOf(nonce, answer, shops()))
      const key = manager()
      const verdict =
        voucher && key !== null ? judgeVoucher(voucher, { manager: key, nonce, now: now() }) : null
      show({ step: 'unreachable', nonce, message: messageOf(answer), verdict, voucher })
    },
    async redeem() {
      if (state.step !== 'shown') return
      const { nonce, terms } = state
      const owner = shops().includes(terms.npub) ? parsePubkey(terms.npub) : null
      if (owner === null) return
      // On disk before it leaves: a reload finds the same key.
      await claim(pending.open(nonce, terms.name, owner), terms)
    },
    disown() {
      if (state.step !== 'shown') return
      const { nonce, terms } = state
      show({ step: 'done', nonce, outcome: 'foreign', terms, claimedAt: null })
    },
    settle: (open) => claim(open, null),
    leave() {
      turn++
      show({ step: 'idle' })
    },
  }
}

function previewOf(nonce: string, answer: Answer, shops: readonly string[]): Redemption {
  const terms = termsOf(answer)
  const done = (outcome: Outcome): Redemption => {
    return { step: 'done', nonce, outcome, terms, claimedAt: claimedAtOf(answer) }
  }
  if (codeOf(answer) === 'voucher-unknown' || codeOf(answer) === 'nonce-invalid') {
    return done('unknown')
  }
  // Its status does not matter to another shop.
  if (terms && shops.length > 0 && !shops.includes(terms.npub)) return done('foreign')
  switch (answer.body.status) {
    case 'minted':
      return terms ? { step: 'shown', nonce, terms } : refused(nonce, answer)
    case 'claimed':
      return done('already')
    case 'refreshed':
      return done('moved')
    case 'voided':
      return done('voided')
    case 'expired':
      return done('expired')
    default:
      return refused(nonce, answer)
  }
}

const outcomes: Record<string, Outcome> = {
  'other-merchant': 'foreign',
  'voucher-moved': 'moved',
  'voucher-cancelled': 'voided',
  'voucher-expired': 'expired',
  'voucher-unknown': 'unknown',
  'nonce-invalid': 'unknown',
}

/** What the answer to a claim says; only `success` is a redemption. */
function outcomeOf(nonce: string, answer: Answer, known: VoucherTerms | null): Redemption {
  const terms = termsOf(answer) ?? known
  const claimedAt = claimedAtOf(answer)
  if (answer.status < 300 && answer.body.status === 'success') {
    return { step: 'done', nonce, outcome: 'success', terms, claimedAt }
  }
  if (answer.status < 300 && answer.body.status === 'claimed') {
    return { step: 'done', nonce, outcome: 'already', terms, claimedAt }
  }
  const outcome = outcomes[codeOf(answer)]
  if (outcome) return { step: 'done', nonce, outcome, terms, claimedAt: null }
  return refused(nonce, answer)
}

function refused(nonce: string, answer: Answer): Redemption {
  return { step: 'refused', nonce, message: messageOf(answer) }
}

function claimedAtOf({ body }: Answer): number | null {
  return typeof body.claimedAt === 'number' ? body.claimedAt : null
}
