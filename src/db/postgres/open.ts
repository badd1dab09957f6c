import { OperatorError } from '../../base/operator-error.ts'
import type { Schema } from '../migrations.ts'
import { inspectServer, type ServerFacts } from './durability.ts'
import { PostgresEngine, type PostgresOptions } from './engine.ts'
import { createSchema } from './schema.ts'

/** Open a database on a server that keeps what it confirms, and create its schema if it is empty. */
export async function openPostgres<Tx>(
  options: PostgresOptions<Tx> & { schema: Schema },
): Promise<{ database: PostgresEngine<Tx>; server: ServerFacts }> {
  const database = new PostgresEngine(options)
  try {
    const server = await database.administer(async (connection) => {
      const facts = await inspectServer(connection)
      await createSchema(connection, options.schema)
      return facts
    })
    // Parts of the service know nothing of a second node yet: its streams, its relay, its rate limits.
    if ((await database.lease('node')) === null) {
      throw new OperatorError('another Cuponera uses this database: stop it first')
    }
    return { database, server }
  } catch (cause) {
    await database.close()
    throw cause
  }
}
