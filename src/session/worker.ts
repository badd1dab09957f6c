import { limits } from '../base/limits.ts'
import type { Job, SweepParts } from '../db/jobs.ts'
import type { CutoffStore } from './cutoff-store.ts'
import type { ProofStore } from './proof-store.ts'

type SessionStores = { proofs: ProofStore; cutoffs: CutoffStore }

/** Delete proofs that are too old to be sent again, and cut-offs that no session can outlive. */
export function startSessionSweep({ jobs, database, now, failed }: SweepParts<SessionStores>): Job {
  return jobs.sweep({
    lease: 'session.sweep',
    failed,
    step: () =>
      database.transact({ roots: ['instance'] }, async (tx) => {
        await tx.cutoffs.prune(now() - limits.sessionCutoffSeconds)
        const before = now() - limits.proofWindowSeconds
        return (await tx.proofs.prune(limits.sweepRowsMax, before)) > 0
      }),
  })
}
