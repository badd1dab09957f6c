import { limits } from '../../base/limits.ts'
import type { RowSweep } from '../../db/jobs.ts'
import type { NonceStore } from './nonce-store.ts'

/** Nonces that were not used in time. */
export const nonceSweep: RowSweep<{ nonces: NonceStore }> = {
  prune: async ({ nonces }, now) =>
    (await nonces.prune(limits.sweepRowsMax, now - limits.openNonceSeconds)) > 0,
}
