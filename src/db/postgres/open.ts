import { OperatorError } from '../../base/operator-error.ts'
import type { Schema } from '../migrations.ts'
import { ConnectionLost, StatementFailed } from './connection.ts'
import type { ServerFacts } from './durability.ts'
import { PostgresEngine, type PostgresOptions } from './engine.ts'
import { requireArrived } from './move-marks.ts'
import { createSchema } from './schema.ts'

/**
 * Open a database on a server that keeps what it confirms, and create its schema if it is empty. Throws OperatorError
 * where that cannot be.
 */
export async function openPostgres<Tx>(
  options: PostgresOptions<Tx> & { schema: Schema },
): Promise<{ database: PostgresEngine<Tx>; server: ServerFacts }> {
  const database = new PostgresEngine(options)
  try {
    await database.administer((connection) => createSchema(connection, options.schema))
    // Parts of the service know nothing of a second node yet: its streams, its relay, its rate limits.
    if ((await database.lease('node')) === null) {
      throw new OperatorError('another Cuponera uses this database: stop it first')
    }
    await database.administer(requireArrived)
    const server = database.server
    if (server === null) throw new ConnectionLost('the connection has ended')
    return { database, server }
  } catch (cause) {
    await database.close()
    if (cause instanceof ConnectionLost) {
      throw new OperatorError(`cannot use the database of DATABASE_URL\n${cause.message}`)
    }
    if (cause instanceof StatementFailed) {
      throw new OperatorError(
        `the database of DATABASE_URL refused its schema (${cause.code}): ${cause.message}`,
      )
    }
    throw cause
  }
}
