import { limits } from '../../base/limits.ts'
import { OperatorError } from '../../base/operator-error.ts'
import { Refusal } from '../../base/refusal.ts'
import { type Schema, versionOf } from '../migrations.ts'
import { type Connection, ConnectionLost, StatementFailed } from './connection.ts'
import type { ServerFacts } from './durability.ts'
import { PostgresEngine, type PostgresOptions } from './engine.ts'
import { requireArrived } from './move-marks.ts'
import { createSchema } from './schema.ts'
import { enoughConnected, parseStandbyNames } from './standby-names.ts'

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
    await whileConfirmed(database, () =>
      database.administer(
        (connection) => createSchema(connection, schema),
        limits.upgradeSilenceSeconds,
      ),
    )
    await whileConfirmed(database, async () => database.nodes?.join(versionOf(schema)))
    // From the row of this node on, a move waits for it.
    await database.administer(requireArrived)
    // Before anything is read that news could be about.
    await whileConfirmed(database, () => database.follow())
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
 * Run a step of a start. Throws OperatorError when commits wait for a standby that is away, those of this start or of
 * others: each start would leave some more of them at the server.
 */
async function whileConfirmed<Tx>(
  database: PostgresEngine<Tx>,
  step: () => Promise<unknown>,
): Promise<void> {
  const end = performance.now() + limits.upgradeSilenceSeconds * 1000
  for (;;) {
    let ended = false
    await requireStandby(database, () => ended)
    const watch = async () => {
      for (;;) {
        await Bun.sleep(limits.standbyLookSeconds * 1000)
        if (ended) return
        await requireStandby(database, () => ended)
      }
    }
    try {
      await Promise.race([step(), watch()])
      return
    } catch (cause) {
      const mayPass = cause instanceof ConnectionLost || cause instanceof Refusal
      // The step runs again when the standby has caught up.
      if (!mayPass || performance.now() > end || !(await database.commitsWait())) throw cause
    } finally {
      ended = true
    }
  }
}

/**
 * Wait until no commit waits for a standby. One that is connected may lag, as behind a new index. Throws OperatorError
 * when fewer are than a commit waits for, or when they lag for too long.
 */
async function requireStandby<Tx>(
  database: PostgresEngine<Tx>,
  ended: () => boolean,
): Promise<void> {
  const began = performance.now()
  let connectedAt = began
  while (!ended() && (await database.commitsWait())) {
    const connected = await database.administer(standbysConnected).catch(requireFault)
    const now = performance.now()
    if (connected) connectedAt = now
    const away = now - connectedAt > limits.standbyAwaySeconds * 1000
    if (away || now - began > limits.standbyLagSeconds * 1000) {
      throw new OperatorError(
        'commits of the database of DATABASE_URL wait for a standby that is away\nbring it back, or take it out of synchronous_standby_names',
      )
    }
    await Bun.sleep(limits.standbyLookSeconds * 1000)
  }
}

/**
 * True if the standbys are connected that commits wait for. An ordinary role sees no more of them than their names; the
 * server ends the connection of one that is silent.
 */
async function standbysConnected(connection: Connection): Promise<boolean> {
  const [wanted, connected] = await Promise.all([
    connection.send('SHOW synchronous_standby_names', []),
    connection.send('SELECT application_name AS name FROM pg_stat_replication', []),
  ])
  return enoughConnected(
    parseStandbyNames(String(wanted.rows[0]?.synchronous_standby_names)),
    connected.rows.map(({ name }) => String(name)),
  )
}

/** A look that failed found no standby. */
function requireFault(cause: unknown): false {
  if (cause instanceof ConnectionLost || cause instanceof StatementFailed) return false
  throw cause
}
