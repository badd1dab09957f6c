import { systemClock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { OpenDatabase } from '../db/database.ts'
import { createProbe } from '../http/probe.ts'
import type { Disk } from './disk.ts'
import type { Stores } from './stores.ts'

/**
 * Create the readiness check: a write, at most one a second. A disk that is low is only a warning, because
 * a service that is taken away would not serve its tills either.
 */
export function createReadiness(database: OpenDatabase<Stores>, disk: Pick<Disk, 'low'>) {
  const write = async ({ facts }: Stores) => {
    // A server writes with every commit. A row that all nodes write would make one wait for another that hangs.
    if (database.nodes === null) await facts.touch(systemClock())
  }
  const unanswered = () => new Refusal('unavailable', { retryAfter: 2 })
  const writes = createProbe(() => database.transact({ roots: 'none' }, write), {
    ...{ everySeconds: 1, answerSeconds: limits.readyAnswerSeconds, late: unanswered },
  })
  return async () => {
    if (database.clockBehind) throw new Refusal('clock-behind', { retryAfter: 30 })
    // The operation would try again for seconds first.
    if (database.away) throw unanswered()
    await writes()
    return disk.low() ? (['disk-low'] as const) : []
  }
}

/** The number of vouchers in each phase, for the metrics. */
export async function vouchersByPhase(tx: Stores) {
  const { issued, claimed, voided, refreshed } = await tx.vouchers.totals()
  return { minted: issued - claimed - voided, claimed, voided, refreshed }
}
