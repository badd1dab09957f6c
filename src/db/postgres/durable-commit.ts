import { OperatorError } from '../../base/operator-error.ts'
import type { Connection } from './connection.ts'

/**
 * Commit the open transaction of a command. Throws OperatorError where nobody can say that it is on every disk that was
 * asked for: the server took no commit, or gave up waiting for its standby.
 */
export async function commitDurably(connection: Connection): Promise<void> {
  connection.takeWarning()
  const { command } = await connection.send('COMMIT', [])
  if (command !== 'COMMIT') throw new OperatorError('the server took no commit')
  requireNoWarning(connection)
}

/**
 * Confirm all that the connection shows. A server that crashed while its standby was away shows commits that are on its
 * own disk alone, and a promoted standby would not know of them.
 */
export async function confirmAll(connection: Connection): Promise<void> {
  connection.takeWarning()
  // A transaction that is written like any other, in a database of whatever tables.
  await connection.send(`SELECT pg_logical_emit_message(true, 'cuponera', '')`, [])
  requireNoWarning(connection)
}

function requireNoWarning(connection: Connection): void {
  if (connection.takeWarning()) {
    throw new OperatorError('the standby did not confirm a commit: run the same command again')
  }
}
