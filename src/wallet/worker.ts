import { limits } from '../base/limits.ts'
import type { RowSweep } from '../db/jobs.ts'
import type { RequestStore } from './request-store.ts'

/** Requests that cannot come again. */
export const requestSweep: RowSweep<{ requests: RequestStore }> = {
  prune: async ({ requests }, now) => (await requests.prune(limits.sweepRowsMax, now)) > 0,
}
