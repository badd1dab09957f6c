import { limits } from '../../../base/limits.ts'
import { OperatorError } from '../../../base/operator-error.ts'
import { type Connection, ConnectionLost, StatementFailed } from '../connection.ts'
import { confirmAll } from '../durable-commit.ts'
import { takeMoveLock } from '../move-marks.ts'
import { hasNode } from '../nodes.ts'
import { Servers } from '../servers.ts'

/**
 * Run a move, or the end of a restore, on the database of a server, which no service uses meanwhile: one that runs is refused, and one that
 * starts refuses. Throws OperatorError.
 */
export async function withoutServices<T>(
  url: string,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  let connection: Connection | null = null
  try {
    const servers = new Servers(url)
    connection = await servers.connect(undefined, limits.maintenanceAnswerSeconds)
    for (const setting of [
      'idle_in_transaction_session_timeout = 0',
      // Sorts and hashes of whole tables.
      `work_mem = '64MB'`,
      `maintenance_work_mem = '128MB'`,
    ]) {
      await connection.send(`SET ${setting}`, [])
    }
    await takeAlone(connection)
    // The marks of a move decide which side is opened.
    await confirmAll(connection)
    return await work(connection)
  } catch (cause) {
    if (cause instanceof ConnectionLost) {
      throw new OperatorError(`cannot use the database on the server\n${cause.message}`)
    }
    if (cause instanceof StatementFailed) {
      throw new OperatorError(`the server refused a statement (${cause.code}): ${cause.message}`)
    }
    throw cause
  } finally {
    // Locks end with the session, and so does a transaction that was not committed.
    connection?.destroy()
  }
}

/** A move or a node that was killed a moment ago may still have its session, or a young row. */
async function takeAlone(connection: Connection): Promise<void> {
  const end = performance.now() + limits.moveWaitSeconds * 1000
  for (;;) {
    if (await isAlone(connection)) return
    if (performance.now() > end) {
      throw new OperatorError('a Cuponera uses the database on the server: stop it first')
    }
    await Bun.sleep(200)
  }
}

async function isAlone(connection: Connection): Promise<boolean> {
  if (!(await takeMoveLock(connection))) return false
  const { rows } = await connection.send(
    `SELECT count(*) AS others FROM pg_stat_activity WHERE datname = current_database()
       AND pid <> pg_backend_pid() AND application_name = current_setting('application_name')`,
    [],
  )
  return rows[0]?.others === 0 && !(await hasNode(connection))
}
