/** The state of the coupon page: the coupon on the screen and the list of this device. */
import { signal } from '@preact/signals'
import { systemClock } from '../../base/clock.ts'
import { createPauses } from '../../client/pause.ts'
import { openPendingList } from '../../client/pending.ts'
import { randomText } from '../../client/random.ts'
import { isNonce, type Scanned } from '../../client/scan.ts'
import { isUnknown, messageOf, termsOf } from '../../client/voucher-terms.ts'
import { nextTask } from '../browser/painted.ts'
import { device } from '../browser/storage.ts'
import { say } from '../parts/toast.tsx'
import { ask, reachable } from '../state/reach.ts'
import { couponWords as t } from '../words/coupon.ts'
import { type Held, openHoldings, type Status } from './holdings.ts'
import { openPosterTakes } from './poster-takes.ts'
import { createTaker, type Taking } from './take.ts'
import { openUnseen, type Unseen } from './unseen.ts'

/** The state of the coupon on the screen. */
type View =
  | { step: 'looking' }
  /** `fresh`: from the service just now; else from this device. */
  | { step: 'shown'; held: Held; fresh: boolean }
  | { step: 'unknown' }
  /** `message`: the sentence of a service that answered with a fault. */
  | { step: 'unreachable'; message: string | null }

const listName = 'coupons'
export const holdings = openHoldings(device, listName, systemClock)
const unseenName = 'coupons:unseen'
const unseenList = openUnseen(device, unseenName)
const pauses = createPauses()
const pending = openPendingList({
  store: device,
  name: 'takes',
  now: systemClock,
  newKey: randomText,
})

export const posterTakesName = 'poster-takes'
export const posterTakes = openPosterTakes(device, posterTakesName, randomText)

/** The nonce of the coupon on the screen; null shows the list, empty a code that is none. */
export const openNonce = signal<string | null>(null)
/** The id of the poster on the screen; null without one. */
export const openPoster = signal<string | null>(null)
export const view = signal<View>({ step: 'looking' })
export const kept = signal<readonly Held[]>(holdings.all())
/** Codes of this device whose coupons are not known yet. */
export const unseen = signal<readonly Unseen[]>(unseenList.all())
/** The swap of the coupon on the screen; null without one. */
export const taking = signal<Taking | null>(null)

const taker = createTaker({
  ask,
  pause: pauses.pause,
  pending,
  holdings,
  now: systemClock,
  onChange(next) {
    readDevice()
    if (next.step === 'mine') posterTakes.follow(next.old, next.held.nonce)
    const code = next.step === 'mine' ? next.old : next.nonce
    if (code !== openNonce.peek()) {
      // A swap of another coupon, which an earlier page left open.
      if (next.step === 'mine') say(t('take.done'))
      if (next.step === 'gone') say(t('take.gone'), 'bad')
      return
    }
    if (next.step === 'mine') {
      // The old nonce is spent, so the page continues with the new one.
      openNonce.value = next.held.nonce
      remember(next.held.nonce, !next.kept)
      view.value = { step: 'shown', held: next.held, fresh: true }
    }
    taking.value = next
    if (next.step === 'gone') void look(next.nonce)
  },
})

/**
 * Move the nonce from the address into the state of the history entry. An address is visible over a shoulder,
 * in the history and on synchronised devices; the state is not, and survives a reload.
 */
export function readAddress(): void {
  const code = location.hash.slice(1)
  const state = history.state as { nonce?: unknown } | null
  const known = typeof state?.nonce === 'string' && isNonce(state.nonce) ? state.nonce : null
  if (code === '') {
    show(known)
    openPoster.value = known === null ? posterIn(location.pathname) : null
  } else {
    const nonce = isNonce(code) ? code : null
    remember(nonce, true)
    show(nonce, nonce === null)
  }
}

/** The id in the address of a poster, or null. */
function posterIn(path: string): string | null {
  return /^\/c\/p\/([^/]+)\/?$/.exec(path)?.[1]?.toLowerCase() ?? null
}

/** `arriving`: the page has not kept the coupon of this entry yet. A reload and "back" keep nothing twice. */
function remember(nonce: string | null, arriving: boolean): void {
  history.replaceState({ nonce, arriving }, '', '/c')
}

function isArriving(nonce: string): boolean {
  const state = history.state as { nonce?: unknown; arriving?: unknown } | null
  return openNonce.peek() === nonce && state?.nonce === nonce && state.arriving === true
}

/** Show a coupon as a new entry of the history, so that "back" leads to the list. */
export function openCoupon(nonce: string, arriving = false): void {
  history.pushState({ nonce, arriving }, '', '/c')
  show(nonce)
}

export function openList(): void {
  history.pushState(null, '', '/c')
  show(null)
}

export function openScanned(scanned: Scanned): boolean {
  if (scanned.kind === 'other') return false
  openCoupon(scanned.nonce, true)
  return true
}

/**
 * Show a coupon that was taken from the poster on the screen, in place of it: "back" would lead to the poster and
 * from there to this coupon again.
 */
export function openTaken(held: Held): void {
  const known = holdings.find(held.nonce)
  remember(held.nonce, !known && !keep(held))
  show(held.nonce)
  view.value = { step: 'shown', held: known ?? held, fresh: true }
}

/** Another page of this device may have changed its lists. */
function readDevice(): void {
  kept.value = holdings.all()
  unseen.value = unseenList.all()
}

function show(nonce: string | null, wrong = false): void {
  taking.value = null
  openPoster.value = null
  openNonce.value = nonce
  readDevice()
  if (nonce !== null) {
    view.value = { step: 'looking' }
    if (isArriving(nonce)) keepUnseen(nonce)
    void nextTask().then(() => look(nonce))
    // A swap was sent and its answer is unknown: the nonce may be spent, and only this key fetches the new one.
    if (pending.find(nonce)) {
      taking.value = { step: 'taking', nonce, lost: 0, retryAfter: null }
      void taker.take(nonce, '')
    }
  } else if (wrong) {
    openNonce.value = ''
    view.value = { step: 'unknown' }
  }
}

/** The coupon on the screen, as last known; null while nothing is known of it. */
function heldOnScreen(nonce: string | null): Held | null {
  const now = view.peek()
  return now.step === 'shown' && now.held.nonce === nonce ? now.held : null
}

export async function look(nonce: string): Promise<void> {
  const answer = await ask('POST /api/coupons/preview', { nonce })
  const listed = holdings.find(nonce)
  const before = listed ?? heldOnScreen(nonce)
  const terms = termsOf(answer)
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
    if (listed) keep(held)
    else if (held.status !== 'minted') unseenList.remove(nonce)
    else if (isArriving(nonce) || unseenList.has(nonce)) keepAtFirstSight(held)
    readDevice()
    const swapped = status === 'refreshed' ? holdings.successorOf(nonce) : null
    if (openNonce.peek() !== nonce) return
    if (swapped) openInPlace(swapped)
    else view.value = { step: 'shown', held, fresh: true }
    return
  }
  const unknown = isUnknown(answer)
  if (unknown) unseenList.remove(nonce)
  readDevice()
  if (openNonce.peek() !== nonce) return
  if (unknown) {
    view.value = { step: 'unknown' }
  } else if (before) {
    // Also one that is not kept stays on the screen: its QR works at a till that has a connection.
    view.value = { step: 'shown', held: before, fresh: false }
  } else {
    view.value = { step: 'unreachable', message: messageOf(answer) }
  }
}

/** A link that was opened again, or another tab: this device has the coupon under its next code. */
function openInPlace({ nonce }: Held): void {
  remember(nonce, false)
  show(nonce)
}

/** Keep a coupon on this device. False when it was not stored (`Holdings.put`). */
export function keep(held: Held): boolean {
  const done = holdings.put(held)
  if (done) {
    taker.settle(held.nonce)
    unseenList.remove(held.nonce)
    if (isArriving(held.nonce)) remember(held.nonce, false)
  }
  readDevice()
  return done
}

/** Note the last transfer of a coupon: stored with a kept one, else on the screen only. */
export function noteSent(nonce: string, sent: Held['sent']): void {
  const listed = holdings.find(nonce)
  const now = view.peek()
  if (listed) keep({ ...listed, sent })
  else if (now.step === 'shown' && now.held.nonce === nonce) {
    view.value = { ...now, held: { ...now.held, sent } }
  }
}

/** Closing the tab must not lose a coupon. One that was removed since stays removed. */
function keepAtFirstSight(held: Held): void {
  const done = device.lasts(listName) && keep(held)
  // A code that the device stores waits until there is room.
  if (!done && !device.holds(unseenName)) unseenList.remove(held.nonce)
}

/** Keep the code until the service tells its coupon: the tab may close before that. */
function keepUnseen(nonce: string): void {
  const known = holdings.find(nonce) !== null
  if (known || unseenList.add(nonce, systemClock())) remember(nonce, false)
  readDevice()
}

/** Whether a coupon of the list survives this page. */
export function isKept(nonce: string): boolean {
  return kept.value.some((held) => held.nonce === nonce) && device.holds(listName)
}

/** Whether a code without a known coupon survives this page. */
export function isKeptUnseen(nonce: string): boolean {
  return unseen.value.some((one) => one.nonce === nonce) && device.holds(unseenName)
}

/** Forget a coupon. The one on the screen leaves it, and the entry of the history, too. */
export function remove(nonce: string): void {
  holdings.remove(nonce)
  unseenList.remove(nonce)
  taker.settle(nonce)
  readDevice()
  if (openNonce.peek() !== nonce) return
  history.replaceState(null, '', '/c')
  show(null)
}

export function take(held: Held): void {
  void taker.take(held.nonce, held.name)
}

/** Retry open swaps now. */
export function askNow(): void {
  pauses.wake()
}

/** Bounds the parallel requests of a long list. */
const looksAtOnce = 4

/** Ask for the status of every coupon that may still change, or is not known yet. */
export function lookAtAll(): Promise<void> {
  const usable = holdings.all().filter(({ status }) => status === 'minted')
  return lookAtEach([...unseenList.all(), ...usable])
}

async function lookAtEach(codes: readonly { nonce: string }[]): Promise<void> {
  const waiting = codes.map(({ nonce }) => nonce)
  const worker = async () => {
    for (let nonce = waiting.shift(); nonce; nonce = waiting.shift()) await look(nonce)
  }
  await Promise.all(Array.from({ length: looksAtOnce }, worker))
}

/** A customer waits at the counter for the word of the till, and many may wait behind one address. */
const followMs = 10_000

/** Follow the coupon on the screen while it can be used: every `followMs`, and when the page shows again. */
export function follow(): void {
  let busy = false
  const lookAgain = async () => {
    const nonce = openNonce.peek()
    const usable = heldOnScreen(nonce)?.status === 'minted'
    // A swap tells by itself what became of its coupon.
    const swapping = taking.peek()?.step === 'taking'
    if (busy || document.hidden || !nonce || !usable || swapping) return
    busy = true
    try {
      await look(nonce)
    } finally {
      busy = false
    }
  }
  document.addEventListener('visibilitychange', () => void lookAgain())
  window.addEventListener('storage', readDevice)
  setInterval(() => void lookAgain(), followMs)
}

/** Finish swaps that an earlier page left open, and retry whenever the service is back. */
export function resume(): void {
  void Promise.all(taker.resume())
  reachable.subscribe((there) => {
    if (!there) return
    askNow()
    const nonce = openNonce.peek()
    const now = view.peek()
    const stale = now.step === 'unreachable' || (now.step === 'shown' && !now.fresh)
    if (nonce && stale) void look(nonce)
    // The one on the screen is asked for already.
    const others = unseenList.all().filter((one) => one.nonce !== nonce)
    void lookAtEach(others)
  })
}
