import { Connection, createSql } from './connection.ts'
import type { OpenDatabase } from './database.ts'
import type { Sql } from './sql.ts'
import { SqliteEngine, type SqliteOptions } from './sqlite.ts'

/** Open a database and upgrade an older schema. */
export function openDatabase<Tx>(options: SqliteOptions<Tx>): OpenDatabase<Tx> {
  return new SqliteEngine(options)
}

/** Open a read-only connection for another thread. It sees committed writes. */
export function openReader(path: string): { sql: Sql; close(): void } {
  const connection = new Connection(path, { readonly: true, strict: true })
  connection.run('PRAGMA busy_timeout = 5000')
  return { sql: createSql(connection), close: () => connection.close() }
}

/**
 * The reason why the engine could not use its file: the code of the engine or the system, and whether the file
 * is damaged. Null for any other failure.
 */
export function fileFailure(cause: unknown): { code: string; damaged: boolean } | null {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (!/^(E[A-Z]+|SQLITE_[A-Z_]+)$/.test(code)) return null
  return { code, damaged: /CORRUPT|NOTADB/.test(code) }
}
