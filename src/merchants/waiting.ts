import { limits } from '../base/limits.ts'
import type { Waiting } from './merchant-store.ts'
import type { MerchantStores } from './service.ts'

/**
 * Owners of coupons that were not let in, those with the most coupons first. At most `waitingMax`, since a
 * service with more of them admits any key.
 */
export async function listWaiting(tx: Pick<MerchantStores, 'merchants'>): Promise<Waiting[]> {
  const found: Waiting[] = []
  while (found.length < limits.waitingMax) {
    const page = await tx.merchants.waiting(found.at(-1)?.pubkey ?? '', limits.pageMax)
    found.push(...page)
    if (page.length < limits.pageMax) break
  }
  return found.sort((a, b) => b.coupons - a.coupons)
}
