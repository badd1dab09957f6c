/** How a coupon's state and its end are told. */
import { day } from '../client/format.ts'
import type { Tone } from '../parts/notice.tsx'
import { couponWords as t } from '../words/coupon.ts'
import type { Status } from './holdings.ts'

export const statusTone: Record<Status, Tone> = {
  minted: 'good',
  claimed: 'idle',
  refreshed: 'moved',
  voided: 'bad',
  expired: 'wait',
}

/** Until when it is good, in a few words. */
export function untilText(expiresAt: number | null): string {
  return expiresAt === null ? t('always') : t('until', { when: day(expiresAt) })
}
