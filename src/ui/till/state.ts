/** The state of redeeming at the till. Views read its signals and call its functions. */
import { effect, signal } from '@preact/signals'
import { systemClock } from '../../base/clock.ts'
import { asObject } from '../../base/json.ts'
import { parseStored } from '../../client/json.ts'
import { createPauses } from '../../client/pause.ts'
import { isNamed, type Named, openPendingList, type Pending } from '../../client/pending.ts'
import { type Ask, codeOf } from '../../client/persist.ts'
import { randomText } from '../../client/random.ts'
import { createFilm, parseReadings, type Scanned } from '../../client/scan.ts'
import type { Money } from '../../coupons/money.ts'
import { device } from '../browser/storage.ts'
import { ask, managerKey, reachable } from '../state/reach.ts'
import { addShop, parseOffer, readShops, shops } from '../state/shops.ts'
import { alone } from './alone.ts'
import { session } from './issue-state.ts'
import { createRedeemer, type Outcome, type Redemption, resumable } from './redeem.ts'
import { play } from './sound.ts'

export type TillTab = 'redeem' | 'issue' | 'settings'
export const tab = signal<TillTab>('redeem')

/** A recent outcome. Its nonce is not kept: the list stays on the device. */
type Recent = Named & { outcome: Outcome; at: number }

const recentPlace = 'till:recent'
const recentMax = 8

/** Reasons of a refused session that another one does not have. */
const endedSession = new Set<unknown>(['expired', 'session-expired', 'session-invalid'])

const pauses = createPauses()
const list = openPendingList({
  store: device,
  name: 'till:pending',
  now: systemClock,
  newKey: randomText,
})

export const redemption = signal<Redemption>({ step: 'idle' })
/** Redemptions without an answer, except the one on the screen. */
export const unsettled = signal<readonly Pending[]>(list.all())
export const recent = signal<readonly Recent[]>(readRecent())
/** The kind of the last scan, if it was no coupon. */
export const notCoupon = signal<Extract<Scanned, { kind: 'other' }>['looks'] | null>(null)
/** The host in the scanned code, if it is not ours. */
export const elsewhere = signal<string | null>(null)
export const cameraOpen = signal(false)
/** The npub in the QR that opened the till, until the person answers the question about it. */
export const offered = signal<string | null>(null)

/** The claims name this till by the session at hand. A claim that was refused for its session is sent once more. */
const askNamed: Ask = async (name, body, key, how = {}) => {
  if (name !== 'POST /api/coupons/claim') return ask(name, body, key, how)
  const named = (one: string) => ask(name, body, key, { ...how, authorization: `Bearer ${one}` })
  const token = session.atHand()
  const answer = token === null ? await ask(name, body, key, how) : await named(token)
  if (codeOf(answer) !== 'till-not-allowed') return answer
  const another = await anotherToken(token, answer.body.reason)
  return another === null ? answer : named(another)
}

/** A token for a claim that was refused with `token`, or without one; null where only a person can open a session. */
async function anotherToken(token: string | null, reason: unknown): Promise<string | null> {
  if (token !== null) return endedSession.has(reason) ? session.replaceAtHand(token) : null
  if (reason !== 'missing' || session.heldSigner()?.kind !== 'local') return null
  // The session that `atHand` is opening, where it does. Without one the refusal at hand is the answer.
  return session.token().catch(() => null)
}

const redeemer = createRedeemer({
  ask: askNamed,
  pause: pauses.pause,
  pending: list,
  now: systemClock,
  nowMs: () => performance.now(),
  shops: () => shops.peek(),
  manager: managerKey,
  alone,
  onChange: show,
  onLate(named, outcome) {
    unsettled.value = pendingElsewhere(redemption.peek())
    if (outcome.step === 'done') note(outcome.outcome, named)
  },
})

/** The pending list without the coupon on the screen. */
function pendingElsewhere(shown: Redemption): Pending[] {
  return list.all().filter(({ nonce }) => !('nonce' in shown) || nonce !== shown.nonce)
}

function note(outcome: Outcome, { name, coupon }: Named): void {
  const one: Recent = { outcome, name, ...(coupon && { coupon }), at: systemClock() }
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
  // A preview decided nothing, so it is no recent outcome.
  if (before.step !== 'redeeming' || before.told) return
  note(next.outcome, next.terms ?? before.named)
}

/** The reads of the camera. After an outcome the customer's phone may still be in front of it. */
const film = createFilm()

/** Take a frame of the camera: the text of its code, null without one, undefined without a picture. */
export function takeFilmed(text: string | null | undefined): void {
  if (text === undefined) {
    film.pause()
    return
  }
  const scanned = text === null ? null : parseReadings([text])
  const nonce = scanned?.kind === 'coupon' ? scanned.nonce : null
  const isNew = film.frame(nonce, performance.now())
  if (scanned && (isNew || nonce === null)) accept(scanned)
}

/** Go on to the next customer, with the camera if it read the last coupon. */
export function goOn(): void {
  const byCamera = film.last() !== null
  // The service said nothing about this coupon, so another read of it asks again.
  if (redemption.peek().step === 'refused') film.forget()
  putAway()
  cameraOpen.value = byCamera
}

/** Open the camera, which reads whatever is before it. */
export function openScanner(): void {
  notCoupon.value = null
  film.forget()
  cameraOpen.value = true
}

/** Take the readings of a scan, a photo or a typed text. */
export function take(readings: string[]): Scanned {
  const scanned = parseReadings(readings)
  if (scanned.kind === 'coupon') film.forget()
  accept(scanned)
  return scanned
}

function accept(scanned: Scanned): void {
  if (scanned.kind === 'other') {
    notCoupon.value = scanned.looks
    return
  }
  notCoupon.value = null
  const shown = redemption.peek()
  if (shown.step === 'redeeming') {
    // A first request is about to be answered. After a lost answer the next customer goes first.
    if (shown.lost === 0 || shown.nonce === scanned.nonce) return
    leave()
  }
  elsewhere.value = scanned.host !== null && scanned.host !== location.host ? scanned.host : null
  tab.value = 'redeem'
  cameraOpen.value = false
  void redeemer.look(scanned.nonce, scanned.voucher)
}

/** `purchase`: absent where nobody named it. */
export function redeem(purchase?: Money): void {
  void redeemer.redeem(purchase)
}

export function settle(pending: Pending): void {
  tab.value = 'redeem'
  void redeemer.settle(pending)
}

/** Retry now: the claim of the coupon on the screen, or its preview. */
export function retry(): void {
  const { step } = redemption.peek()
  if (step === 'redeeming') pauses.wake()
  const now = redemption.peek()
  if (now.step === 'unreachable') void redeemer.look(now.nonce, now.voucher)
  if (now.step === 'other-page') void redeemer.look(now.nonce)
}

/** Put the coupon on the screen away. The camera reads it again, unless its outcome was shown. */
export function leave(): void {
  if (redemption.peek().step !== 'done') film.forget()
  putAway()
}

function putAway(): void {
  redeemer.leave()
  pauses.wake()
  elsewhere.value = null
  notCoupon.value = null
}

/** Look again at a coupon that this till was not let redeem: it may be now. */
export function lookAgain(): void {
  const now = redemption.peek()
  if (now.step !== 'done' || now.outcome !== 'barred') return
  redeemer.leave()
  void redeemer.look(now.nonce)
}

/** The person said that the coupon on the screen is of another shop. */
export function disown(): void {
  redeemer.disown()
}

/** Take the shop out of the address that the panel opened, and ask the person about it; show its coupon. */
export function readOffer(): void {
  const offer = parseOffer(location.hash)
  if (offer === null) return
  // The code of a coupon is money, and the history keeps addresses.
  history.replaceState(null, '', '/caja')
  if (!shops.peek().includes(offer.npub)) offered.value = offer.npub
  if (offer.coupon !== null) take([offer.coupon])
}

/** The person accepts the shop of the QR. */
export function acceptOffer(): void {
  const npub = offered.peek()
  if (npub !== null) addShop(npub)
  offered.value = null
}

export function declineOffer(): void {
  offered.value = null
}

/** Finish the redemption that an earlier page left open, and retry whenever the service is back. */
export function resume(): void {
  const open = list.all().find((one) => resumable(one, systemClock()))
  if (open) void redeemer.resume(open)
  effect(() => {
    if (reachable.value) retry()
  })
  // Another page of this till works on the same lists.
  window.addEventListener('storage', () => {
    unsettled.value = pendingElsewhere(redemption.peek())
    recent.value = readRecent()
    readShops()
  })
}

function readRecent(): Recent[] {
  const list = parseStored(device.read(recentPlace))
  return Array.isArray(list) ? list.filter(isRecent) : []
}

/** Whole entries only: another build may have stored others. */
function isRecent(value: unknown): value is Recent {
  const { outcome, at } = asObject(value) ?? {}
  return isNamed(value) && typeof at === 'number' && typeof outcome === 'string'
}
