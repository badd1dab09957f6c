import type { CouponService } from '../../src/coupons/service.ts'
import { noVoucherLimits } from '../../src/coupons/voucher-limits.ts'

/** The ports of coupons without the features around them: no rights, quotas, pictures, announcements or full disks. */
export const couponsAlone = {
  requireMerchant: async () => undefined,
  addressOf: () => null,
  pictureAt: () => null,
  charge: async () => undefined,
  resolveName: async () => null,
  broadcast: async () => undefined,
  recall: async () => undefined,
  ...noVoucherLimits,
  requireDisk: () => undefined,
} satisfies Partial<CouponService>
