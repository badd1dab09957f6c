import { limits } from '../../base/limits.ts'
import type { Job, SweepParts } from '../../db/jobs.ts'
import type { NonceStore } from './nonce-store.ts'

/** Delete nonces that were not used in time. */
export function startNonceSweep(parts: SweepParts<{ nonces: NonceStore }>): Job {
  const { jobs, database, now, failed } = parts
  return jobs.sweep({
    lease: 'identities.sweep',
    failed,
    step: () =>
      database.transact({ roots: ['instance'] }, async ({ nonces }) => {
        return (await nonces.prune(limits.sweepRowsMax, now() - limits.openNonceSeconds)) > 0
      }),
  })
}
