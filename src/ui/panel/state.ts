import { signal } from '@preact/signals'
import { request, requestAs } from '../../client/api.ts'
import { ApiError } from '../../client/api-error.ts'
import { couponPicture } from '../../client/coupon-picture.ts'
import type {
  Announced,
  Definition,
  Issuance,
  Issuances,
  Manager,
  Merchant,
  Minter,
  Overview,
  Redemptions,
  VoucherResult,
} from '../../client/models.ts'
import { once } from '../../client/once.ts'
import { signPost } from '../../client/proof.ts'
import type { Identity } from '../../client/session.ts'
import type { PageSigner } from '../../client/signer.ts'
import { hasExtension, openExtension } from '../../client/signer-extension.ts'
import { tab } from '../browser/storage.ts'
import { openKeyBox } from '../state/key-box.ts'
import { openPageSession } from '../state/session.ts'
import { remoteSigners } from './remote-signers.ts'
import { forgetSetupCode } from './setup-code.ts'
import { forgetUnsaved } from './unsaved.ts'

/** The merchant's own key, where it was made or brought here. */
export const keyBox = openKeyBox('merchant')

/** Who manages. */
export const session = openPageSession('panel', restore)

/** All that the panel shows, or null before it is there. */
export const overview = signal<Overview | null>(null)

/** Why it is not there. */
export const failure = signal<unknown>(null)

/** Counts up when a key that might not manage may: what waits to ask again asks now. */
export const letIn = signal(0)

async function restore({ kind, pubkey }: Identity): Promise<PageSigner | null> {
  if (kind === 'local') return null
  if (kind === 'remote') return remoteSigners.restore(pubkey)
  if (!hasExtension()) return null
  const signer = await openExtension()
  // The extension may have changed keys meanwhile: then the person decides.
  return signer.pubkey === pubkey ? signer : null
}

const coupons = '/api/coupons'
const ask = <T>(path: string, options?: Parameters<typeof requestAs>[2]) =>
  requestAs<T>(session, `${coupons}${path}`, options)

/** Load what the panel shows; what was there stays until the new is. */
export async function loadOverview(): Promise<void> {
  try {
    overview.value = await ask<Overview>('')
    forgetSetupCode()
    const before = failure.peek()
    failure.value = null
    if (before instanceof ApiError && before.status === 403) letIn.value++
  } catch (cause) {
    failure.value = cause
  }
}

/** Become the first merchant of this service, by the code that it showed. Throws ApiError and SignerError. */
export async function setUp(code: string): Promise<void> {
  const signer = await session.needSigner()
  const path = '/api/setup'
  const body = JSON.stringify({ code })
  try {
    const headers = { Authorization: await signPost(signer, `${location.origin}${path}`, body) }
    await request(path, { body, headers })
  } catch (cause) {
    // An answer that was lost may have been the good one, and the code is gone with it.
    if (!(await mayManage())) throw cause
  }
  await loadOverview()
}

async function mayManage(): Promise<boolean> {
  try {
    await ask('')
    return true
  } catch (cause) {
    if (cause instanceof ApiError) return false
    throw cause
  }
}

const merchants = '/api/merchants'

/** The merchants of this service; null where the service does not tell them to this key. */
export async function listMerchants(): Promise<Merchant[] | null> {
  try {
    return (await requestAs<{ merchants: Merchant[] }>(session, merchants)).merchants
  } catch (cause) {
    if (cause instanceof ApiError) return null
    throw cause
  }
}

export async function addMerchant(pubkey: string, label: string): Promise<void> {
  const body = { pubkey, ...(label.trim() !== '' && { label: label.trim() }) }
  await requestAs(session, merchants, { body })
}

export async function removeMerchant(npub: string): Promise<void> {
  await requestAs(session, `${merchants}/${npub}`, { method: 'DELETE' })
}

export function signOut(): void {
  session.signOut()
  forgetSetupCode()
  forgetUnsaved()
  overview.value = null
  failure.value = null
}

export function findCoupon(id: string): Definition | null {
  return overview.value?.coupons.find((coupon) => coupon.id === id) ?? null
}

/** Who a key is, in the merchant's own words; null for a stranger. */
export function nameOfKey(pubkey: string): string | null {
  return overview.value?.minters.find((minter) => minter.pubkey === pubkey)?.label ?? null
}

/** What a merchant authors. */
export type Authored = {
  name: string
  description: string
  image: string | null
  benefit: Definition['benefit']
  maxUses: number | null
  expiresAt: number | null
}

export async function createCoupon(authored: Authored): Promise<Definition> {
  const body = JSON.stringify(authored)
  const { coupon } = await once(
    'create',
    body,
    (key) => ask<{ coupon: Definition }>('', { body, headers: { 'Idempotency-Key': key } }),
    tab,
  )
  keep(coupon)
  return coupon
}

export async function changeCoupon(
  id: string,
  changes: Partial<Authored> & { archived?: boolean },
): Promise<void> {
  const { coupon } = await ask<{ coupon: Definition }>(`/${id}`, {
    method: 'PATCH',
    body: changes,
  })
  keep(coupon)
}

/** Whether the service says that it cannot have the picture of that address. */
export async function isUnavailable(image: string | null): Promise<boolean> {
  const path = couponPicture(image)
  if (path === null) return false
  try {
    await request(path)
    return false
  } catch (cause) {
    return cause instanceof ApiError && cause.code === 'image-unavailable'
  }
}

/** True when it is gone; false when it was archived, since vouchers of it are out. */
export async function deleteCoupon(id: string): Promise<boolean> {
  const { deleted } = await ask<{ deleted: boolean }>(`/${id}`, { method: 'DELETE' })
  await loadOverview()
  return deleted
}

function keep(coupon: Definition): void {
  const { value } = overview
  if (!value) return
  const known = value.coupons.some(({ id }) => id === coupon.id)
  const list = known
    ? value.coupons.map((one) => (one.id === coupon.id ? coupon : one))
    : [coupon, ...value.coupons]
  overview.value = { ...value, coupons: list }
}

/** Issue so many; a lost answer is asked for again and costs nothing. */
export async function mint(couponId: string, count: number): Promise<VoucherResult[]> {
  const body = JSON.stringify({ couponId, count })
  const { vouchers } = await once(
    `mint:${couponId}`,
    body,
    (key) =>
      ask<{ vouchers: VoucherResult[] }>('/mint', { body, headers: { 'Idempotency-Key': key } }),
    tab,
  )
  void loadOverview()
  return vouchers
}

type Page = { cursor?: string | null; limit?: number }

function query(asked: Record<string, string | number | null | undefined>): string {
  const entries = Object.entries(asked).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)]],
  )
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`
}

export function listIssuances(id: string, { cursor, limit = 25 }: Page = {}): Promise<Issuances> {
  return ask(`/${id}/mints${query({ limit, cursor })}`)
}

/** Every hand a coupon went through, oldest first. */
export async function followChain(id: string, handle: string): Promise<Issuance[]> {
  const { mints } = await ask<Issuances>(`/${id}/mints${query({ chain: handle, limit: 500 })}`)
  return mints
}

/** Void one voucher, or with `chain` the one that it has become. */
export async function voidVoucher(id: string, handle: string, chain: boolean): Promise<Issuance> {
  const path = `/${id}/mints/${handle}${chain ? '?chain=1' : ''}`
  const { mint: voided } = await ask<{ mint: Issuance }>(path, { method: 'DELETE' })
  void loadOverview()
  return voided
}

/** The kill switch; how many were open. */
export async function voidAll(id: string): Promise<number> {
  const { voided } = await ask<{ voided: number }>(`/${id}/mints`, { method: 'DELETE' })
  void loadOverview()
  return voided
}

export function listRedemptions({ cursor, limit = 100 }: Page = {}): Promise<Redemptions> {
  return ask(`/redemptions${query({ limit, cursor })}`)
}

export async function addMinter(pubkey: string, label: string): Promise<Minter> {
  const body = { pubkey, ...(label.trim() !== '' && { label: label.trim() }) }
  const { minter } = await ask<{ minter: Minter }>('/minters', { body })
  await loadOverview()
  return minter
}

export async function removeMinter(pubkey: string): Promise<void> {
  await ask(`/minters/${pubkey}`, { method: 'DELETE' })
  await loadOverview()
}

export type DayCount = { day: string; minted: number; claimed: number }
export type Statistics = {
  from: string
  to: string
  coupons: { couponId: string; days: DayCount[] }[]
  next: string | null
}

/** Counts by coupon and day, on the clock of this device. */
export async function loadStatistics(from: string, to: string): Promise<Statistics> {
  const offset = Math.round(-new Date().getTimezoneOffset() / 60)
  const read = (cursor: string | null) =>
    ask<Statistics>(`/stats${query({ from, to, offset, cursor })}`)
  const all = await read(null)
  for (let { next } = all; next !== null; ) {
    const page = await read(next)
    all.coupons.push(...page.coupons)
    next = page.next
  }
  return all
}

export type RelayState = {
  url: string
  status: 'pending' | 'delivered' | 'refused' | 'expired'
  lastError: string | null
}

/** Build and sign the announcement (kind 30078) and hand it to the service. */
export async function announce(createdAt: number): Promise<Announced> {
  const { pubkey } = await request<Manager>(`${coupons}/manager`)
  const signer = await session.needSigner()
  // The public address of the service, where it has one: what is announced is for everybody.
  const origin = document.documentElement.dataset.couponOrigin ?? location.origin
  const here = `${origin}${coupons}`
  const content = {
    v: 2,
    mintUrl: `${here}/mint`,
    claimUrl: `${here}/claim`,
    refreshUrl: `${here}/refresh`,
  }
  const event = await signer.sign({
    kind: 30_078,
    created_at: createdAt,
    tags: [
      ['d', 'lacrypta.merchant/coupons'],
      ['p', pubkey],
      ['client', 'Cuponera'],
    ],
    content: JSON.stringify(content),
  })
  const announced = await ask<Announced>('/discovery', { method: 'PUT', body: { event } })
  if (overview.value) overview.value = { ...overview.value, discovery: announced.event }
  return announced
}

/** It is sent out no more. */
export async function withdraw(): Promise<void> {
  await ask('/discovery', { method: 'DELETE' })
  if (overview.value) overview.value = { ...overview.value, discovery: null }
}

/** How far the announcement has come, relay by relay. */
export async function deliveryOf(eventId: string): Promise<RelayState[]> {
  const { relays } = await request<{ relays: RelayState[] }>(`/nostr/publish/${eventId}`)
  return relays
}
