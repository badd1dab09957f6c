/** The engine of this run without a service around it: on a file, or on PostgreSQL (TEST_POSTGRES). */
import { join } from 'node:path'
import { createStores, type Stores } from '../../src/app/stores.ts'
import { type Clock, systemClock } from '../../src/base/clock.ts'
import type { OpenDatabase } from '../../src/db/database.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import { PostgresEngine } from '../../src/db/postgres/engine.ts'
import { SqliteEngine } from '../../src/db/sqlite.ts'
import { databaseUrlOf } from './database.ts'
import { databaseEnv } from './server.ts'

/** A function that opens the database of a directory, and opens it again after `close`. */
export async function engineIn(directory: string): Promise<(now: Clock) => OpenDatabase<Stores>> {
  await databaseEnv(directory)
  const url = databaseUrlOf(directory)
  const path = join(directory, 'cuponera.db')
  return (now) =>
    url === null
      ? new SqliteEngine({ path, schema: couponSchema, now, stores: createStores })
      : // It compares its clock with that of the server.
        new PostgresEngine({ url, now: systemClock, stores: createStores })
}

/**
 * Run operations as a model expects them, in this order. The embedded engine gets them at once, since it runs them as
 * they arrive; on PostgreSQL they would overtake each other.
 */
export async function settleInOrder<T>(
  directory: string,
  operations: readonly (() => Promise<T>)[],
): Promise<PromiseSettledResult<T>[]> {
  if (databaseUrlOf(directory) === null) return Promise.allSettled(operations.map((run) => run()))
  const settled: PromiseSettledResult<T>[] = []
  for (const run of operations) settled.push(...(await Promise.allSettled([run()])))
  return settled
}
