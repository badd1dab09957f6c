import { couponWords as t } from './coupon.ts'
import { day } from './format.ts'

/** The expiry of a coupon in a few words. */
export function untilText(expiresAt: number | null): string {
  return expiresAt === null ? t('always') : t('until', { when: day(expiresAt) })
}
