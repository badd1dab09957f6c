import { Refusal, requireNoWait } from '../base/refusal.ts'
import { mac, sameMac, seal, unseal } from '../crypto/seal.ts'
import type { AfterCommit, Locking } from '../db/database.ts'
import { couponChanged } from './news.ts'
import { handleOf } from './nonce.ts'
import type { CouponService, CouponStores } from './service.ts'
import { beginMinted, refusalFor, spendable, type Voucher } from './voucher.ts'

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
  return service.database.transact({ roots }, async (tx) => {
    const burned = await burn(service, tx, input)
    if ('replayed' in burned) return burned
    const outcome = { replayed: false, body: '' }
    // The answer is signed by another thread meanwhile, and sealed before the commit.
    tx.beforeCommit(() => {
      outcome.body = burned.file()
    })
    return outcome
  })
}

/** `refresh` as a part of a larger transaction: the burn commits together with the rest of it. */
export async function refreshWithin(
  service: Refreshing,
  tx: Refreshed,
  input: RefreshInput,
): Promise<RefreshOutcome> {
  const burned = await burn(service, tx, input)
  return 'replayed' in burned ? burned : { replayed: false, body: burned.file() }
}

type Refreshed = Pick<CouponStores, 'vouchers'> & AfterCommit & Locking

/** Without a replay, the answer is still to be stored: `file` signs it, stores it and returns it. */
async function burn(
  service: Refreshing,
  tx: Refreshed,
  { nonce, key }: RefreshInput,
): Promise<RefreshOutcome | { file: () => string }> {
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
  const successor = service.newNonce()
  const newHandle = handleOf(successor)
  const result = beginMinted(service.signer, { ...old, nonce: successor }, now)
  // From here it must succeed: burn, successor and answer commit together, or none of them if the signer fails. The
  // guarded UPDATE decides between parallel refreshes and claims.
  if (!(await tx.vouchers.replace(old, newHandle, now))) throw refusalFor(old, now, 'refresh')
  const { owner, couponId } = old
  const change = {
    type: 'refreshed',
    owner,
    couponId,
    at: now,
    handle,
    successor: newHandle,
  } as const
  // After the commit, because the transaction may be run again and must not count twice.
  tx.afterCommit(() => service.refreshes.made(old.rootId))
  tx.tell(couponChanged, change)
  return {
    file() {
      const body = JSON.stringify(result())
      const sealed = seal(service.storeKey, binding, body)
      tx.vouchers.fileRefresh(old, { handle: newHandle, keyMac, sealed })
      return body
    },
  }
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
