import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import type { CouponStores } from '../coupons/service.ts'
import { sweepKilled } from '../coupons/void.ts'
import type { Database } from '../db/database.ts'
import type { OutboxStore } from '../gateway/outbox-store.ts'
import type { MerchantStore } from '../merchants/merchant-store.ts'
import { dayOf } from '../merchants/quota.ts'
import type { QuotaStore } from '../merchants/quota-store.ts'
import type { CutoffStore } from '../session/cutoff-store.ts'
import type { ScanStore } from '../wallet/cards/scan-store.ts'
import type { NonceStore } from '../wallet/identities/nonce-store.ts'
import type { LedgerStore } from '../wallet/ledger/store.ts'
import type { RequestStore } from '../wallet/request-store.ts'

type Stores = CouponStores & {
  outbox: OutboxStore
  nonces: NonceStore
  requests: RequestStore
  scans: ScanStore
  ledger: LedgerStore
  cutoffs: CutoffStore
  merchants: MerchantStore
  quotas: QuotaStore
}

type Housekeeping = {
  /** Do what is due soon, not at the next tick: the kill switch has left rows to mark. */
  wake(): void
  stop(): Promise<void>
}

/** Work that nobody waits for, in steps small enough that nobody notices: marks and prunes rows. */
export function startHousekeeping(
  database: Database<Stores>,
  now: Clock,
  failed: (cause: unknown) => void,
): Housekeeping {
  let running: Promise<void> | null = null
  let stopped = false
  const run = async () => {
    while (!stopped && (await step(database, now()))) await Bun.sleep(1)
  }
  const wake = () => {
    if (stopped || running !== null) return
    running = run()
      .catch(failed)
      .finally(() => {
        running = null
      })
  }
  const timer = setInterval(wake, limits.housekeepingSeconds * 1000)
  wake()
  return {
    wake,
    async stop() {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}

/** One step of each kind; false when nothing was left to do. */
async function step(database: Database<Stores>, now: number): Promise<boolean> {
  const swept = await sweepKilled({ database })
  const pruned = await database.transact(async (tx) => {
    const proofs = await tx.proofs.prune(limits.sweepRowsMax, now - limits.proofWindowSeconds)
    const answers = await tx.answers.prune(limits.sweepRowsMax, now - limits.answerSeconds)
    const told = await tx.outbox.prune(limits.sweepRowsMax, now - limits.outboxKeptSeconds)
    const requests = await tx.requests.prune(limits.sweepRowsMax, now)
    const nonces = await tx.nonces.prune(limits.sweepRowsMax, now - limits.openNonceSeconds)
    const scans = await tx.scans.prune(limits.sweepRowsMax, now - limits.scanKeptSeconds)
    const refusals = await tx.ledger.prune(limits.sweepRowsMax, now)
    await tx.cutoffs.prune(now - limits.sessionCutoffSeconds)
    await tx.merchants.prune(now)
    await tx.quotas.prune(dayOf(now))
    return proofs + answers + told + requests + nonces + scans + refusals
  })
  return swept || pruned > 0
}
