import { Refusal } from '../base/refusal.ts'
import type { Admission, MerchantStores } from '../merchants/service.ts'
import { listWaiting } from '../merchants/waiting.ts'

/**
 * Refuse `move-not-allowed` to anybody but the person who runs the service, who gets all of its keys: the first owner that
 * was let in, or, where only this machine reaches the service, the one key that has coupons. With `MERCHANTS`
 * nobody of them is known to run it.
 */
export async function requireMover(
  tx: Pick<MerchantStores, 'merchants'>,
  admission: Admission,
  pubkey: string,
): Promise<void> {
  const merchants = await tx.merchants.list()
  if (admission === 'let-in') {
    // The list begins with the newest.
    if (merchants.findLast(({ owner }) => owner)?.pubkey === pubkey) return
  } else if (admission === 'private') {
    const known = new Set([...merchants, ...(await listWaiting(tx))].map((one) => one.pubkey))
    if (known.size === 1 && known.has(pubkey)) return
  }
  throw new Refusal('move-not-allowed')
}
