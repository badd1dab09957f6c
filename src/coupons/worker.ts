import { limits } from '../base/limits.ts'
import type { Job, Jobs, RowSweep } from '../db/jobs.ts'
import type { AnswerStore } from './answer-store.ts'
import type { CouponService } from './service.ts'
import { sweepKilled } from './void.ts'

type KillSweepParts = Pick<CouponService, 'database'> & {
  jobs: Jobs
  failed: (cause: unknown) => void
}

/** Mark rows that the kill switch voided; each use of the switch wakes it. */
export function startKillSweep({ database, jobs, failed }: KillSweepParts): Job {
  return jobs.sweep({ failed, step: () => sweepKilled({ database }) })
}

/** Answers that nobody may ask for again. */
export const answerSweep: RowSweep<{ answers: AnswerStore }> = {
  prune: async ({ answers }, now) =>
    (await answers.prune(limits.sweepRowsMax, now - limits.answerSeconds)) > 0,
}
