import { OperatorError } from '../../base/operator-error.ts'
import type { Connection } from './connection.ts'

/**
 * Throws OperatorError behind a pooler in transaction mode: prepared statements, leases and the settings of a session
 * would get mixed up there. Two connections that are open at once have two sessions of the server, and keep them.
 */
export async function requireSessions(connect: () => Promise<Connection>): Promise<void> {
  const opened: Connection[] = []
  try {
    for (let count = 0; count < 2; count++) opened.push(await connect())
    const [one, other] = opened as [Connection, Connection]
    const session = await sessionOf(one)
    // A pooler that lends out sessions gives the one that was used last, or one in turn.
    await other.send('BEGIN', [])
    const kept = (await sessionOf(other)) !== session && (await sessionOf(one)) === session
    if (kept) return
    throw new OperatorError(
      'DATABASE_URL names a pooler in transaction mode: set it to session mode, or name the server itself',
    )
  } finally {
    for (const connection of opened) connection.destroy()
  }
}

async function sessionOf(connection: Connection): Promise<unknown> {
  return (await connection.send('SELECT pg_backend_pid() AS session', [])).rows[0]?.session
}
