import { Refusal, requireNoWait } from '../base/refusal.ts'
import { mac, sameMac, seal, unseal } from '../crypto/seal.ts'
import type { AfterCommit, Locking } from '../db/database.ts'
import { couponChanged } from './news.ts'
import { handleOf } from './nonce.ts'
import type { CouponService, CouponStores } from './service.ts'
import { mintedResult, refusalFor, spendable, type Voucher } from './voucher.ts'

type RefreshInput = { nonce: string; key: string }

/** The part of CouponService that a refresh needs. */
export type Refreshing = Pick<
  CouponService,
  'now' | 'storeKey' | 'newNonce' | 'signer' | 'refreshes' | 'charge'
>

/** `replayed` is true if a retry got the stored answer. */
type RefreshOutcome = { replayed: boolean; body: string }

/**
 * Burn a nonce and mint its successor, or repeat the answer that a lost response already earned.
 * Refuses `voucher-unknown`, `voucher-claimed`, `voucher-refreshed` (under another key),
 * `voucher-cancelled`, `voucher-expired`, and `rate-limited` before anything is burned.
 */
export function refresh(service: CouponService, input: RefreshInput): Promise<RefreshOutcome> {
  const roots = [{ voucher: handleOf(input.nonce) }]
  return service.database.transact({ roots }, (tx) => refreshWithin(service, tx, input))
}

/** `refresh` as a part of a larger transaction: the burn commits together with the rest of it. */
export async function refreshWithin(
  service: Refreshing,
  tx: Pick<CouponStores, 'vouchers'> & AfterCommit & Locking,
  { nonce, key }: RefreshInput,
): Promise<RefreshOutcome> {
  const now = service.now()
  const handle = handleOf(nonce)
  const old = await tx.vouchers.find(handle)
  if (!old) throw new Refusal('voucher-unknown')
  const binding = { purpose: 'refresh', secret: nonce, key } as const
  const keyMac = mac(service.storeKey, binding)
  // The replay comes before all limits: a client that lost the answer must always get its new nonce.
  if (old.phase === 'refreshed') return replay(service, tx, old, keyMac, binding)
  if (!spendable(old, now)) throw refusalFor(old, now, 'refresh')
  requireNoWait(service.refreshes.wait(old.rootId))

  await service.charge(tx, old.owner, { refreshes: 1 })
  // The answer is signed and sealed before the burn, so that a failing signer burns nothing.
  const successor = service.newNonce()
  const body = JSON.stringify(mintedResult(service.signer, { ...old, nonce: successor }, now))
  const sealed = seal(service.storeKey, binding, body)
  const by = { handle: handleOf(successor), keyMac, sealed, now }
  // From here it must succeed: the burn and the successor commit together. The guarded UPDATE decides between
  // parallel refreshes and claims.
  if (!(await tx.vouchers.replace(old, by))) throw refusalFor(old, now, 'refresh')
  const { owner, couponId } = old
  const change = {
    type: 'refreshed',
    owner,
    couponId,
    at: now,
    handle,
    successor: by.handle,
  } as const
  // After the commit, because the transaction may be run again and must not count twice.
  tx.afterCommit(() => service.refreshes.made(old.rootId))
  tx.tell(couponChanged, change)
  return { replayed: false, body }
}

/** Open the stored answer of a refresh. Only the same nonce and key can open it. Refuses `voucher-refreshed`. */
async function replay(
  service: Refreshing,
  tx: Pick<CouponStores, 'vouchers'>,
  old: Voucher,
  keyMac: Uint8Array,
  binding: Parameters<typeof unseal>[1],
): Promise<RefreshOutcome> {
  const burned = await tx.vouchers.findRefresh(old.rowId)
  if (!burned) throw new Error('a refreshed voucher has no record of its refresh')
  if (!sameMac(burned.keyMac, keyMac)) throw new Refusal('voucher-refreshed')
  const body = unseal(service.storeKey, binding, burned.sealed)
  return { replayed: true, body }
}
