import type { Static } from '@sinclair/typebox'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { parseLabel } from '../coupons/text.ts'
import type { AfterCommit } from '../db/database.ts'
import { npubOf, parsePubkey } from '../nostr/keys.ts'
import type { Caller } from '../session/caller.ts'
import { settleCode } from './admit.ts'
import type { Merchant } from './merchant-store.ts'
import type { NewMerchantModel } from './models.ts'
import { type MerchantStores, type Merchants, merchantRemoved } from './service.ts'

type MerchantInput = Static<typeof NewMerchantModel>

/** A merchant on the wire. */
export function merchantView({ pubkey, label, owner, createdAt }: Merchant) {
  return { pubkey, npub: npubOf(pubkey), label, owner, createdAt }
}

/** The merchants that were let in, newest first. Refuses `merchants-by-setting`, `merchants-owner-only`. */
export async function listMerchants(merchants: Merchants, caller: Caller) {
  return merchants.database.snapshot(async (tx) => {
    await requireOwner(merchants, tx, caller)
    return { merchants: (await tx.merchants.list()).map(merchantView) }
  })
}

/**
 * Let a key manage coupons. `created` is false if it already could. Without a label the label stays.
 * Refuses `field-invalid`, `merchants-full`, and as `listMerchants`.
 */
export async function addMerchant(merchants: Merchants, caller: Caller, input: MerchantInput) {
  const label = parseLabel(input.label)
  const pubkey = parsePubkey(input.pubkey)
  if (pubkey === null) throw new Refusal('field-invalid', { field: 'pubkey' })
  return merchants.database.transact({ roots: ['roster'], first: caller.spend }, async (tx) => {
    await requireOwner(merchants, tx, caller)
    const by = caller.pubkey
    const { created, merchant } = await admit(merchants, tx, { pubkey, label, owner: false, by })
    return { created, merchant: merchantView(merchant) }
  })
}

/**
 * Remove a merchant. Refuses as `listMerchants`, `merchant-unknown`, and `merchant-is-owner` for one that
 * only the operator can remove.
 */
export async function removeMerchant(merchants: Merchants, caller: Caller, text: string) {
  const key = parsePubkey(text)
  return merchants.database.transact({ roots: ['roster'], first: caller.spend }, async (tx) => {
    await requireOwner(merchants, tx, caller)
    const merchant = key === null ? null : await tx.merchants.find(key)
    if (merchant?.expiresAt !== null) throw new Refusal('merchant-unknown')
    if (merchant.owner) throw new Refusal('merchant-is-owner')
    await tx.merchants.remove(merchant.pubkey)
    const { pubkey } = merchant
    const by = caller.pubkey
    tx.afterCommit(() => merchants.happened({ type: 'removed', pubkey, by }))
    tx.tell(merchantRemoved, pubkey)
    return { removed: true as const }
  })
}

type Admitted = {
  pubkey: string
  label: string | null | undefined
  owner: boolean
  by: string
}

/**
 * Store a merchant that is no guest. A guest becomes one, and an owner stays an owner. The setup code burns.
 * In the transaction of the caller. Refuses `merchants-full`.
 */
export async function admit(
  merchants: Merchants,
  tx: Pick<MerchantStores, 'merchants'> & AfterCommit,
  { pubkey, label, owner, by }: Admitted,
): Promise<{ created: boolean; merchant: Merchant }> {
  const known = await tx.merchants.find(pubkey)
  const before = known?.expiresAt === null ? known : null
  if (!before && (await tx.merchants.count()) >= limits.merchantsMax) {
    throw new Refusal('merchants-full')
  }
  const merchant = {
    pubkey,
    label: label === undefined ? (before?.label ?? null) : label,
    owner: owner || before?.owner === true,
    createdAt: before?.createdAt ?? merchants.now(),
    expiresAt: null,
  }
  await tx.merchants.put(merchant)
  await settleCode(merchants, tx)
  if (!before) tx.afterCommit(() => merchants.happened({ type: 'admitted', pubkey, by }))
  return { created: before === null, merchant }
}

async function requireOwner(
  { admission }: Merchants,
  tx: Pick<MerchantStores, 'merchants'>,
  { pubkey }: Caller,
): Promise<void> {
  if (admission() !== 'let-in') throw new Refusal('merchants-by-setting')
  const merchant = await tx.merchants.find(pubkey)
  if (!merchant?.owner) throw new Refusal('merchants-owner-only')
}
