import { createStores, type Stores } from '../app/stores.ts'
import { systemClock } from '../base/clock.ts'
import { OperatorError } from '../base/operator-error.ts'
import { Refusal } from '../base/refusal.ts'
import { couponSchema } from '../db/migrations.ts'
import { SqliteEngine } from '../db/sqlite.ts'
import { reasonOf } from '../http/reply.ts'

/** Work on the database itself, where no server runs. What is refused is thrown as OperatorError. */
export async function onDatabase<T>(
  path: string,
  work: (database: SqliteEngine<Stores>) => Promise<T>,
): Promise<T> {
  const now = systemClock
  const database = new SqliteEngine({ path, schema: couponSchema, now, stores: createStores })
  try {
    return await work(database)
  } catch (refused) {
    if (refused instanceof Refusal) throw new OperatorError(reasonOf(refused))
    throw refused
  } finally {
    await database.close()
  }
}
