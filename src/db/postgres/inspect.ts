import { limits } from '../../base/limits.ts'
import { OperatorError } from '../../base/operator-error.ts'
import type { Pins } from '../inspect.ts'
import { couponSchema, versionOf } from '../migrations.ts'
import type { Sql } from '../sql.ts'
import { type Connection, ConnectionLost, StatementFailed } from './connection.ts'
import { confirmAll } from './durable-commit.ts'
import { readVersion } from './schema.ts'
import { Servers } from './servers.ts'
import { mayNotLook, sessionsWait } from './standby-watch.ts'
import { createSql } from './statements.ts'

type Ways = {
  /** Ends the reading. */
  signal?: AbortSignal | undefined
  /** Called before the state is chosen. */
  first?: (connection: Connection) => Promise<void>
}

/**
 * Read the database on a server in one state, on a connection of its own: beside a service or without one. Throws
 * OperatorError if the server cannot be used, or refuses a statement.
 */
export async function readSnapshot<T>(
  url: string,
  read: (connection: Connection) => Promise<T>,
  { signal, first }: Ways = {},
): Promise<T> {
  let connection: Connection | null = null
  const stop = () => connection?.destroy()
  signal?.addEventListener('abort', stop)
  try {
    const servers = new Servers(url)
    connection = await servers.connect(undefined, limits.maintenanceAnswerSeconds)
    await first?.(connection)
    await connection.send('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', [])
    // The reader of what a command prints may take his time.
    await connection.send(`SET LOCAL idle_in_transaction_session_timeout = '10min'`, [])
    return await read(connection)
  } catch (cause) {
    if (cause instanceof ConnectionLost) throw unusable(cause)
    if (cause instanceof StatementFailed) {
      throw new OperatorError(`the server refused a statement (${cause.code}): ${cause.message}`)
    }
    throw cause
  } finally {
    signal?.removeEventListener('abort', stop)
    connection?.destroy()
  }
}

/** The line for the operator about a server that cannot be reached or used. */
function unusable({ message }: ConnectionLost): OperatorError {
  return new OperatorError(`cannot use the database of DATABASE_URL\n${message}`)
}

/** The statement port on a connection for what only reads. */
export function createReadingSql(connection: Connection): Sql {
  return createSql({
    send: (text, params) => connection.send(text, params),
    post() {
      throw new Error('nothing is written here')
    },
  })
}

/** The keys that the database on a server belongs to. Null before its first start. */
export function readServerPins(url: string): Promise<Pins | null> {
  return readSnapshot(url, async (connection) => {
    if ((await readVersion(connection)) === null) return null
    const find = async (name: string) => {
      const { rows } = await connection.send('SELECT value FROM facts WHERE name = $1', [name])
      return rows[0] === undefined ? null : String(rows[0].value)
    }
    return {
      manager: await find('manager'),
      storeKey: await find('store-key'),
      cardKey: await find('card-key'),
    }
  })
}

/** As `inspect` of a file. Throws OperatorError also where a standby does not confirm what the server shows. */
export function inspectServer<T>(url: string, query: (sql: Sql) => Promise<T>): Promise<T> {
  const read = async (connection: Connection) => {
    const ahead = ((await readVersion(connection)) ?? 0) - versionOf(couponSchema)
    // A newer program may have upgraded the schema while nodes of this version go on.
    if (ahead !== 0 && ahead !== 1) {
      throw new OperatorError('the database of DATABASE_URL has no schema of this version')
    }
    return query(createReadingSql(connection))
  }
  return readSnapshot(url, read, { first: confirmInTime })
}

/** Throws OperatorError where no standby confirms what a connection shows: after a promotion it may not have been. */
async function confirmInTime(connection: Connection): Promise<void> {
  let late = false
  const giveUp = () => {
    late = true
    connection.destroy()
  }
  // A commit that is given up leaves its session at the server: the next command leaves none.
  const waits = await sessionsWait(connection).catch((cause) => {
    if (!mayNotLook(cause)) throw cause
    return false
  })
  if (waits) throw uncertain()
  const timer = setTimeout(giveUp, limits.standbyAwaySeconds * 1000)
  try {
    await confirmAll(connection)
  } catch (cause) {
    throw late ? uncertain() : cause
  } finally {
    clearTimeout(timer)
  }
}

function uncertain(): OperatorError {
  return new OperatorError(
    'the database of DATABASE_URL waits for its standby: nothing that it shows is certain',
  )
}
