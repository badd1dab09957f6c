/** What the till knows and shows; its views read it and call what is here. */
import { effect, signal } from '@preact/signals'
import { systemClock } from '../../base/clock.ts'
import { parseJson } from '../../client/json.ts'
import { createPauses } from '../../client/pause.ts'
import { openPendingList, type Pending } from '../../client/pending.ts'
import { randomText } from '../../client/random.ts'
import { parseReadings, type Scanned } from '../../client/scan.ts'
import { device } from '../browser/storage.ts'
import { ask, managerKey, reachable } from '../state/reach.ts'
import { addShop, parseOffer, shops } from '../state/shops.ts'
import { createRedeemer, type Outcome, type Redemption } from './redeem.ts'
import { play } from './sound.ts'

export type TillTab = 'redeem' | 'issue' | 'settings'
export const tab = signal<TillTab>('redeem')

/** What became of the coupons that came before this till: without their codes. */
type Recent = { outcome: Outcome; name: string; at: number }

const recentPlace = 'till:recent'
const recentMax = 8
/** Left open longer ago than this, a redemption is not finished without asking: the customer has gone. */
const resumeSeconds = 15 * 60

const pauses = createPauses()
const list = openPendingList({
  store: device,
  name: 'till:pending',
  now: systemClock,
  newKey: randomText,
})

export const redemption = signal<Redemption>({ step: 'idle' })
/** Redemptions without an answer yet, but for the one on screen. */
export const unsettled = signal<readonly Pending[]>(list.all())
export const recent = signal<readonly Recent[]>(parseList<Recent>(recentPlace))
/** A scan that was no coupon, until the next. */
export const notCoupon = signal<Extract<Scanned, { kind: 'other' }>['looks'] | null>(null)
/** The address that the code on screen carried, when it was another than ours. */
export const elsewhere = signal<string | null>(null)
export const cameraOpen = signal(false)
/** The shop that the panel's QR offers to set this till up for; an npub, until somebody answers. */
export const offered = signal<string | null>(null)

const redeemer = createRedeemer({
  ask,
  pause: pauses.pause,
  pending: list,
  now: systemClock,
  shops: () => shops.peek(),
  manager: managerKey,
  onChange: show,
  onLate(name, outcome) {
    unsettled.value = pendingElsewhere(redemption.peek())
    if (outcome.step === 'done') note(outcome.outcome, name)
  },
})

/** What is open, but for the coupon on screen. */
function pendingElsewhere(shown: Redemption): Pending[] {
  return list.all().filter(({ nonce }) => !('nonce' in shown) || nonce !== shown.nonce)
}

function note(outcome: Outcome, name: string): void {
  const one: Recent = { outcome, name, at: systemClock() }
  recent.value = [one, ...recent.peek()].slice(0, recentMax)
  device.write(recentPlace, JSON.stringify(recent.peek()))
}

function show(next: Redemption): void {
  const before = redemption.peek()
  redemption.value = next
  unsettled.value = pendingElsewhere(next)
  if (next.step === 'shown') play('read')
  if (next.step === 'unreachable') play('offline')
  if (next.step === 'redeeming' && next.lost === 1) play('offline')
  if (next.step !== 'done') return
  play(next.outcome)
  // What was only looked at was not decided here.
  if (before.step !== 'redeeming') return
  note(next.outcome, next.terms?.name ?? before.name)
}

/** The coupon that the camera read last: it may still be before it when the next one is wanted. */
let filmed: string | null = null

/** What the camera sees, over and over. */
export function takeFilmed(text: string): void {
  const scanned = parseReadings([text])
  if (scanned.kind === 'coupon' && scanned.nonce === filmed) return
  take([text])
  filmed = scanned.kind === 'coupon' ? scanned.nonce : null
}

/** The next customer: by camera again, where the one before came so. */
export function goOn(): void {
  leave()
  cameraOpen.value = filmed !== null
}

/** Take what a camera, a scanner, a photo or a person gave, in each way it can be read. */
export function take(readings: string[]): Scanned {
  const scanned = parseReadings(readings)
  if (scanned.kind === 'other') {
    notCoupon.value = scanned.looks
    return scanned
  }
  notCoupon.value = null
  const shown = redemption.peek()
  if (shown.step === 'redeeming') {
    // The next customer does not wait for a lost answer: it stays in the list.
    if (shown.lost === 0 || shown.nonce === scanned.nonce) return scanned
    leave()
  }
  elsewhere.value = scanned.host !== null && scanned.host !== location.host ? scanned.host : null
  tab.value = 'redeem'
  cameraOpen.value = false
  filmed = null
  void redeemer.look(scanned.nonce, scanned.voucher)
  return scanned
}

export function redeem(): void {
  void redeemer.redeem()
}

export function settle(pending: Pending): void {
  tab.value = 'redeem'
  void redeemer.settle(pending)
}

/** Ask again now: for the answer of a redemption, or for the coupon that could not be looked up. */
export function retry(): void {
  const { step } = redemption.peek()
  if (step === 'redeeming') pauses.wake()
  const now = redemption.peek()
  if (now.step === 'unreachable') void redeemer.look(now.nonce, now.voucher)
}

export function leave(): void {
  redeemer.leave()
  pauses.wake()
  elsewhere.value = null
  notCoupon.value = null
}

/** The coupon on screen is of another shop. */
export function disown(): void {
  redeemer.disown()
}

/** Take the shop that the panel's QR offers out of the address, and ask about it. */
export function readOffer(): void {
  const npub = parseOffer(location.hash)
  if (npub === null) return
  history.replaceState(null, '', '/caja')
  if (!shops.peek().includes(npub)) offered.value = npub
}

/** Answer what the QR asked. */
export function acceptOffer(): void {
  const npub = offered.peek()
  if (npub !== null) addShop(npub)
  offered.value = null
}

export function declineOffer(): void {
  offered.value = null
}

/** Finish what a page before this one left open, and go on by itself when the service is back. */
export function resume(): void {
  const [open] = list.all().filter(({ startedAt }) => systemClock() - startedAt < resumeSeconds)
  if (open) settle(open)
  effect(() => {
    if (reachable.value) retry()
  })
}

function parseList<T>(place: string): T[] {
  const value = parseJson(device.read(place))
  return Array.isArray(value) ? (value as T[]) : []
}
