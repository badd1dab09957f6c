import { limits } from '../../base/limits.ts'
import type { RowSweep } from '../../db/jobs.ts'
import type { ScanStore } from './scan-store.ts'

/** Scans that nobody paid with. */
export const scanSweep: RowSweep<{ scans: ScanStore }> = {
  prune: async ({ scans }, now) =>
    (await scans.prune(limits.sweepRowsMax, now - limits.scanKeptSeconds)) > 0,
}
