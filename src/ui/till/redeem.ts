/** Redemption at the counter: a preview, then one tap. Every outcome shown is an answer of the service. */

import type { RefusalCode } from '../../client/described/codes.ts'
import type { Named, Pending, PendingList } from '../../client/pending.ts'
import {
  type Answer,
  type Ask,
  codeOf,
  type Pause,
  persist,
  settles,
} from '../../client/persist.ts'
import { type Verdict, verifyVoucher } from '../../client/voucher-proof.ts'
import { isUnknown, messageOf, termsOf, type VoucherTerms } from '../../client/voucher-terms.ts'
import type { Money } from '../../coupons/money.ts'
import type { NostrEvent } from '../../nostr/event.ts'
import { parsePubkey } from '../../nostr/keys.ts'

/**
 * `settled`: redeemed by a claim that was put aside, so its benefit may be handed over already. `foreign`: a
 * coupon of another shop. `moved`: refreshed, so another nonce is valid now. `later` and `small`: its rules do not
 * allow it now, or not for this purchase. `barred`: its shop lets only authorised tills redeem.
 */
export type Outcome =
  | 'success'
  | 'settled'
  | 'already'
  | 'foreign'
  | 'expired'
  | 'voided'
  | 'moved'
  | 'later'
  | 'small'
  | 'barred'
  | 'unknown'

export type Redemption = { step: 'idle' } | RedemptionUnderWay

/** A redemption from the scan on. */
export type RedemptionUnderWay =
  | { step: 'looking'; nonce: string }
  /** Valid at the time of the preview. A tap redeems it, if its shop is one of this till's. */
  | { step: 'shown'; nonce: string; terms: VoucherTerms }
  /**
   * The claim is sent. With `lost` answers, the service may or may not have redeemed it. `told`: its answer
   * came late, and was reported then.
   */
  | {
      step: 'redeeming'
      nonce: string
      terms: VoucherTerms | null
      named: Named
      lost: number
      told: boolean
    }
  /** Another page of this till waits for the answer to its claim of this coupon. */
  | { step: 'other-page'; nonce: string }
  | {
      step: 'done'
      nonce: string
      outcome: Outcome
      terms: VoucherTerms | null
      claimedAt: number | null
      /** The time from which a coupon that cannot be used now can be. */
      usableAt?: number
    }
  /**
   * No preview: no answer, or a fault of the service with its sentence in `message`. `verdict`: the result
   * of the signature alone.
   */
  | {
      step: 'unreachable'
      nonce: string
      message: string | null
      verdict: Verdict | null
      voucher: NostrEvent | null
    }
  /** Another refusal. `message`: its sentence, if it had one. */
  | { step: 'refused'; nonce: string; message: string | null }

type Redeemer = {
  state(): Redemption
  /**
   * Preview a coupon. Ignored during a claim, and for the coupon on the screen: a scanner may read it twice.
   * An outcome gives way to a later read of its coupon: green must not stay for a copy of it.
   */
  look(nonce: string, voucher?: NostrEvent | null): Promise<void>
  /**
   * Redeem the coupon on the screen. Ignored unless its shop is one of this till's. `purchase`: absent where
   * nobody named it.
   */
  redeem(purchase?: Money): Promise<void>
  /** The person said that the coupon on the screen is of another shop. */
  disown(): void
  /** Fetch the answer of a redemption that was left open, for its record: it never ends in `success`. */
  settle(pending: Pending): Promise<void>
  /** Go on with a redemption that a reload interrupted, whose customer still waits. */
  resume(pending: Pending): Promise<void>
  /** Put the coupon away. A claim without an answer stays in the pending list. */
  leave(): void
}

/**
 * Runs `work` while no other page of this till runs work for this nonce: after it, or at once, or not at all.
 * False when it did not run.
 */
export type Alone = (
  nonce: string,
  when: 'afterwards' | 'now-or-never',
  work: () => Promise<void>,
) => Promise<boolean>

type Wiring = {
  ask: Ask
  pause: Pause
  pending: PendingList
  now: () => number
  /** A clock that never goes back. */
  nowMs: () => number
  /** The npubs of this till's shops; empty until a person named one. */
  shops: () => readonly string[]
  /** The pinned key of the manager; null where this device never reached the service. */
  manager: () => string | null
  onChange: (state: Redemption) => void
  alone: Alone
  /** Called with the answer of a redemption that is no longer on the screen. */
  onLate: (named: Named, outcome: Redemption) => void
}

/** A trigger that is held a moment too long reads again within it; the next customer takes longer. */
const debounceMs = 2000

/** An older open redemption waits for a tap: its customer has left, and nobody would watch its outcome. */
const resumeSeconds = 15 * 60

/**
 * Whether a page may finish an open redemption by itself. Asked again after the wait for another page. One that begins
 * later than now was stored by a clock that was set back since, so nobody knows its age.
 */
export function resumable({ startedAt, aside }: Pending, now: number): boolean {
  return !aside && Math.abs(now - startedAt) < resumeSeconds
}

export function createRedeemer(wiring: Wiring): Redeemer {
  const { ask, pause, pending, now, nowMs, shops, manager, alone, onChange, onLate } = wiring
  let state: Redemption = { step: 'idle' }
  /** Counts the coupons on the screen, so that a late preview does not replace the next one. */
  let turn = 0
  let shownAtMs = 0
  const show = (next: Redemption) => {
    state = next
    shownAtMs = nowMs()
    onChange(state)
  }
  /** Whether a read of this nonce is only a repetition of the read that led to the screen. */
  const repeated = (nonce: string) => {
    if (state.step === 'idle' || state.nonce !== nonce) return false
    if (state.step === 'unreachable' || state.step === 'other-page') return false
    const over = state.step === 'done' || state.step === 'refused'
    return !over || nowMs() - shownAtMs < debounceMs
  }

  /** An entry that was put aside, or that another page closed meanwhile, does not end in green. */
  const claim = async (open: Pending, terms: VoucherTerms | null) => {
    const mine = ++turn
    const { nonce, key, owner, purchase } = open
    const body = { nonce, ...(owner !== undefined && { owner }), ...(purchase && { purchase }) }
    const told = open.answered === true
    const waiting = { step: 'redeeming', nonce, terms, named: open, told } as const
    show({ ...waiting, lost: 0 })
    const answer = await persist(() => ask('POST /api/coupons/claim', body, key), {
      pause,
      onLost: (lost) => {
        if (turn === mine) show({ ...waiting, lost })
      },
      goOn: () => turn === mine,
      settled: settles,
    })
    if (!settles(answer)) return
    const onScreen = turn === mine
    const entry = pending.find(nonce)
    const waited = onScreen && entry?.key === key && !entry.aside
    const redeemed = waited ? 'success' : 'settled'
    const outcome = outcomeOf(nonce, answer, terms, { redeemed, now: now() })
    // The customer got nothing yet: the next scan needs the key, to show this redemption as settled.
    if (!onScreen && outcome.step === 'done' && outcome.outcome === 'settled') {
      pending.markAnswered(nonce, key)
    } else {
      // Only a final answer removes the key: nothing else can fetch this answer again.
      pending.close(nonce, key)
    }
    if (onScreen) show(outcome)
    else onLate(open, outcome)
  }
  /** Claim a coupon, unless another page of this till waits for the answer to its own claim of it. */
  const claimAlone = async (nonce: string, named: Named, work: () => Promise<void>) => {
    const mine = ++turn
    // Before the lock is there: a second tap must not ask for it again.
    show({ step: 'redeeming', nonce, terms: null, named, lost: 0, told: false })
    const ran = await alone(nonce, 'now-or-never', async () => {
      if (turn === mine) await work()
    })
    if (!ran && turn === mine) show({ step: 'other-page', nonce })
  }
  /** Fetch the answer of an entry whose customer may have left. Not green after a reload, either. */
  const settle = (open: Pending) => {
    // The page that put it aside may still hold its lock for a moment, and waits for nothing.
    if (open.aside) return claim(open, null)
    const { nonce } = open
    return claimAlone(nonce, open, () => {
      pending.putAside(nonce)
      return claim(open, null)
    })
  }

  return {
    state: () => state,
    async look(nonce, voucher = null) {
      if (state.step === 'redeeming') return
      if (repeated(nonce)) return
      const open = pending.find(nonce)
      // It was claimed from here already: its old key fetches that answer, a new one would find it redeemed.
      if (open) return settle(open)
      const mine = ++turn
      show({ step: 'looking', nonce })
      const answer = await ask('POST /api/coupons/preview', { nonce })
      if (turn !== mine) return
      if (settles(answer)) return show(previewOf(nonce, answer, shops()))
      const key = manager()
      const verdict =
        voucher && key !== null ? verifyVoucher(voucher, { manager: key, nonce, now: now() }) : null
      show({ step: 'unreachable', nonce, message: messageOf(answer), verdict, voucher })
    },
    async redeem(purchase) {
      if (state.step !== 'shown') return
      const { nonce, terms } = state
      const owner = shops().includes(terms.npub) ? parsePubkey(terms.npub) : null
      if (owner === null) return
      const other = pending.find(nonce)
      // Another page claimed it since the preview. It waits for nothing, though its lock may last a moment.
      if (other?.aside) return claim(other, terms)
      await claimAlone(nonce, terms, () => {
        // That page is gone.
        if (pending.find(nonce)) pending.putAside(nonce)
        // The key is stored before the request leaves: a reload retries with the same one.
        const sent = { owner, ...(purchase && { purchase }) }
        return claim(pending.open(nonce, terms, sent), terms)
      })
    },
    disown() {
      if (state.step !== 'shown') return
      const { nonce, terms } = state
      show({ step: 'done', nonce, outcome: 'foreign', terms, claimedAt: null })
    },
    settle,
    async resume({ nonce }) {
      await alone(nonce, 'afterwards', async () => {
        // Another page may have finished it or put it aside, and this one may have a coupon on the screen.
        const open = pending.find(nonce)
        if (open && resumable(open, now()) && state.step === 'idle') await claim(open, null)
      })
    },
    leave() {
      if (state.step === 'redeeming') pending.putAside(state.nonce)
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
  if (isUnknown(answer)) return done('unknown')
  // Another shop's coupon is not redeemed here, whatever its status.
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

const outcomes: { readonly [code in RefusalCode]?: Outcome } = {
  'other-merchant': 'foreign',
  'till-not-allowed': 'barred',
  'voucher-moved': 'moved',
  'voucher-cancelled': 'voided',
  'voucher-expired': 'expired',
  'not-now': 'later',
  'minimum-not-met': 'small',
  'voucher-unknown': 'unknown',
}

/** The outcome in the answer to a claim. Only `success` means that the goods may be handed over. */
function outcomeOf(
  nonce: string,
  answer: Answer,
  known: VoucherTerms | null,
  { redeemed, now }: { redeemed: 'success' | 'settled'; now: number },
): Redemption {
  const terms = termsOf(answer) ?? known
  const claimedAt = claimedAtOf(answer)
  if (answer.failure === null) {
    const outcome = answer.body.status === 'success' ? redeemed : 'already'
    return { step: 'done', nonce, outcome, terms, claimedAt }
  }
  const outcome = outcomes[codeOf(answer) as RefusalCode]
  const { retryAfter } = answer
  const later = outcome === 'later' && retryAfter !== null && { usableAt: now + retryAfter }
  if (outcome) return { step: 'done', nonce, outcome, terms, claimedAt: null, ...later }
  return refused(nonce, answer)
}

function refused(nonce: string, answer: Answer): Redemption {
  return { step: 'refused', nonce, message: messageOf(answer) }
}

function claimedAtOf({ body }: Answer): number | null {
  return typeof body.claimedAt === 'number' ? body.claimedAt : null
}
