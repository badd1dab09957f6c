import { answerSweep } from '../coupons/worker.ts'
import type { Upkeep } from '../db/database.ts'
import type { RowSweep } from '../db/jobs.ts'
import { outboxSweep } from '../gateway/worker.ts'
import { merchantSweep } from '../merchants/worker.ts'
import { pictureSweep } from '../pictures/worker.ts'
import { sessionSweep } from '../session/worker.ts'
import { scanSweep } from '../wallet/cards/worker.ts'
import { nonceSweep } from '../wallet/identities/worker.ts'
import { refusalSweep } from '../wallet/ledger/worker.ts'
import { requestSweep } from '../wallet/worker.ts'
import type { Runtime } from './runtime.ts'
import type { Stores } from './stores.ts'

const sweeps: readonly RowSweep<Stores>[] = [
  ...[answerSweep, outboxSweep, merchantSweep, pictureSweep, sessionSweep],
  ...[scanSweep, nonceSweep, refusalSweep, requestSweep],
]

/** Start the jobs that delete old rows of all features, and those of the engine. */
export function startSweeps({ database, jobs, now, log }: Runtime): { stop(): Promise<void> } {
  const failed = (cause: unknown) => log.warn('housekeeping.failed', { cause })
  const steps = [
    ...sweeps.map(({ prune }): Upkeep => {
      return { step: () => database.transact({ roots: ['instance'] }, (tx) => prune(tx, now())) }
    }),
    ...database.upkeep,
  ]
  const started = steps.map((upkeep) => jobs.sweep({ ...upkeep, failed }))
  return {
    async stop() {
      await Promise.all(started.map((job) => job.stop()))
    },
  }
}
