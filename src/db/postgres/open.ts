import { limits } from '../../base/limits.ts'
import { OperatorError } from '../../base/operator-error.ts'
import { Refusal } from '../../base/refusal.ts'
import { type Schema, versionOf } from '../migrations.ts'
import { ConnectionLost, StatementFailed } from './connection.ts'
import type { ServerFacts } from './durability.ts'
import { PostgresEngine, type PostgresOptions } from './engine.ts'
import { requireArrived } from './move-marks.ts'
import { createSchema } from './schema.ts'

/** Open the database of the service for its relay, with news of its own. Rejects while the database is away. */
export async function openBeside<Tx>(
  options: Omit<PostgresOptions<Tx>, 'channel'>,
): Promise<PostgresEngine<Tx>> {
  const database = new PostgresEngine({
    ...options,
    channel: 'relay',
    connections: limits.relayDatabaseConnections,
  })
  try {
    await database.follow()
    return database
  } catch (cause) {
    await database.close()
    throw cause
  }
}

/**
 * Open a database on a server that keeps what it confirms, and create its schema if it is empty. Throws OperatorError
 * where that cannot be.
 */
export async function openPostgres<Tx>(
  options: PostgresOptions<Tx> & { schema: Schema },
): Promise<{ database: PostgresEngine<Tx>; server: ServerFacts }> {
  const { schema } = options
  const database = new PostgresEngine(options)
  try {
    await database.requireSessions()
    await whileConfirmed(database, async () => {
      await database.administer(
        (connection) => createSchema(connection, schema),
        limits.upgradeSilenceSeconds,
      )
      await database.nodes?.join(versionOf(schema))
      // From the row of this node on, a move waits for it.
      await database.administer(requireArrived)
      // Before anything is read that news could be about.
      await database.follow()
    })
    const server = database.server
    if (server === null) throw new ConnectionLost('the connection has ended')
    return { database, server }
  } catch (cause) {
    await database.close()
    if (cause instanceof ConnectionLost || cause instanceof Refusal) {
      const reason = cause instanceof Refusal ? 'it answers nothing' : cause.message
      throw new OperatorError(`cannot use the database of DATABASE_URL\n${reason}`)
    }
    if (cause instanceof StatementFailed) {
      throw new OperatorError(
        `the database of DATABASE_URL refused its schema (${cause.code}): ${cause.message}`,
      )
    }
    throw cause
  }
}

/**
 * Run the work of a start. Throws OperatorError when commits wait for a standby that is away, those of this start or of
 * others: each start would leave some more of them at the server.
 */
async function whileConfirmed<Tx>(
  database: PostgresEngine<Tx>,
  work: () => Promise<void>,
): Promise<void> {
  const requireStandby = async () => {
    if (!(await database.commitsWait())) return
    throw new OperatorError(
      'commits of the database of DATABASE_URL wait for a standby that is away\nbring it back, or take it out of synchronous_standby_names',
    )
  }
  await requireStandby()
  let ended = false
  const watch = async () => {
    for (;;) {
      await Bun.sleep(limits.standbyLookSeconds * 1000)
      if (ended) return
      await requireStandby()
    }
  }
  try {
    await Promise.race([work(), watch()])
  } catch (cause) {
    // A connection that waited for too long is lost, which tells the operator less.
    if (cause instanceof ConnectionLost || cause instanceof Refusal) await requireStandby()
    throw cause
  } finally {
    ended = true
  }
}
