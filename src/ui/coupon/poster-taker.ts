/** Takes a coupon from a poster, and asks again with the same key until the answer is there. */

import { ApiError } from '../../client/api-error.ts'
import {
  type Answer,
  type Ask,
  codeOf,
  createRuns,
  limitedSeconds,
  type Pause,
  persist,
  settles,
} from '../../client/persist.ts'
import { messageOf } from '../../client/voucher-terms.ts'
import type { Held } from './holdings.ts'
import type { PosterTake, PosterTakes } from './poster-takes.ts'
import { ownCoupon } from './take.ts'

export type PosterTaking = { poster: string } & (
  | { step: 'taking'; lost: number; retryAfter: number | null }
  | { step: 'taken'; held: Held }
  | { step: 'refused'; code: string; message: string | null }
)

type Wiring = {
  ask: Ask
  /** The Authorization header of a take from a poster; null while it cannot be made. */
  authorize: (poster: string) => Promise<string | null>
  pause: Pause
  takes: PosterTakes
  now: () => number
  onChange: (state: PosterTaking) => void
}

/**
 * Refusals that are not final, but the next request would get them again. A full day of the service is over tomorrow only.
 * A signature that was used before is none of them: a browser may send a request twice, and each attempt has a new one.
 */
const lasting = /^(auth-(?!replay$)[a-z-]+|(vouchers|bytes)-day-full)$/

function unsent(): Answer {
  return { status: 0, body: {}, retryAfter: null, failure: new ApiError('unreachable') }
}

export function createPosterTaker({ ask, authorize, pause, takes, now, onChange }: Wiring) {
  const run = createRuns<void>()

  const finish = async (take: PosterTake): Promise<void> => {
    const { poster, key } = take
    onChange({ poster, step: 'taking', lost: 0, retryAfter: null })
    const attempt = async () => {
      const authorization = await authorize(poster)
      if (authorization === null) return unsent()
      const how = { path: { id: poster }, authorization }
      return ask('POST /api/posters/{id}/take', undefined, key, how)
    }
    const answer = await persist(attempt, {
      pause,
      onLost(lost, answer) {
        onChange({ poster, step: 'taking', lost, retryAfter: limitedSeconds(answer) })
      },
      goOn: () => true,
      settled: (answer) => settles(answer) || lasting.test(codeOf(answer)),
    })
    const held = ownCoupon(answer, now())
    if (!held) {
      // A signature is checked first: an earlier attempt, whose answer was lost, may have taken the coupon.
      if (!codeOf(answer).startsWith('auth-')) takes.close(take)
      onChange({ poster, step: 'refused', code: codeOf(answer), message: messageOf(answer) })
      return
    }
    // The listener stores the coupon before the take counts as answered: a crash in between asks once more.
    onChange({ poster, step: 'taken', held })
    takes.settle(take, held.nonce)
  }

  const once = (take: PosterTake) => run(take.key, () => finish(take))

  return {
    /** Take a coupon, or get the one again that this browser took before; `another`: one more after that. */
    take: (poster: string, another = false) => once(takes.open(poster, another)),
    /** Finish the takes that an earlier page left open. */
    resume: () => Promise.all(takes.waiting().map(once)),
  }
}
