/** The calls of a merchant who manages coupons, each with the merchant's session. */
import { clientLimits } from '../base/limits-client.ts'
import type { Rules } from '../coupons/rules.ts'
import type { Caller } from './caller.ts'
import type {
  Batches,
  Definition,
  Issuance,
  Issuances,
  Merchant,
  Minter,
  Overview,
  Redemptions,
  Statistics,
  TillStatistics,
} from './models.ts'
import { once } from './once.ts'

/** The fields of a definition that a merchant writes. */
export type Authored = {
  name: string
  description: string
  image: string | null
  /** The hash of an uploaded picture. Absent and null: none. */
  picture?: string | null
  benefit: Definition['benefit']
  maxUses: number | null
  expiresAt: number | null
  /** Absent and null: none. */
  rules?: Rules | null
}

export function fetchOverview(caller: Caller): Promise<Overview> {
  return caller.call('GET /api/coupons')
}

/** Create a coupon. After a lost answer, the next call with the same fields fetches it. */
export async function createCoupon(caller: Caller, authored: Authored): Promise<Definition> {
  const create = (name: string) => caller.call('POST /api/coupons', { body: authored, once: name })
  return (await once(caller, 'create', authored, create)).coupon
}

export async function changeCoupon(
  caller: Caller,
  id: string,
  changes: Partial<Authored> & { archived?: boolean },
): Promise<Definition> {
  const input = { path: { id }, body: changes }
  return (await caller.call('PATCH /api/coupons/{id}', input)).coupon
}

/** True when the coupon was deleted; false when it was archived, since it has vouchers. */
export async function deleteCoupon(caller: Caller, id: string): Promise<boolean> {
  return (await caller.call('DELETE /api/coupons/{id}', { path: { id } })).deleted
}

type Page = { cursor?: string | null; limit?: number }

export function listIssuances(
  caller: Caller,
  id: string,
  { cursor, limit = 25 }: Page = {},
): Promise<Issuances> {
  return caller.call('GET /api/coupons/{id}/mints', { path: { id }, query: { limit, cursor } })
}

/** The vouchers from the first mint of a chain to its last refresh, oldest first. */
export async function followChain(caller: Caller, id: string, handle: string): Promise<Issuance[]> {
  const query = { chain: handle, limit: clientLimits.pageMax }
  return (await caller.call('GET /api/coupons/{id}/mints', { path: { id }, query })).mints
}

/** Void one voucher; with `chain`, the last one of its chain. */
export async function voidVoucher(
  caller: Caller,
  id: string,
  handle: string,
  chain: boolean,
): Promise<Issuance> {
  const input = { path: { id, handle }, query: { chain: chain ? 1 : null } }
  return (await caller.call('DELETE /api/coupons/{id}/mints/{handle}', input)).mint
}

/** Void every open voucher of a coupon; returns their number. */
export async function voidAll(caller: Caller, id: string): Promise<number> {
  return (await caller.call('DELETE /api/coupons/{id}/mints', { path: { id } })).voided
}

export function listBatches(
  caller: Caller,
  id: string,
  { cursor, limit = clientLimits.batchesPerPageMax }: Page = {},
): Promise<Batches> {
  return caller.call('GET /api/coupons/{id}/batches', { path: { id }, query: { limit, cursor } })
}

/** Void every open voucher of a batch; returns their number. */
export async function voidBatch(caller: Caller, id: string, batch: string): Promise<number> {
  const input = { path: { id, batch } }
  return (await caller.call('DELETE /api/coupons/{id}/batches/{batch}', input)).voided
}

export function listRedemptions(
  caller: Caller,
  { cursor, limit = 100 }: Page = {},
): Promise<Redemptions> {
  return caller.call('GET /api/coupons/redemptions', { query: { limit, cursor } })
}

/** With `mint` false the key only redeems. */
export async function addMinter(
  caller: Caller,
  pubkey: string,
  label: string,
  mint: boolean,
): Promise<Minter> {
  const body = { ...named(pubkey, label), mint }
  return (await caller.call('POST /api/coupons/minters', { body })).minter
}

/** Let a listed key mint, or only redeem. */
export async function permitMinter(caller: Caller, pubkey: string, mint: boolean): Promise<void> {
  await caller.call('POST /api/coupons/minters', { body: { pubkey, mint } })
}

export async function removeMinter(caller: Caller, pubkey: string): Promise<void> {
  await caller.call('DELETE /api/coupons/minters/{key}', { path: { key: pubkey } })
}

export async function listMerchants(caller: Caller): Promise<Merchant[]> {
  return (await caller.call('GET /api/merchants')).merchants
}

export async function addMerchant(caller: Caller, pubkey: string, label: string): Promise<void> {
  await caller.call('POST /api/merchants', { body: named(pubkey, label) })
}

export async function removeMerchant(caller: Caller, npub: string): Promise<void> {
  await caller.call('DELETE /api/merchants/{key}', { path: { key: npub } })
}

export type DayCount = Statistics['coupons'][number]['days'][number]

/** Two days, `YYYY-MM-DD`. `offset`: hours east of UTC of the clock that a day is read from. */
type Period = { from: string; to: string; offset: number }

/** Fetch the figures of every coupon, and its counts by day: all pages of the answer as one. */
export function fetchStatistics(caller: Caller, period: Period): Promise<Statistics> {
  const read = (cursor: string | null) =>
    caller.call('GET /api/coupons/stats', { query: { ...period, cursor } })
  return joinPages(read, (all, page) => all.coupons.push(...page.coupons))
}

/** Fetch the redemptions by till and day: all pages of the answer as one. */
export function fetchTillStatistics(caller: Caller, period: Period): Promise<TillStatistics> {
  const read = (cursor: string | null) =>
    caller.call('GET /api/coupons/stats/tills', { query: { ...period, cursor } })
  return joinPages(read, (all, page) => all.tills.push(...page.tills))
}

async function joinPages<Page extends { next: string | null }>(
  read: (cursor: string | null) => Promise<Page>,
  join: (all: Page, page: Page) => void,
): Promise<Page> {
  const all = await read(null)
  for (let { next } = all; next !== null; ) {
    const page = await read(next)
    join(all, page)
    next = page.next
  }
  return all
}

function named(pubkey: string, label: string) {
  const trimmed = label.trim()
  return { pubkey, ...(trimmed !== '' && { label: trimmed }) }
}
