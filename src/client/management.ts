/** The requests of a merchant who manages coupons, each with the merchant's session. */
import { clientLimits } from '../base/limits-client.ts'
import type { Rules } from '../coupons/rules.ts'
import { requestAs } from './api.ts'
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
import type { Session } from './session.ts'
import type { TextStore } from './texts.ts'

const coupons = '/api/coupons'
const merchants = '/api/merchants'

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

export function fetchOverview(session: Session): Promise<Overview> {
  return requestAs(session, coupons)
}

/** Create a coupon. After a lost answer, the next call with the same fields fetches it. */
export async function createCoupon(
  session: Session,
  authored: Authored,
  store: TextStore,
): Promise<Definition> {
  const body = JSON.stringify(authored)
  const send = (key: string) => {
    const headers = { 'Idempotency-Key': key }
    return requestAs<{ coupon: Definition }>(session, coupons, { body, headers })
  }
  return (await once('create', body, send, store)).coupon
}

export async function changeCoupon(
  session: Session,
  id: string,
  changes: Partial<Authored> & { archived?: boolean },
): Promise<Definition> {
  const options = { method: 'PATCH', body: changes } as const
  return (await requestAs<{ coupon: Definition }>(session, `${coupons}/${id}`, options)).coupon
}

/** True when the coupon was deleted; false when it was archived, since it has vouchers. */
export async function deleteCoupon(session: Session, id: string): Promise<boolean> {
  const options = { method: 'DELETE' } as const
  return (await requestAs<{ deleted: boolean }>(session, `${coupons}/${id}`, options)).deleted
}

type Page = { cursor?: string | null; limit?: number }

export function listIssuances(
  session: Session,
  id: string,
  { cursor, limit = 25 }: Page = {},
): Promise<Issuances> {
  return requestAs(session, `${coupons}/${id}/mints${query({ limit, cursor })}`)
}

/** The vouchers from the first mint of a chain to its last refresh, oldest first. */
export async function followChain(
  session: Session,
  id: string,
  handle: string,
): Promise<Issuance[]> {
  const path = `${coupons}/${id}/mints${query({ chain: handle, limit: clientLimits.pageMax })}`
  return (await requestAs<Issuances>(session, path)).mints
}

/** Void one voucher; with `chain`, the last one of its chain. */
export async function voidVoucher(
  session: Session,
  id: string,
  handle: string,
  chain: boolean,
): Promise<Issuance> {
  const path = `${coupons}/${id}/mints/${handle}${chain ? '?chain=1' : ''}`
  return (await requestAs<{ mint: Issuance }>(session, path, { method: 'DELETE' })).mint
}

/** Void every open voucher of a coupon; returns their number. */
export async function voidAll(session: Session, id: string): Promise<number> {
  const path = `${coupons}/${id}/mints`
  return (await requestAs<{ voided: number }>(session, path, { method: 'DELETE' })).voided
}

export function listBatches(
  session: Session,
  id: string,
  { cursor, limit = clientLimits.batchesPerPageMax }: Page = {},
): Promise<Batches> {
  return requestAs(session, `${coupons}/${id}/batches${query({ limit, cursor })}`)
}

/** Void every open voucher of a batch; returns their number. */
export async function voidBatch(session: Session, id: string, batch: string): Promise<number> {
  const path = `${coupons}/${id}/batches/${batch}`
  return (await requestAs<{ voided: number }>(session, path, { method: 'DELETE' })).voided
}

export function listRedemptions(
  session: Session,
  { cursor, limit = 100 }: Page = {},
): Promise<Redemptions> {
  return requestAs(session, `${coupons}/redemptions${query({ limit, cursor })}`)
}

/** With `mint` false the key only redeems. */
export async function addMinter(
  session: Session,
  pubkey: string,
  label: string,
  mint: boolean,
): Promise<Minter> {
  const options = { body: { ...named(pubkey, label), mint } }
  return (await requestAs<{ minter: Minter }>(session, `${coupons}/minters`, options)).minter
}

/** Let a listed key mint, or only redeem. */
export async function permitMinter(session: Session, pubkey: string, mint: boolean): Promise<void> {
  await requestAs(session, `${coupons}/minters`, { body: { pubkey, mint } })
}

export async function removeMinter(session: Session, pubkey: string): Promise<void> {
  await requestAs(session, `${coupons}/minters/${pubkey}`, { method: 'DELETE' })
}

export async function listMerchants(session: Session): Promise<Merchant[]> {
  return (await requestAs<{ merchants: Merchant[] }>(session, merchants)).merchants
}

export async function addMerchant(session: Session, pubkey: string, label: string): Promise<void> {
  await requestAs(session, merchants, { body: named(pubkey, label) })
}

export async function removeMerchant(session: Session, npub: string): Promise<void> {
  await requestAs(session, `${merchants}/${npub}`, { method: 'DELETE' })
}

export type DayCount = Statistics['coupons'][number]['days'][number]

/** Two days, `YYYY-MM-DD`. `offset`: hours east of UTC of the clock that a day is read from. */
type Period = { from: string; to: string; offset: number }

/** Fetch the figures of every coupon, and its counts by day: all pages of the answer as one. */
export function fetchStatistics(session: Session, period: Period): Promise<Statistics> {
  const read = (cursor: string | null) =>
    requestAs<Statistics>(session, `${coupons}/stats${query({ ...period, cursor })}`)
  return joinPages(read, (all, page) => all.coupons.push(...page.coupons))
}

/** Fetch the redemptions by till and day: all pages of the answer as one. */
export function fetchTillStatistics(session: Session, period: Period): Promise<TillStatistics> {
  const read = (cursor: string | null) =>
    requestAs<TillStatistics>(session, `${coupons}/stats/tills${query({ ...period, cursor })}`)
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

function query(asked: Record<string, string | number | null | undefined>): string {
  const entries = Object.entries(asked).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)]],
  )
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`
}
