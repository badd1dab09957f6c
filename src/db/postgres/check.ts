import { type CheckReport, createReport, type Pause } from '../check-report.ts'
import { checkPictureBytes, checkRows } from '../check-rows.ts'
import type { CheckWords } from '../check-rules.ts'
import { checkConstraints } from './check-constraints.ts'
import { checkStructure } from './check-structure.ts'
import { type Connection, StatementFailed } from './connection.ts'
import { createReadingSql, readSnapshot } from './inspect.ts'

const words: CheckWords = {
  fieldsOf: (column) => `json_each_text(CAST(${column} AS JSON))`,
  // U+FFFF is stored with one byte behind it (connection.ts).
  bytesOf: (column) => `octet_length(replace(${column}, U&'\\FFFF1', U&'\\FFFF'))`,
}

/**
 * Verify the database on a server, as `checkDatabase` does with a file: its tables, indexes and constraints, and that
 * counters and vouchers agree. It only reads, in one snapshot, beside a service or without one. Throws OperatorError if
 * the server cannot be used.
 */
export function checkPostgres(
  url: string,
  pause: Pause,
  signal?: AbortSignal,
): Promise<CheckReport> {
  return readSnapshot(url, (connection) => checkSnapshot(connection, pause), { signal })
}

/** Verify what the transaction of a connection sees. */
export async function checkSnapshot(connection: Connection, pause: Pause): Promise<CheckReport> {
  const report = createReport()
  try {
    if (await checkStructure(connection, report)) {
      await checkConstraints(connection, report.add)
      const sql = createReadingSql(connection)
      await checkPictureBytes(sql, { report, pause })
      await checkRows(sql, { words, report, pause })
    }
  } catch (cause) {
    if (!damaged(cause)) throw cause
    report.add(`the database is damaged and cannot be read on: ${cause.message}`)
  }
  return report.end()
}

/** A damaged page or index, and an integer that no counter has. */
function damaged(cause: unknown): cause is Error {
  if (cause instanceof StatementFailed) return /^(XX|58)/.test(cause.code)
  return cause instanceof RangeError
}
