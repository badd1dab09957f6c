import { parseJson } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { npubOf } from '../nostr/keys.ts'
import type { Caller } from '../session/caller.ts'
import { addedView, definitionView } from './definition.ts'
import { minterView } from './minters.ts'
import { handleText, nonceShaped, parseHandle } from './nonce.ts'
import { type AskedPage, cutPage, parsePage } from './page.ts'
import { ownDefinition } from './permission.ts'
import type { CouponService } from './service.ts'
import { issuanceOf } from './voucher.ts'

/** Definitions, minters and announcement of a merchant, in one snapshot. Refuses `merchant-not-allowed`. */
export async function overview(service: CouponService, caller: Caller) {
  return service.database.snapshot(async (tx) => {
    await service.requireMerchant(tx, caller)
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
 * Definitions that the caller may mint now, newest first: not archived, not expired, not used up. All of its
 * own are included. Merchants that list the caller follow in the order in which they did so, so that later
 * ones, who may list any key, never push out the first ones.
 */
export async function mintable(service: CouponService, caller: Caller) {
  const now = service.now()
  return service.database.snapshot(async (tx) => {
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

/**
 * Vouchers of a definition, newest first, with `refreshed` false without those that a refresh replaced.
 * Refuses `page-invalid`, `merchant-not-allowed`, `coupon-unknown`.
 */
export async function issuances(
  service: CouponService,
  caller: Caller,
  { couponId, refreshed, ...asked }: { couponId: string; refreshed: boolean } & AskedPage,
) {
  const page = parsePage(asked)
  return service.database.snapshot(async (tx) => {
    await service.requireMerchant(tx, caller)
    const definition = await ownDefinition(tx, caller, couponId)
    const rows = await tx.vouchers.list(definition.rowId, page)
    const now = service.now()
    const { shown, next } = cutPage(rows, page)
    // Left out of the page, not of the query: a long run of refreshed rows costs no more than a page.
    const listed = refreshed ? shown : shown.filter(({ phase }) => phase !== 'refreshed')
    return { mints: listed.map((row) => issuanceOf(row, now)), next }
  })
}

/**
 * The chain of refreshes that a voucher belongs to, oldest first. `handle` may name any voucher of it.
 * Refuses `field-invalid`, `page-invalid`, `merchant-not-allowed`, `coupon-unknown`, `voucher-unknown`.
 */
export async function chainOf(
  service: CouponService,
  caller: Caller,
  { couponId, handle, ...asked }: { couponId: string; handle: string } & AskedPage,
) {
  if (!nonceShaped(handle)) throw new Refusal('field-invalid', { field: 'chain' })
  const page = parsePage(asked)
  return service.database.snapshot(async (tx) => {
    await service.requireMerchant(tx, caller)
    const definition = await ownDefinition(tx, caller, couponId)
    const named = await tx.vouchers.find(parseHandle(handle))
    if (named?.definitionRowId !== definition.rowId) throw new Refusal('voucher-unknown')
    // A cursor names the last row of the page before. `listChain` starts with that row, so it is dropped below.
    const last = page.before
    const from = last ?? named.rootId
    const rows = await tx.vouchers.listChain(named.rootId, from, page.limit + 2)
    const now = service.now()
    const { shown, next } = cutPage(last === null ? rows : rows.slice(1), page)
    return { mints: shown.map((row) => issuanceOf(row, now)), next }
  })
}

/** The caller's redemptions, newest first. Refuses `page-invalid`, `merchant-not-allowed`. */
export async function redemptions(service: CouponService, caller: Caller, asked: AskedPage) {
  const page = parsePage(asked)
  const rows = await service.database.snapshot(async (tx) => {
    await service.requireMerchant(tx, caller)
    return tx.vouchers.listRedemptions(caller.pubkey, page)
  })
  const { shown, next } = cutPage(rows, page)
  return {
    redemptions: shown.map((row) => ({
      handle: handleText(row.handle),
      nonce: handleText(row.handle),
      claimedAt: row.claimedAt,
      couponId: row.couponId,
      name: row.terms.name,
      benefit: row.terms.benefit,
      order: row.zapRequest === null ? null : orderIn(row.zapRequest),
      orderId: row.zapRequestId,
      amountMsat: row.amountMsat,
      claimedBy: row.claimedBy,
      claimedByNpub: row.claimedBy && npubOf(row.claimedBy),
      claimedByLabel: row.label,
      ...(row.unlisted && { unlisted: true }),
      ...(row.purchase && { purchase: row.purchase }),
      ...(row.recipient !== null && { label: row.recipient }),
    })),
    next,
  }
}

/** Parse a stored order. Null if it breaks the JSON bounds, which are newer than the oldest orders. */
function orderIn(text: string): unknown {
  return parseJson(text, text.length) ?? null
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
    ...addedView(definition),
  }
}
