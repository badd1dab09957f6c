import { commonWords as t } from './common.ts'
import { day } from './format.ts'

/** The expiry of a coupon in a few words. */
export function untilText(expiresAt: number | null): string {
  return expiresAt === null ? t('coupon.forever') : t('coupon.until', { day: day(expiresAt) })
}

const nearSeconds = 7 * 24 * 3600

/** Whether the end is so near that a person should see it at a glance. */
export function nearEnd(expiresAt: number, now: number): boolean {
  return expiresAt - now < nearSeconds
}
