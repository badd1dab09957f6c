import { Refusal } from '../base/refusal.ts'
import { handleOf } from './nonce.ts'
import type { CouponService } from './service.ts'
import { statusOf, voucherView } from './voucher.ts'

/** Terms and status of a voucher. The successor of a refreshed one stays secret. Refuses `voucher-unknown`. */
export async function preview(service: CouponService, nonce: string) {
  const voucher = await service.database.look((tx) => tx.vouchers.find(handleOf(nonce)))
  if (!voucher) throw new Refusal('voucher-unknown')
  return {
    status: statusOf(voucher, service.now()),
    ...voucherView(voucher, nonce),
    claimedAt: voucher.phase === 'claimed' ? voucher.endedAt : null,
  }
}
