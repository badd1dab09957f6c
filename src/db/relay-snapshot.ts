import { SQLiteError, Database as Sqlite } from 'bun:sqlite'
import { closeSync, existsSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ownLikeDirectory } from '../base/durable.ts'
import { OperatorError } from '../base/operator-error.ts'
import { openForReading, openUnchanged } from './inspect.ts'

const pieceBytes = 1024 * 1024

/** Path of the embedded relay's database, beside the coupon database. */
export function relayBeside(database: string): string {
  return join(dirname(database), 'relay.db')
}

/**
 * Store a copy of the embedded relay's database in the file of a backup, as pieces of its bytes. So a backup is
 * one file, and each database keeps its own schema. `scratch` is the path of the copy meanwhile. Returns the
 * number of events, null if there is no relay.
 */
export function packRelay(relay: string, backup: string, scratch: string): number | null {
  if (!existsSync(relay)) return null
  closeSync(openSync(scratch, 'wx', 0o600))
  try {
    const events = copySound(relay, scratch)
    if (events === null) {
      throw new OperatorError(
        `${relay} is damaged: to back up the coupons without it, move it away while the service is stopped`,
      )
    }
    writePieces(scratch, backup)
    return events
  } finally {
    rmSync(scratch, { force: true })
  }
}

/**
 * Extract the relay's database from the copy of a backup to `target`. Returns the number of events, null if
 * the backup has no relay. Throws OperatorError if the extracted database is damaged.
 */
export function unpackRelay(copy: string, target: string): number | null {
  const sql = new Sqlite(copy, { readwrite: true, create: false, strict: true })
  try {
    const held = sql.query("SELECT 1 FROM sqlite_schema WHERE name = 'relay_file'").get()
    if (held === null) return null
    const pieces = sql.query<{ bytes: Uint8Array }, []>('SELECT bytes FROM relay_file ORDER BY id')
    const file = openSync(target, 'wx', 0o600)
    try {
      for (const { bytes } of pieces.iterate()) {
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
      }
    } finally {
      closeSync(file)
    }
    pieces.finalize()
    ownLikeDirectory(target)
    sql.run('DROP TABLE relay_file')
    sql.run('VACUUM')
  } finally {
    sql.close()
  }
  const events = countSound(target)
  if (events === null) throw new OperatorError('the relay in the backup is damaged')
  return events
}

/** Copy the database of a relay. Returns the number of events, null if it is damaged. */
function copySound(from: string, to: string): number | null {
  try {
    copyWhole(from, to)
  } catch (cause) {
    if (cause instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(cause.code ?? ''))
      return null
    throw cause
  }
  return countSound(to)
}

/** Copy a database in one state. Others may write meanwhile. The copy is not synced: it has no name that counts yet. */
export function copyWhole(from: string, to: string): void {
  const sql = openUnchanged(from)
  try {
    // The source stays as it is, but SQLite counts the copy as a write.
    sql.run('PRAGMA query_only = OFF')
    sql.run('PRAGMA synchronous = OFF')
    sql.query('VACUUM INTO ?').run(to)
  } finally {
    // The last connection of a file may fold its WAL when it closes.
    sql.run('PRAGMA synchronous = FULL')
    sql.close()
  }
}

function writePieces(from: string, backup: string): void {
  const sql = new Sqlite(backup, { readwrite: true, create: false, strict: true })
  const file = openSync(from, 'r')
  try {
    // An interrupted copy is deleted as a whole, so it needs no journal, and it is synced before it gets its name.
    sql.run('PRAGMA journal_mode = OFF')
    sql.run('PRAGMA synchronous = OFF')
    sql.run('BEGIN')
    sql.run('CREATE TABLE relay_file (id INTEGER NOT NULL PRIMARY KEY, bytes BLOB NOT NULL) STRICT')
    const insert = sql.query<null, [Uint8Array]>('INSERT INTO relay_file (bytes) VALUES (?)')
    const piece = Buffer.alloc(pieceBytes)
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) {
      insert.run(piece.subarray(0, read))
    }
    sql.run('COMMIT')
  } finally {
    closeSync(file)
    sql.close()
  }
}

/** The number of events of a relay's database. Null if it is no such database, or damaged. */
function countSound(path: string): number | null {
  let sql: Sqlite | null = null
  try {
    sql = openForReading(path)
    const state = sql.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get()
    if (state?.quick_check !== 'ok') return null
    return sql.query<{ n: number }, []>('SELECT count(*) AS n FROM events').get()?.n ?? null
  } catch (cause) {
    if (!(cause instanceof SQLiteError)) throw cause
    return null
  } finally {
    sql?.close()
  }
}
