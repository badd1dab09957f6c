import { findMoved } from '../app/move.ts'
import { createStores, type Stores } from '../app/stores.ts'
import { systemClock } from '../base/clock.ts'
import { OperatorError } from '../base/operator-error.ts'
import { Refusal } from '../base/refusal.ts'
import type { Database, OpenDatabase } from '../db/database.ts'
import { couponSchema } from '../db/migrations.ts'
import { openDatabase } from '../db/open.ts'
import { reasonOf } from '../wallet/identities/reasons.ts'

/** Run an operation on the database of a server, while no service uses it. */
export async function onServer<T>(
  url: string,
  work: (database: Database<Stores>) => Promise<T>,
): Promise<T> {
  const { openPostgres } = await import('../db/postgres/open.ts')
  const options = { url, schema: couponSchema, now: systemClock, stores: createStores }
  const { database } = await openPostgres(options)
  return thenClose(database, work)
}

/**
 * Run an operation on the database itself, while no server runs. A refusal becomes an OperatorError. The database of a
 * service that was moved is final, so it takes only operations of the move (`whenMoved`).
 */
export async function onDatabase<T>(
  path: string,
  work: (database: OpenDatabase<Stores>) => Promise<T>,
  whenMoved: 'refuse' | 'run' = 'refuse',
): Promise<T> {
  const now = systemClock
  const database = openDatabase({ path, schema: couponSchema, now, stores: createStores })
  return thenClose(database, async () => {
    if (whenMoved === 'refuse' && (await findMoved(database)) !== null) {
      throw new OperatorError('this service was moved to another computer: work there')
    }
    return work(database)
  })
}

/** Run an operation on a database of its own, and close that. A refusal becomes an OperatorError. */
async function thenClose<Opened extends OpenDatabase<Stores>, T>(
  database: Opened,
  work: (database: Opened) => Promise<T>,
): Promise<T> {
  try {
    return await work(database)
  } catch (refused) {
    if (refused instanceof Refusal) throw new OperatorError(reasonOf(refused))
    throw refused
  } finally {
    await database.close()
  }
}
