import { OperatorError } from '../../base/operator-error.ts'
import type { Connection } from './connection.ts'

const lock = `hashtextextended('move', 1)`

/** Take the lock of a move until the session ends. False while another move or the start of a service has it. */
export async function takeMoveLock(connection: Connection): Promise<boolean> {
  const { rows } = await connection.send(`SELECT pg_try_advisory_lock(${lock}) AS taken`, [])
  return rows[0]?.taken === true
}

/** Keep moves away until the transaction ends. Throws OperatorError while one works on the database. */
export async function requireNoMove(connection: Connection): Promise<void> {
  const { rows } = await connection.send(
    `SELECT pg_try_advisory_xact_lock_shared(${lock}) AS free`,
    [],
  )
  if (rows[0]?.free !== true) {
    throw new OperatorError('"cuponera move" works on the database of DATABASE_URL')
  }
}

/**
 * Throws OperatorError while a move works on the database, or if one into it was not completed. A service asks
 * when it has a session that a move sees.
 */
export async function requireArrived(connection: Connection): Promise<void> {
  await connection.send('BEGIN', [])
  await requireNoMove(connection)
  const { count } = await connection.send(`SELECT 1 FROM facts WHERE name = 'arriving'`, [])
  if (count > 0) {
    throw new OperatorError(
      'a move into the database of DATABASE_URL was not completed: run the same "cuponera move" again',
    )
  }
  await connection.send('COMMIT', [])
}
