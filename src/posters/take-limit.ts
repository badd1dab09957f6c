import { Buckets } from '../base/buckets.ts'
import { limits } from '../base/limits.ts'
import { requireNoWait } from '../base/refusal.ts'
import type { PosterService } from './service.ts'

/** The Wi-Fi of a shop is one address with many customers, so this bounds bursts only: 120 at once and 120 a minute. */
const takeRule = { burst: 120, perSecond: 2, entriesMax: limits.rateEntriesMax }

/** Build the rate limit of takes. `seconds` reads a monotonic clock. */
export function createTakeLimit(seconds: () => number): PosterService['countTake'] {
  const takes = new Buckets(takeRule)
  return (posterId, address) => requireNoWait(takes.take(`${posterId} ${address}`, seconds()))
}

/** No limit, for measurements (`RATE_LIMIT=off`). */
export const noTakeLimit: PosterService['countTake'] = () => undefined
