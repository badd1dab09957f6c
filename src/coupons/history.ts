import { limits } from '../limits.ts'
import { npubOf } from '../nostr/keys.ts'
import { Refusal } from '../refusal.ts'
import type { Caller } from '../session/caller.ts'
import { definitionView } from './definition.ts'
import { minterView } from './minters.ts'
import { handleText } from './nonce.ts'
import { ownDefinition, requireMerchant } from './permission.ts'
import type { Mint } from './service.ts'
import { mintView } from './voucher.ts'
import type { Page } from './voucher-store.ts'

/** Everything the management page needs, in one go: definitions, minters, the announcement. */
export async function overview(mint: Mint, caller: Caller) {
  requireMerchant(mint, caller)
  return mint.database.snapshot(async (tx) => {
    const definitions = await tx.definitions.list(caller.pubkey)
    const minters = await tx.minters.list(caller.pubkey)
    const discovery = await tx.announcements.find(caller.pubkey)
    return {
      coupons: definitions.map(definitionView),
      minters: minters.map(minterView),
      discovery,
    }
  })
}

/**
 * What the caller may mint now, newest first: not archived, not expired, not used up. Its own are all
 * there; of merchants that list it, those that did so first are never crowded out.
 */
export async function mintable(mint: Mint, caller: Caller) {
  const now = mint.now()
  return mint.database.snapshot(async (tx) => {
    const { pubkey } = caller
    const own = await tx.definitions.listMintable(pubkey, now, limits.definitionsPerOwnerMax)
    const found = [...own]
    for (const owner of await tx.definitions.merchantsOf(pubkey, limits.mintableMerchantsMax)) {
      if (found.length >= limits.mintableMax) break
      found.push(...(await tx.definitions.listMintable(owner, now, limits.mintablePerMerchantMax)))
    }
    const shown = found.slice(0, limits.mintableMax).sort((a, b) => b.rowId - a.rowId)
    return { coupons: shown.map(mintableView) }
  })
}

/** The vouchers issued from a definition, newest first. Refuses `coupon-unknown`, `page-invalid`. */
export async function issuances(mint: Mint, caller: Caller, couponId: string, asked: AskedPage) {
  const page = parsePage(asked)
  requireMerchant(mint, caller)
  return mint.database.snapshot(async (tx) => {
    const definition = await ownDefinition(tx, caller, couponId)
    const rows = await tx.vouchers.list(definition.rowId, page)
    const now = mint.now()
    const { shown, next } = cut(rows, page)
    return { mints: shown.map((row) => mintView(row, now)), next }
  })
}

/** The caller's redemptions, newest first. Refuses `page-invalid`. */
export async function redemptions(mint: Mint, caller: Caller, asked: AskedPage) {
  const page = parsePage(asked)
  requireMerchant(mint, caller)
  const rows = await mint.database.read((tx) => tx.vouchers.listRedemptions(caller.pubkey, page))
  const { shown, next } = cut(rows, page)
  return {
    redemptions: shown.map((row) => ({
      handle: handleText(row.handle),
      claimedAt: row.claimedAt,
      couponId: row.couponId,
      name: row.terms.name,
      benefit: row.terms.benefit,
      order: row.zapRequest === null ? null : (JSON.parse(row.zapRequest) as unknown),
      orderId: row.zapRequestId,
      amountMsat: row.amountMsat,
    })),
    next,
  }
}

type AskedPage = { limit?: string | undefined; cursor?: string | undefined }

/** `limit` 1..500, 100 when absent; `cursor` as an earlier answer gave it. */
function parsePage({ limit, cursor }: AskedPage): Page {
  const count = limit === undefined ? limits.pageDefault : parseCount(limit)
  if (count === null || count < 1 || count > limits.pageMax) throw new Refusal('page-invalid')
  if (cursor === undefined) return { limit: count, before: null }
  const before = parseCount(Buffer.from(cursor, 'base64url').toString('latin1'))
  if (before === null || cursorOf(before) !== cursor) throw new Refusal('page-invalid')
  return { limit: count, before }
}

function parseCount(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}

/** The store was asked for one row more than the page holds: it tells whether there is a next. */
function cut<Row extends { rowId: number }>(rows: Row[], page: Page) {
  const shown = rows.slice(0, page.limit)
  const last = shown.at(-1)
  return { shown, next: last && rows.length > page.limit ? cursorOf(last.rowId) : null }
}

function cursorOf(rowId: number): string {
  return Buffer.from(String(rowId), 'latin1').toString('base64url')
}

function mintableView(definition: Parameters<typeof definitionView>[0] & { owner: string }) {
  return {
    id: definition.id,
    name: definition.name,
    description: definition.description,
    image: definition.image,
    coupon: definition.benefit,
    npub: npubOf(definition.owner),
    remaining: definition.maxUses === null ? null : definition.maxUses - definition.minted,
    expiresAt: definition.expiresAt,
  }
}
