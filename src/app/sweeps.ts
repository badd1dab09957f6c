import type { SweepParts } from '../db/jobs.ts'
import { startMerchantSweep } from '../merchants/worker.ts'
import { startSessionSweep } from '../session/worker.ts'
import { startScanSweep } from '../wallet/cards/worker.ts'
import { startNonceSweep } from '../wallet/identities/worker.ts'
import { startLedgerSweep } from '../wallet/ledger/worker.ts'
import { startRequestSweep } from '../wallet/worker.ts'
import type { Runtime } from './runtime.ts'
import type { Stores } from './stores.ts'

/** Start the jobs that delete old rows of features which have no other work in the background. */
export function startSweeps({ database, jobs, now, log }: Runtime): { stop(): Promise<void> } {
  const failed = (cause: unknown) => log.warn('housekeeping.failed', { cause })
  const parts: SweepParts<Stores> = { database, jobs, now, failed }
  const wallet = [startRequestSweep, startNonceSweep, startScanSweep, startLedgerSweep]
  const others = [startSessionSweep, startMerchantSweep, ...wallet]
  const all = others.map((start) => start(parts))
  return {
    async stop() {
      await Promise.all(all.map((sweep) => sweep.stop()))
    },
  }
}
