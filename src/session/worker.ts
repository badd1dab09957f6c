import { limits } from '../base/limits.ts'
import type { RowSweep } from '../db/jobs.ts'
import type { CutoffStore } from './cutoff-store.ts'
import type { ProofStore } from './proof-store.ts'

/** Proofs that are too old to be sent again, and cut-offs that no session can outlive. */
export const sessionSweep: RowSweep<{ proofs: ProofStore; cutoffs: CutoffStore }> = {
  async prune({ proofs, cutoffs }, now) {
    await cutoffs.prune(now - limits.sessionCutoffSeconds)
    return (await proofs.prune(limits.sweepRowsMax, now - limits.proofWindowSeconds)) > 0
  },
}
