import { startCouponSweep } from '../coupons/worker.ts'
import type { SweepParts } from '../db/jobs.ts'
import { startMerchantSweep } from '../merchants/worker.ts'
import { startSessionSweep } from '../session/worker.ts'
import { startScanSweep } from '../wallet/cards/worker.ts'
import { startNonceSweep } from '../wallet/identities/worker.ts'
import { startLedgerSweep } from '../wallet/ledger/worker.ts'
import { startRequestSweep } from '../wallet/worker.ts'
import type { Stores } from './stores.ts'

type Sweeps = {
  /** The kill switch left rows to mark: do it soon, not a minute later. */
  killed(): void
  stop(): Promise<void>
}

/** Start the work of every feature that nobody waits for: it marks and deletes rows. */
export function startSweeps(parts: SweepParts<Stores>): Sweeps {
  const coupons = startCouponSweep(parts)
  const wallet = [startRequestSweep, startNonceSweep, startScanSweep, startLedgerSweep]
  const others = [startSessionSweep, startMerchantSweep, ...wallet]
  const all = [coupons, ...others.map((start) => start(parts))]
  return {
    killed: coupons.wake,
    async stop() {
      await Promise.all(all.map((sweep) => sweep.stop()))
    },
  }
}
