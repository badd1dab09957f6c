import { limits } from '../base/limits.ts'
import type { Job, SweepParts } from '../db/jobs.ts'
import type { ScanStore } from './cards/scan-store.ts'
import type { NonceStore } from './identities/nonce-store.ts'
import type { LedgerStore } from './ledger/store.ts'
import type { RequestStore } from './request-store.ts'

type WalletStores = {
  requests: RequestStore
  nonces: NonceStore
  scans: ScanStore
  ledger: LedgerStore
}

/** Delete requests that cannot come again, open nonces, free scans and the ledger's old refusals. */
export function startWalletSweep({ jobs, database, now, failed }: SweepParts<WalletStores>): Job {
  const most = limits.sweepRowsMax
  return jobs.sweep({
    lease: 'wallet.sweep',
    failed,
    step: () =>
      database.transact(async (tx) => {
        const requests = await tx.requests.prune(most, now())
        const nonces = await tx.nonces.prune(most, now() - limits.openNonceSeconds)
        const scans = await tx.scans.prune(most, now() - limits.scanKeptSeconds)
        const refusals = await tx.ledger.prune(most, now())
        return requests + nonces + scans + refusals > 0
      }),
  })
}
