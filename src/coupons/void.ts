import { limits } from '../base/limits.ts'
import { Refusal, type RefusalCode } from '../base/refusal.ts'
import type { Caller } from '../session/caller.ts'
import { handleOf, nonceShaped, parseHandle } from './nonce.ts'
import { ownDefinition } from './permission.ts'
import type { CouponStores, Mint } from './service.ts'
import { type MintView, mintView, type Phase, type Voucher } from './voucher.ts'

type VoidInput = {
  couponId: string
  /** A handle, or a nonce for who has nothing else. */
  name: string
  /** Void the live successor of that voucher, wherever refresh moved it. */
  chain: boolean
}

const closed: Record<Exclude<Phase, 'minted'>, RefusalCode> = {
  claimed: 'voucher-claimed',
  refreshed: 'voucher-refreshed',
  voided: 'voucher-voided',
}

/** Void one open voucher, expired or not; the slot counts as free again. */
export async function voidVoucher(
  mint: Mint,
  caller: Caller,
  { couponId, name, chain }: VoidInput,
): Promise<{ mint: MintView }> {
  const { view, handle } = await mint.database.transact(async (tx) => {
    await mint.requireMerchant(tx, caller)
    const now = mint.now()
    const definition = await ownDefinition(tx, caller, couponId)
    const named = await findNamed(tx, name)
    if (named?.definitionRowId !== definition.rowId) throw new Refusal('voucher-unknown')
    const target = chain ? await tx.vouchers.findEnd(named.rootId) : named
    if (target.phase !== 'minted') throw new Refusal(closed[target.phase])
    if (!(await tx.vouchers.void(target, now))) throw new Error('an open voucher was not voided')
    const listed = await tx.vouchers.findListed(target.rowId)
    return { view: mintView(listed, now), handle: listed.handle }
  }, caller.spend)
  const at = view.voidedAt ?? mint.now()
  mint.changed({ type: 'voided', owner: caller.pubkey, couponId, at, handle, count: 1 })
  return { mint: view }
}

/** The kill switch: void every open voucher of a definition, whatever their number, in constant time. */
export async function voidAll(mint: Mint, caller: Caller, couponId: string) {
  const voided = await mint.database.transact(async (tx) => {
    await mint.requireMerchant(tx, caller)
    const definition = await ownDefinition(tx, caller, couponId)
    if (definition.open > 0) {
      await tx.vouchers.kill(definition.rowId, definition.open, mint.now())
    }
    return definition.open
  }, caller.spend)
  mint.killed()
  if (voided > 0) {
    const at = mint.now()
    mint.changed({
      type: 'voided',
      owner: caller.pubkey,
      couponId,
      at,
      handle: null,
      count: voided,
    })
  }
  return { voided }
}

/** Mark some of the rows that the kill switch voided; false when none are left. */
export async function sweepKilled(mint: Pick<Mint, 'database'>): Promise<boolean> {
  return mint.database.transact(async (tx) => {
    const kill = await tx.vouchers.nextKill()
    if (!kill) return false
    await tx.vouchers.sweep(kill, limits.sweepRowsMax)
    return true
  })
}

/** Handles and nonces look alike; a text that is no handle we know may be the nonce of one. */
async function findNamed(tx: CouponStores, name: string): Promise<Voucher | null> {
  if (!nonceShaped(name)) return null
  return (await tx.vouchers.find(parseHandle(name))) ?? tx.vouchers.find(handleOf(name))
}
