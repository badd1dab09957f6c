/** The state of the panel: the session and the merchant's overview. Actions here also update it. */
import { batch, signal } from '@preact/signals'
import * as announcement from '../../client/announcement.ts'
import { ApiError } from '../../client/api-error.ts'
import * as management from '../../client/management.ts'
import { type Batched, type BatchIssued, mintBatch, mintOne } from '../../client/mint.ts'
import type {
  Announced,
  Definition,
  Figures,
  Issuance,
  Minter,
  Overview,
  Statistics,
  VoucherResult,
} from '../../client/models.ts'
import * as pictures from '../../client/pictures.ts'
import type { Identity } from '../../client/session.ts'
import type { PageSigner } from '../../client/signer.ts'
import { hasExtension, openExtension } from '../../client/signer-extension.ts'
import { forgetRecipients } from '../hand/recipients.ts'
import { openKeyBox } from '../state/key-box.ts'
import { openPageSession } from '../state/session.ts'
import { forgetBatchDraft } from './batch-draft.ts'
import { changes, listening } from './changes.ts'
import { forgetEvents } from './live-events.ts'
import { forgetSetupCode, heldCode } from './setup-code.ts'
import { forgetUnsaved } from './unsaved.ts'

/** The merchant's own key, where it was made or brought here. */
export const keyBox = openKeyBox('merchant')

/** The session of the merchant. */
export const session = openPageSession('panel', restore)

/** The coupons, tills and announcement of the merchant; null before they are loaded. */
export const overview = signal<Overview | null>(null)

/** The figures of each coupon by its id, as of the last answer that had them. */
const figures = signal<ReadonlyMap<string, Figures>>(new Map())

/** The reason why the last load of the overview failed; null when it did not. */
export const failure = signal<unknown>(null)

/** Counts how often this key got access after a refusal. The live stream reconnects then. */
export const letIn = signal(0)

async function restore({ kind, pubkey }: Identity): Promise<PageSigner | null> {
  // A key of this device needs the person for its PIN.
  if (kind === 'local') return null
  if (kind === 'remote') {
    const { remoteSigners } = await import('./remote-signers.ts')
    return remoteSigners.restore(pubkey)
  }
  if (!hasExtension()) return null
  const signer = await openExtension()
  // The extension may have changed keys meanwhile: then the person decides.
  return signer.pubkey === pubkey ? signer : null
}

/** Numbers of the last load that was asked for, and of the latest one that was answered. */
let asked = 0
let answered = 0
/** Counts the changes by this page that the overview shows without a load. */
let amended = 0

/** Load the overview. The old one stays until the new one is there. */
export async function loadOverview(): Promise<void> {
  const turn = ++asked
  const before = amended
  // After the answer to a later load, this one would take its figures back.
  const isStale = () => {
    answered = Math.max(answered, turn)
    return turn < answered
  }
  try {
    // Only the figures of now are wanted, so that one day of counts is enough.
    const today = new Date().toISOString().slice(0, 10)
    const period = { from: today, to: today, offset: 0 }
    const counting = () => management.fetchStatistics(session, period)
    // With a setup code the key may have no access yet: one refusal says so.
    const known = heldCode.peek() !== null ? await management.fetchOverview(session) : null
    const [loaded, counted] = await Promise.all([
      known ?? management.fetchOverview(session),
      counting(),
    ])
    if (isStale()) return
    // It may be of the time before a change by this page, and would take that back.
    if (amended !== before) return await loadOverview()
    batch(() => {
      overview.value = loaded
      takeFigures(counted)
    })
    // This key has access, so a code in the address is used up or not needed.
    forgetSetupCode()
    const failed = failure.peek()
    failure.value = null
    if (failed instanceof ApiError && failed.status === 403) letIn.value++
  } catch (cause) {
    if (!isStale()) failure.value = cause
  }
}

/** Load again after a change by this page. The live stream tells the lists of it, where it is connected. */
function follow(): void {
  void loadOverview()
  if (!listening.peek()) changes.value++
}

/** Take the figures of an answer, so that every view of the page shows the same ones. */
export function takeFigures({ coupons }: Statistics): void {
  figures.value = new Map(coupons.map((coupon) => [coupon.couponId, coupon.figures]))
}

const none: Figures = { issued: 0, open: 0, expired: 0, claimed: 0, voided: 0 }

/** The figures of a coupon; of a new one, zeros. */
export function figuresOf(couponId: string): Figures {
  return figures.value.get(couponId) ?? none
}

/** The figures of all coupons together. */
export function allFigures(): Figures {
  const sum = { ...none }
  for (const one of figures.value.values()) {
    for (const name of Object.keys(sum) as (keyof Figures)[]) sum[name] += one[name]
  }
  return sum
}

/** Become the first merchant of this service by its setup code. Throws ApiError and SignerError. */
export async function setUp(code: string): Promise<void> {
  await session.needSigner()
  try {
    await session.call('POST /api/setup', { body: { code } })
  } catch (cause) {
    // A code works once. After a lost answer the key may have access already.
    if (!(await mayManage())) throw cause
  }
  await loadOverview()
}

async function mayManage(): Promise<boolean> {
  try {
    await management.fetchOverview(session)
    return true
  } catch (cause) {
    if (cause instanceof ApiError) return false
    throw cause
  }
}

export function signOut(): void {
  session.signOut()
  // The next person at this device must find no code, no draft, no event and no number of a customer.
  forgetSetupCode()
  forgetUnsaved()
  forgetBatchDraft()
  forgetRecipients()
  forgetEvents()
  overview.value = null
  figures.value = new Map()
  failure.value = null
}

export function findCoupon(id: string): Definition | null {
  return overview.value?.coupons.find((coupon) => coupon.id === id) ?? null
}

/** The label of a till's key; null for another key. */
export function nameOfKey(pubkey: string): string | null {
  return overview.value?.minters.find((minter) => minter.pubkey === pubkey)?.label ?? null
}

/** True for the key of an authorised till. */
export function isMinter(pubkey: string): boolean {
  return overview.value?.minters.some((minter) => minter.pubkey === pubkey) ?? false
}

export async function createCoupon(authored: management.Authored): Promise<Definition> {
  // The store of the tab: two tabs that each create the same coupon want two.
  const coupon = await management.createCoupon(session, authored)
  show(coupon)
  return coupon
}

export async function changeCoupon(
  id: string,
  changes: Partial<management.Authored> & { archived?: boolean },
): Promise<void> {
  show(await management.changeCoupon(session, id, changes))
}

/** Upload a photo of the merchant; its hash. */
export function uploadPicture(photo: Blob): Promise<string> {
  return pictures.uploadPicture(session, photo)
}

/** Put the change of an answer into the overview, without loading all of it again. */
function amend(change: (shown: Overview) => Partial<Overview>): void {
  amended++
  const { value } = overview
  if (value) overview.value = { ...value, ...change(value) }
}

/** Show a coupon of an answer. */
function show(coupon: Definition): void {
  amend(({ coupons }) => {
    const known = coupons.some(({ id }) => id === coupon.id)
    const list = coupons.map((one) => (one.id === coupon.id ? coupon : one))
    return { coupons: known ? list : [coupon, ...coupons] }
  })
}

/** True when the coupon was deleted; false when it was archived, since it has vouchers. */
export async function deleteCoupon(id: string): Promise<boolean> {
  const deleted = await management.deleteCoupon(session, id)
  await loadOverview()
  return deleted
}

export async function mint(couponId: string): Promise<VoucherResult> {
  const voucher = await mintOne(session, couponId)
  // Not awaited: the codes must show at once, the counters may follow.
  follow()
  return voucher
}

export async function mintTogether(batched: Batched): Promise<BatchIssued> {
  const issued = await mintBatch(session, batched)
  follow()
  return issued
}

/** Void one voucher; with `chain`, the last one of its chain. */
export async function voidVoucher(id: string, handle: string, chain: boolean): Promise<Issuance> {
  const voided = await management.voidVoucher(session, id, handle, chain)
  follow()
  return voided
}

/** Void every open voucher of a batch; returns their number. */
export async function voidBatch(id: string, batch: string): Promise<number> {
  const voided = await management.voidBatch(session, id, batch)
  follow()
  return voided
}

/** Void every open voucher of a coupon; returns their number. */
export async function voidAll(id: string): Promise<number> {
  const voided = await management.voidAll(session, id)
  follow()
  return voided
}

export async function addMinter(pubkey: string, label: string, mint: boolean): Promise<Minter> {
  const minter = await management.addMinter(session, pubkey, label, mint)
  await loadOverview()
  return minter
}

/** Let a till issue and redeem, or only redeem. */
export async function permitMinter(pubkey: string, mint: boolean): Promise<void> {
  await management.permitMinter(session, pubkey, mint)
  await loadOverview()
}

export async function removeMinter(pubkey: string): Promise<void> {
  await management.removeMinter(session, pubkey)
  await loadOverview()
}

/** Sign the announcement and hand it to the service. */
export async function announce(createdAt: number): Promise<Announced> {
  // Other programs read the announcement, so it names the public origin, if the service has one.
  const origin = document.documentElement.dataset.couponOrigin ?? location.origin
  const announced = await announcement.announce(session, origin, createdAt)
  amend(() => ({ discovery: announced.event }))
  return announced
}

/** Stop publishing the announcement. */
export async function withdraw(): Promise<void> {
  await announcement.withdraw(session)
  amend(() => ({ discovery: null }))
}
