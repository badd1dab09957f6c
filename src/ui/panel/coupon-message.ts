import type { VoucherResult } from '../../client/models.ts'
import { plainBenefitText } from '../words/benefit-text.ts'
import { couponWords as t } from '../words/coupons.ts'
import { untilText } from '../words/until.ts'

/** The text that goes with the link of a coupon in a message. `shop`: null where its name is unknown. */
export function couponMessage(voucher: VoucherResult, shop: string | null, link: string): string {
  const opening = shop === null ? t('message.opening') : t('message.shop', { shop })
  const { coupon, description, expiresAt } = voucher
  // The whole promise with its limits: a message is all that the customer may ever read.
  const promise = [plainBenefitText(coupon), description.trim(), untilText(expiresAt)]
  return [opening, ...promise.filter(Boolean), '', t('message.open'), link].join('\n')
}
