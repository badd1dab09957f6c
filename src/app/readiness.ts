import { systemClock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import { type ReadyCause, Refusal } from '../base/refusal.ts'
import type { OpenDatabase } from '../db/database.ts'
import { diskFailure } from '../db/disk-error.ts'
import { createProbe } from '../http/probe.ts'
import type { Disk } from './disk.ts'
import type { Stores } from './stores.ts'

/** Why a service is not ready, with the sentence for people. Another refusal has a code or a sentence of its own. */
const causes: Readonly<Record<ReadyCause, string>> = {
  'write-slow': `Una escritura tarda más de ${limits.readyAnswerSeconds} segundos: el disco o la base de datos no responde.`,
  'disk-full': 'El disco está lleno: no se puede guardar nada.',
  'disk-failed': 'El disco no guarda lo que se escribe.',
  'database-away': 'La base de datos no responde.',
}

function notReady(cause: ReadyCause): Refusal {
  return new Refusal('unavailable', { cause, retryAfter: 2 }, causes[cause])
}

/**
 * Create the readiness check: a write, at most one a second. A disk that is low is only a warning, because
 * a service that is taken away would not serve its tills either.
 */
export function createReadiness(database: OpenDatabase<Stores>, disk: Pick<Disk, 'low'>) {
  const write = async ({ facts }: Stores) => {
    // A server writes with every commit. A row that all nodes write would make one wait for another that hangs.
    if (database.nodes === null) await facts.touch(systemClock())
  }
  const writeOnce = async () => {
    try {
      await database.transact({ roots: 'none' }, write)
    } catch (cause) {
      // The failed commit is in the log.
      const failed = diskFailure(cause)
      if (!failed) throw cause
      throw notReady(failed.full ? 'disk-full' : 'disk-failed')
    }
  }
  const writes = createProbe(writeOnce, {
    ...{ everySeconds: 1, answerSeconds: limits.readyAnswerSeconds },
    late: () => notReady('write-slow'),
  })
  return async () => {
    if (database.clockBehind) throw new Refusal('clock-behind', { retryAfter: 30 })
    // The operation would try again for seconds first.
    if (database.away) throw notReady('database-away')
    await writes()
    return disk.low() ? (['disk-low'] as const) : []
  }
}

/** The number of vouchers in each phase, for the metrics. */
export async function vouchersByPhase(tx: Stores) {
  const { issued, claimed, voided, refreshed } = await tx.vouchers.totals()
  return { minted: issued - claimed - voided, claimed, voided, refreshed }
}
