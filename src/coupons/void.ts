import { limits } from '../base/limits.ts'
import { Refusal, type RefusalCode } from '../base/refusal.ts'
import type { Caller } from '../session/caller.ts'
import { couponChanged, couponsKilled } from './news.ts'
import { handleOf, nonceShaped, parseHandle } from './nonce.ts'
import { ownDefinition } from './permission.ts'
import type { CouponService, CouponStores } from './service.ts'
import { type Issuance, issuanceOf, type Phase, type Voucher } from './voucher.ts'

type VoidInput = {
  couponId: string
  /** Handle or nonce of the voucher. */
  name: string
  /** Void the spendable successor of that voucher, however often it was refreshed. */
  chain: boolean
}

const closed: Record<Exclude<Phase, 'minted'>, RefusalCode> = {
  claimed: 'voucher-claimed',
  refreshed: 'voucher-refreshed',
  voided: 'voucher-voided',
}

/**
 * Void one open voucher, expired or not. Its place under `maxUses` becomes free. Refuses `merchant-not-allowed`,
 * `coupon-unknown`, `voucher-unknown`, then the code of a phase that cannot be voided.
 */
export function voidVoucher(
  service: CouponService,
  caller: Caller,
  { couponId, name, chain }: VoidInput,
): Promise<{ mint: Issuance }> {
  const vouchers = handlesOf(name).map((handle) => ({ voucher: handle }))
  const roots = [{ definition: couponId, mode: 'shared' as const }, ...vouchers]
  return service.database.transact({ roots, first: caller.spend }, async (tx) => {
    await service.requireMerchant(tx, caller)
    const now = service.now()
    const definition = await ownDefinition(tx, caller, couponId)
    // A voucher of another definition looks like an unknown one, whose handle the caller must not learn.
    const named = await findNamed(tx, name)
    if (named?.definitionRowId !== definition.rowId) throw new Refusal('voucher-unknown')
    const target = chain ? await tx.vouchers.findEnd(named.rootId) : named
    if (target.phase !== 'minted') throw new Refusal(closed[target.phase])
    if (!(await tx.vouchers.void(target, now))) throw new Error('an open voucher was not voided')
    const listed = await tx.vouchers.findListed(target.rowId)
    const { handle } = listed
    const change = {
      type: 'voided',
      owner: caller.pubkey,
      couponId,
      at: now,
      handle,
      count: 1,
    } as const
    tx.tell(couponChanged, change)
    return { mint: issuanceOf(listed, now) }
  })
}

/**
 * The kill switch: void every open voucher of a definition. It writes one cut-off row, so that it takes the
 * same time for any number of vouchers. Refuses `merchant-not-allowed`, `coupon-unknown`.
 */
export function voidAll(service: CouponService, caller: Caller, couponId: string) {
  const roots = [{ definition: couponId, mode: 'changed' }] as const
  return service.database.transact({ roots, first: caller.spend }, async (tx) => {
    await service.requireMerchant(tx, caller)
    const definition = await ownDefinition(tx, caller, couponId)
    // The counter is exact here: each operation that mints, claims or voids changes it in its transaction.
    const voided = definition.open
    const now = service.now()
    if (voided > 0) {
      await tx.vouchers.kill(definition.rowId, voided, now)
      const { pubkey: owner } = caller
      const change = { type: 'voided', owner, couponId, at: now, handle: null } as const
      tx.tell(couponChanged, { ...change, count: voided })
      tx.tell(couponsKilled, null)
    }
    return { voided }
  })
}

/** Mark up to `sweepRowsMax` rows that the kill switch voided. False if none remain. */
export async function sweepKilled(service: Pick<CouponService, 'database'>): Promise<boolean> {
  return service.database.transact({ roots: ['instance'] }, async (tx) => {
    const kill = await tx.vouchers.nextKill()
    if (!kill) return false
    await tx.lock({ definition: kill.couponId, mode: 'changed' })
    await tx.vouchers.sweep(kill, limits.sweepRowsMax)
    return true
  })
}

/** Find a voucher by handle, else by nonce. Both have the same form, so that only the store can tell them apart. */
async function findNamed(tx: CouponStores, name: string): Promise<Voucher | null> {
  for (const handle of handlesOf(name)) {
    const voucher = await tx.vouchers.find(handle)
    if (voucher) return voucher
  }
  return null
}

function handlesOf(name: string): Uint8Array[] {
  return nonceShaped(name) ? [parseHandle(name), handleOf(name)] : []
}
