import { SQLiteError, Database as Sqlite } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { OperatorError } from '../base/operator-error.ts'
import { createSql, setUp } from './connection.ts'
import { couponSchema, userVersion, versionOf } from './migrations.ts'
import type { Sql } from './sql.ts'

/** Fingerprints of the keys that a database belongs to. Null before its first start. */
export type Pins = { manager: string | null; storeKey: string | null; cardKey: string | null }

const readingPragmas = [
  'busy_timeout = 5000',
  'query_only = ON',
  'temp_store = MEMORY',
  'cache_size = -8000',
]

/** Open a connection that only reads. The file keeps its journal mode. Its close may fold the WAL. */
export function openForReading(path: string): Sqlite {
  // Not `readonly`: after an unclean stop the WAL must be read, and the opening process creates its index.
  const connection = new Sqlite(path, { readwrite: true, create: false, strict: true })
  setUp(connection, readingPragmas)
  return connection
}

/** Open a connection that reads the file and its WAL, and leaves both as they are: this WAL may not be on the disk. */
export function openUnchanged(path: string): Sqlite {
  // Beside a file without a WAL, a connection that may not write would leave an empty one.
  if (!existsSync(`${path}-wal`)) return openForReading(path)
  const connection = new Sqlite(path, { readonly: true, strict: true })
  setUp(connection, readingPragmas)
  return connection
}

/**
 * Read the coupon database in one state. A running server is not disturbed: should it end meanwhile, its WAL stays as it
 * is. `settled` waits until the server has that state on disk, because of a slow disk it is in the WAL before. Throws
 * OperatorError if its schema is older than the statements of the stores.
 */
export async function inspect<T>(
  path: string,
  query: (sql: Sql) => Promise<T>,
  settled?: () => Promise<unknown>,
): Promise<T> {
  const connection = openUnchanged(path)
  try {
    if (userVersion(connection) < versionOf(couponSchema)) {
      throw new OperatorError('the database is of an older version: start the server once')
    }
    connection.run('BEGIN')
    // A transaction has its state from its first read on.
    connection.query('SELECT 1 FROM sqlite_schema LIMIT 1').get()
    await settled?.()
    return await query(createSql(connection))
  } finally {
    connection.close()
  }
}

/**
 * True if the service of a database was moved to another computer. False if the file is damaged, or no database of ours.
 * Throws OperatorError if the disk or the WAL cannot be read, since the mark of the move may be there.
 */
export function wasMoved(path: string): boolean {
  let sql: Sqlite | null = null
  try {
    sql = openUnchanged(path)
    return sql.query("SELECT 1 FROM facts WHERE name = 'moved'").get() !== null
  } catch (cause) {
    if (!(cause instanceof SQLiteError)) throw cause
    const code = cause.code ?? ''
    if (/^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(code)) return false
    const unread = existsSync(`${path}-wal`) ? `${path}-wal` : path
    throw new OperatorError(
      `${unread} cannot be read (${code}), and it may say that this service was moved to another computer: if it was not, move this file away and restore again`,
    )
  } finally {
    sql?.close()
  }
}

/** Read the keys that a database file belongs to. Throws OperatorError if it cannot be read. */
export function readPins(path: string): Pins {
  let sql: Sqlite | null = null
  try {
    sql = openForReading(path)
    const find = sql.query<{ value: string }, [string]>('SELECT value FROM facts WHERE name = ?')
    return {
      manager: find.get('manager')?.value ?? null,
      storeKey: find.get('store-key')?.value ?? null,
      cardKey: find.get('card-key')?.value ?? null,
    }
  } catch (cause) {
    if (!(cause instanceof SQLiteError)) throw cause
    throw new OperatorError(`${path} cannot be read: ${cause.message}`)
  } finally {
    sql?.close()
  }
}
