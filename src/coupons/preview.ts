import { Refusal } from '../base/refusal.ts'
import { handleOf } from './nonce.ts'
import type { Mint } from './service.ts'
import { statusOf, voucherFacts } from './voucher.ts'

/** What a nonce is worth and whether it still is; never what it became. Refuses `voucher-unknown`. */
export async function preview(mint: Mint, nonce: string) {
  const voucher = await mint.database.snapshot((tx) => tx.vouchers.find(handleOf(nonce)))
  if (!voucher) throw new Refusal('voucher-unknown')
  return {
    status: statusOf(voucher, mint.now()),
    ...voucherFacts(voucher, nonce),
    claimedAt: voucher.phase === 'claimed' ? voucher.endedAt : null,
  }
}
