import { mac, sameMac, seal, unseal } from '../crypto/seal.ts'
import { Refusal } from '../refusal.ts'
import type { Change } from './live.ts'
import { handleOf } from './nonce.ts'
import type { CouponStores, Mint } from './service.ts'
import { live, mintedResult, refusalFor, type Voucher } from './voucher.ts'

type RefreshInput = { nonce: string; key: string }

/** `replayed`: a retry got the stored answer. */
type RefreshOutcome = { replayed: boolean; body: string }

/**
 * Burn a nonce and mint its successor, or repeat the answer that a lost response already earned.
 * Refuses `voucher-unknown`, `voucher-claimed`, `voucher-refreshed` (under another key),
 * `voucher-cancelled`, `voucher-expired`.
 */
export async function refresh(mint: Mint, { nonce, key }: RefreshInput): Promise<RefreshOutcome> {
  const done: Change[] = []
  const outcome = await mint.database.transact(async (tx) => {
    done.length = 0
    const now = mint.now()
    const old = await tx.vouchers.find(handleOf(nonce))
    if (!old) throw new Refusal('voucher-unknown')
    const binding = { purpose: 'refresh', secret: nonce, key } as const
    const keyMac = mac(mint.storeKey, binding)
    if (old.phase === 'refreshed') return replay(mint, tx, old, keyMac, binding)
    if (!live(old, now)) throw refusalFor(old, now, 'refresh')

    const successor = mint.newNonce()
    const body = JSON.stringify(mintedResult(mint.signer, { ...old, nonce: successor }, now))
    const sealed = seal(mint.storeKey, binding, body)
    const by = { handle: handleOf(successor), keyMac, sealed, now }
    // From here it must succeed: the burn and the successor commit together.
    if (!(await tx.vouchers.replace(old, by))) throw refusalFor(old, now, 'refresh')
    const { owner, couponId } = old
    const handles = { handle: handleOf(nonce), successor: by.handle }
    done.push({ type: 'refreshed', owner, couponId, at: now, ...handles })
    return { replayed: false, body }
  })
  for (const change of done) mint.changed(change)
  return outcome
}

async function replay(
  mint: Mint,
  tx: CouponStores,
  old: Voucher,
  keyMac: Uint8Array,
  binding: Parameters<typeof unseal>[1],
): Promise<RefreshOutcome> {
  const burned = await tx.vouchers.findRefresh(old.rowId)
  if (!burned) throw new Error('a refreshed voucher has no record of its refresh')
  if (!sameMac(burned.keyMac, keyMac)) throw new Refusal('voucher-refreshed')
  return { replayed: true, body: unseal(mint.storeKey, binding, burned.sealed) }
}
