import { limits } from '../base/limits.ts'
import type { RowSweep } from '../db/jobs.ts'
import type { RequestStore } from './request-store.ts'

/**
 * The clock of the node that deletes may be ahead of one that is behind, where a request waits for its turn, too, and
 * once more if its connection ends.
 */
const slackSeconds =
  2 * limits.clockBackSeconds + limits.databaseCallerSeconds + limits.databaseQueueSeconds

/** Requests that cannot come again. */
export const requestSweep: RowSweep<{ requests: RequestStore }> = {
  prune: async ({ requests }, now) =>
    (await requests.prune(limits.sweepRowsMax, now - slackSeconds)) > 0,
}
