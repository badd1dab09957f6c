import type { Topic } from '../db/news.ts'
import type { Change } from './live.ts'

/** For the live streams. */
export const couponChanged: Topic<Change> = { name: 'coupon.changed' }

/** The kill switch was used: rows wait for their mark. */
export const couponsKilled: Topic<null> = { name: 'coupon.killed' }
