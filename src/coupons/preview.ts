import { Refusal } from '../base/refusal.ts'
import { handleOf } from './nonce.ts'
import type { CouponService } from './service.ts'
import { statusOf, voucherView } from './voucher.ts'

/** What a nonce is worth and whether it still is; never what it became. Refuses `voucher-unknown`. */
export async function preview(service: CouponService, nonce: string) {
  const voucher = await service.database.snapshot((tx) => tx.vouchers.find(handleOf(nonce)))
  if (!voucher) throw new Refusal('voucher-unknown')
  return {
    status: statusOf(voucher, service.now()),
    ...voucherView(voucher, nonce),
    claimedAt: voucher.phase === 'claimed' ? voucher.endedAt : null,
  }
}
