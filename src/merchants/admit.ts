import { Refusal } from '../base/refusal.ts'
import type { Caller } from '../session/caller.ts'
import type { MerchantStores, Merchants } from './service.ts'

type Admitting = Pick<Merchants, 'admission' | 'listed' | 'now'>
type Known = Pick<MerchantStores, 'merchants'>

/** Refuse a key that may not manage coupons. The refusal shows if a setup code would let it in. */
export async function requireMerchant(
  { admission, listed, now }: Admitting,
  tx: Known,
  { pubkey }: Pick<Caller, 'pubkey'>,
): Promise<void> {
  const kind = admission()
  if (kind === 'private' || kind === 'open' || listed.has(pubkey)) return
  const known = await tx.merchants.find(pubkey)
  const stays = known?.expiresAt === null
  if (known && (stays ? kind === 'let-in' : now() < (known.expiresAt ?? 0))) return
  const setup = kind === 'let-in' && (await tx.merchants.code()) !== null
  throw new Refusal('merchant-not-allowed', setup ? { setup } : {})
}

/** Keep the rule that a setup code exists only while nobody was let in. In the transaction of the change. */
export async function settleCode(
  { admission, newSalt }: Pick<Merchants, 'admission' | 'newSalt'>,
  tx: Known,
): Promise<void> {
  const due = await codeDue({ admission }, tx)
  if (due === 'burn') await tx.merchants.burnCode()
  if (due === 'make') await tx.merchants.setCode(newSalt())
}

/** The change that `settleCode` would make. */
export async function codeDue(
  { admission }: Pick<Merchants, 'admission'>,
  tx: Known,
): Promise<'make' | 'burn' | null> {
  if (admission() !== 'let-in') return null
  const wanted = (await tx.merchants.count()) === 0
  const there = (await tx.merchants.code()) !== null
  if (wanted === there) return null
  return wanted ? 'make' : 'burn'
}
