import { limits } from '../base/limits.ts'
import type { Job, SweepParts } from '../db/jobs.ts'
import type { RequestStore } from './request-store.ts'

/** Delete requests that cannot come again. */
export function startRequestSweep(parts: SweepParts<{ requests: RequestStore }>): Job {
  const { jobs, database, now, failed } = parts
  return jobs.sweep({
    lease: 'requests.sweep',
    failed,
    step: () =>
      database.transact({ roots: ['instance'] }, async ({ requests }) => {
        return (await requests.prune(limits.sweepRowsMax, now())) > 0
      }),
  })
}
