import { limits } from '../../base/limits.ts'
import type { RowSweep } from '../../db/jobs.ts'
import type { NonceStore } from './nonce-store.ts'
import { signupIssuer } from './signup.ts'

/** Nonces that were not used in time. */
export const nonceSweep: RowSweep<{ nonces: NonceStore }> = {
  async prune({ nonces }, now) {
    const most = limits.sweepRowsMax
    const old = await nonces.prune(most, now - limits.openNonceSeconds)
    const before = now - limits.signupNonceSeconds
    return old + (await nonces.pruneOf(signupIssuer, most, before)) > 0
  },
}
