import { limits } from '../../base/limits.ts'
import type { Job, SweepParts } from '../../db/jobs.ts'
import type { ScanStore } from './scan-store.ts'

/** Delete scans that nobody paid with. */
export function startScanSweep(parts: SweepParts<{ scans: ScanStore }>): Job {
  const { jobs, database, now, failed } = parts
  return jobs.sweep({
    lease: 'cards.sweep',
    failed,
    step: () =>
      database.transact({ roots: ['instance'] }, async ({ scans }) => {
        return (await scans.prune(limits.sweepRowsMax, now() - limits.scanKeptSeconds)) > 0
      }),
  })
}
