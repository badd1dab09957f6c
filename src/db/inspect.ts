import { SQLiteError, Database as Sqlite } from 'bun:sqlite'
import { OperatorError } from '../base/operator-error.ts'
import { createSql } from './connection.ts'
import { couponSchema, userVersion, versionOf } from './migrations.ts'
import type { Sql } from './sql.ts'

/** What a database says about the keys it was written with; null before its first start. */
export type Pins = { manager: string | null; storeKey: string | null; cardKey: string | null }

/** A connection that only reads, and leaves the file in the journal mode it is in. */
export function openForReading(path: string): Sqlite {
  // Not `readonly`: after an unclean stop the WAL has to be read, and its index is made by who opens it.
  const connection = new Sqlite(path, { readwrite: true, create: false, strict: true })
  connection.run('PRAGMA busy_timeout = 5000')
  connection.run('PRAGMA query_only = ON')
  connection.run('PRAGMA temp_store = MEMORY')
  connection.run('PRAGMA cache_size = -8000')
  return connection
}

/**
 * Read the coupon database in one state, whether a server is running or not: it disturbs nobody.
 * Throws OperatorError when its version is older than the statements of the stores.
 */
export async function inspect<T>(path: string, query: (sql: Sql) => Promise<T>): Promise<T> {
  const connection = openForReading(path)
  try {
    if (userVersion(connection) < versionOf(couponSchema)) {
      throw new OperatorError('the database is of an older version: start the server once')
    }
    connection.run('BEGIN')
    return await query(createSql(connection))
  } finally {
    connection.close()
  }
}

/** The keys that a database file is bound to. Throws OperatorError when it cannot be read. */
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
