import { SQLiteError, Database as Sqlite } from 'bun:sqlite'
import { limits } from '../base/limits.ts'
import { type CheckReport, createReport, type Pause } from './check-report.ts'
import { checkPictureBytes, checkRows } from './check-rows.ts'
import type { CheckWords } from './check-rules.ts'
import { createSql } from './connection.ts'
import { openForReading } from './inspect.ts'
import { couponSchema, tooOld, userVersion, versionOf } from './migrations.ts'

const words: CheckWords = {
  fieldsOf: (column) => `json_each(${column})`,
  bytesOf: (column) => `octet_length(${column})`,
}

/**
 * Verify the whole file: pages, indexes, constraints, foreign keys, and then in one snapshot that counters
 * and vouchers agree. It only reads. Throws SQLiteError if the file cannot be read for an outside
 * reason (missing, no permission, I/O).
 */
export async function checkDatabase(path: string, pause: Pause): Promise<CheckReport> {
  const report = createReport()
  const { add } = report
  let connection: Sqlite | null = null
  try {
    connection = openForReading(path)
    if (checkSchema(connection, add)) {
      // One snapshot each: a long snapshot keeps the WAL of a busy server from shrinking.
      checkPages(connection, add)
      await pause(0)
      checkReferences(connection, add)
      await pause(0)
      const sql = createSql(connection)
      await checkPictureBytes(sql, { report, pause })
      connection.run('BEGIN')
      checkSums(connection, add)
      await checkRows(sql, { words, report, pause })
      connection.run('COMMIT')
    }
  } catch (cause) {
    if (!damaged(cause)) throw cause
    add(`the file is damaged and cannot be read on: ${cause.message}`)
  } finally {
    connection?.close()
  }
  return report.end()
}

type Add = (problem: string) => void

function damaged(cause: unknown): cause is SQLiteError {
  return cause instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(cause.code ?? '')
}

/** Check version, tables and indexes. False if a table is missing. Without its index a voucher could be spent twice. */
function checkSchema(sql: Sqlite, add: Add): boolean {
  const version = userVersion(sql)
  const known = versionOf(couponSchema)
  if (version !== known) {
    const upgrade = version < known ? ': start the server once' : ''
    const unknown = `the database has schema ${version}, this program knows ${known}${upgrade}`
    const refused = tooOld(version, couponSchema) ?? unknown
    add(version === 0 ? 'this is not a database of Cuponera' : refused)
    return false
  }
  const names = (from: Sqlite) =>
    from
      .query<{ name: string }, []>(
        "SELECT type || ' ' || name AS name FROM sqlite_schema WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'",
      )
      .all()
      .map(({ name }) => name)
  const model = new Sqlite(':memory:')
  model.run(couponSchema.text)
  const expected = names(model)
  model.close()
  const present = new Set(names(sql))
  const missing = expected.filter((name) => !present.has(name))
  for (const name of missing) add(`the ${name} is missing`)
  return missing.every((name) => !name.startsWith('table '))
}

function checkPages(sql: Sqlite, add: Add): void {
  const found = sql
    .query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${limits.checkProblemsMax})`)
    .all()
  for (const { integrity_check: line } of found) if (line !== 'ok') add(`integrity: ${line}`)
}

function checkReferences(sql: Sqlite, add: Add): void {
  const broken = sql.query<{ table: string; rowid: number | null; parent: string }, []>(
    'PRAGMA foreign_key_check',
  )
  for (const { table, rowid, parent } of broken.iterate()) {
    add(`${table} row ${rowid ?? '?'}: it points to a row of ${parent} that does not exist`)
  }
}

/** Check that the rows that hold a sum of the whole database are there. */
function checkSums(sql: Sqlite, add: Add): void {
  for (const [table, name] of [
    ['totals', 'totals'],
    ['outbox_load', 'the outbox load'],
    ['request_load', 'the request load'],
  ]) {
    const row = sql.query(`SELECT 1 FROM ${table} WHERE id = 1`).get()
    if (row === null) add(`the row of ${name} is missing`)
  }
}
