/** What the coupon page knows and shows. */
import { signal } from '@preact/signals'
import { systemClock } from '../../base/clock.ts'
import { createPauses } from '../../client/pause.ts'
import { openPendingList } from '../../client/pending.ts'
import { codeOf, settles } from '../../client/persist.ts'
import { randomText } from '../../client/random.ts'
import { isNonce, type Scanned } from '../../client/scan.ts'
import { messageOf, termsOf } from '../../client/voucher-terms.ts'
import { device } from '../browser/storage.ts'
import { say } from '../parts/toast.tsx'
import { ask, reachable } from '../state/reach.ts'
import { couponWords as t } from '../words/coupon.ts'
import { type Held, openHoldings, type Status } from './holdings.ts'
import { createTaker, type Taking } from './take.ts'

/** The coupon on the page. */
type View =
  | { step: 'looking' }
  /** `fresh`: the service said so just now; else it is what this device knew. */
  | { step: 'shown'; held: Held; fresh: boolean }
  | { step: 'unknown' }
  /** `message`: why the service, which was there, could not tell. */
  | { step: 'unreachable'; message: string | null }

export const holdings = openHoldings(device, 'coupons')
const pauses = createPauses()
const pending = openPendingList({
  store: device,
  name: 'takes',
  now: systemClock,
  newKey: randomText,
})

/** The code of the coupon on the page; null shows the list. */
export const open = signal<string | null>(null)
export const view = signal<View>({ step: 'looking' })
export const kept = signal<readonly Held[]>(holdings.all())
/** What making the coupon on the page one's own has come to; null before and after. */
export const taking = signal<Taking | null>(null)

const taker = createTaker({
  ask,
  pause: pauses.pause,
  pending,
  holdings,
  now: systemClock,
  onChange(next) {
    kept.value = holdings.all()
    const code = next.step === 'mine' ? next.old : next.nonce
    if (code !== open.peek()) {
      // Of a coupon that is not on the page: a swap that was left half-way.
      if (next.step === 'mine') say(t('take.done'))
      if (next.step === 'gone') say(t('take.gone'), 'bad')
      return
    }
    if (next.step === 'mine') {
      // The old code is worth nothing now: the page goes on with the new one.
      open.value = next.held.nonce
      remember(next.held.nonce)
      view.value = { step: 'shown', held: next.held, fresh: true }
    }
    taking.value = next
    if (next.step === 'gone') void look(next.nonce)
  },
})

/**
 * The code in the address, taken out of it: what stays in the address bar is seen over a shoulder, in
 * histories and in their copies on other devices. The entry of this tab keeps it, so a reload works.
 */
export function readAddress(): void {
  const code = location.hash.slice(1)
  const state = history.state as { nonce?: unknown } | null
  const known = typeof state?.nonce === 'string' && isNonce(state.nonce) ? state.nonce : null
  if (code === '') {
    show(known)
  } else {
    const nonce = isNonce(code) ? code : null
    remember(nonce)
    show(nonce, nonce === null)
  }
}

function remember(nonce: string | null): void {
  history.replaceState({ nonce }, '', '/c')
}

/** Open a coupon, as a page of its own that "back" leads away from. */
export function openCoupon(nonce: string): void {
  history.pushState({ nonce }, '', '/c')
  show(nonce)
}

export function openList(): void {
  history.pushState(null, '', '/c')
  show(null)
}

export function openScanned(scanned: Scanned): boolean {
  if (scanned.kind === 'other') return false
  openCoupon(scanned.nonce)
  return true
}

function show(nonce: string | null, wrong = false): void {
  taking.value = null
  open.value = nonce
  kept.value = holdings.all()
  if (nonce !== null) {
    view.value = { step: 'looking' }
    void look(nonce)
    if (pending.find(nonce)) {
      taking.value = { step: 'taking', nonce, lost: 0, retryAfter: null }
      void taker.take(nonce, '')
    }
  } else if (wrong) {
    open.value = ''
    view.value = { step: 'unknown' }
  }
}

export async function look(nonce: string): Promise<void> {
  const answer = await ask('/api/coupons/preview', { nonce })
  const before = holdings.find(nonce)
  const terms = settles(answer) ? termsOf(answer) : null
  if (terms) {
    const { status, claimedAt } = answer.body
    const now = systemClock()
    const held: Held = {
      voucher: null,
      own: false,
      sent: null,
      addedAt: now,
      ...before,
      ...terms,
      status: status as Status,
      claimedAt: typeof claimedAt === 'number' ? claimedAt : null,
      checkedAt: now,
    }
    if (before) keep(held)
    if (open.peek() === nonce) view.value = { step: 'shown', held, fresh: true }
    return
  }
  if (open.peek() !== nonce) return
  if (settles(answer) && /^(voucher-unknown|nonce-invalid)$/.test(codeOf(answer))) {
    view.value = { step: 'unknown' }
  } else if (before) {
    view.value = { step: 'shown', held: before, fresh: false }
  } else {
    view.value = { step: 'unreachable', message: messageOf(answer) }
  }
}

/** Keep a coupon on this device; false where the browser keeps nothing. */
export function keep(held: Held): boolean {
  const done = holdings.put(held)
  kept.value = holdings.all()
  return done
}

export function remove(nonce: string): void {
  holdings.remove(nonce)
  kept.value = holdings.all()
}

export function take(held: Held): void {
  void taker.take(held.nonce, held.name)
}

/** Ask again now for the answer of a swap. */
export function askNow(): void {
  pauses.wake()
}

/** How many coupons of the list are asked about at once. */
const looksAtOnce = 4

/** Ask what became of every coupon of this device that may still change. */
export async function lookAtAll(): Promise<void> {
  const waiting = holdings.all().filter(({ status }) => status === 'minted')
  const worker = async () => {
    for (let one = waiting.shift(); one; one = waiting.shift()) await look(one.nonce)
  }
  await Promise.all(Array.from({ length: looksAtOnce }, worker))
}

/** Finish what a page before this one left half-way, and go on when the service is back. */
export function resume(): void {
  void Promise.all(taker.resume())
  reachable.subscribe((there) => {
    if (!there) return
    askNow()
    const nonce = open.peek()
    const now = view.peek()
    const stale = now.step === 'unreachable' || (now.step === 'shown' && !now.fresh)
    if (nonce && stale) void look(nonce)
  })
}
