import { Database as Sqlite } from 'bun:sqlite'
import { ownLikeDirectory } from '../../../base/durable.ts'
import { OperatorError } from '../../../base/operator-error.ts'
import { type Schema, versionOf } from '../../migrations.ts'
import type { Connection } from '../connection.ts'
import { commitDurably } from '../durable-commit.ts'
import { readVersion } from '../schema.ts'
import { type Digest, Digester } from './digest.ts'
import { rowsOfFile, writerToFile } from './file-rows.ts'
import { requireSame } from './load.ts'
import { rowsOfServer } from './server-rows.ts'
import { type Table, tablesOf } from './tables.ts'

/** A new file for the tables of a schema. The coupons are the first of those that move together. */
type Target = { schema: Schema; path: string }

type Unload = {
  /** The number that both sides have (facts.ts). */
  arrived: string
  tell: (line: string) => void
}

/**
 * Copy a database from a server to new files, in one snapshot, and read back and compare every row. Until `closeServer`
 * no operation commits: a node that was cut off, and that nobody sees, may come back meanwhile.
 */
export async function unloadServer(
  connection: Connection,
  targets: readonly [Target, ...Target[]],
  { arrived, tell }: Unload,
): Promise<void> {
  const [{ schema, path }] = targets
  if ((await readVersion(connection)) !== versionOf(schema)) {
    throw new OperatorError('the database on the server has no schema of this version')
  }
  await connection.send('BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE', [])
  // Each operation writes its commit there. The snapshot begins with the first read, behind the lock.
  await connection.send('LOCK TABLE commits IN SHARE ROW EXCLUSIVE MODE', [])
  for (const target of targets) await writeFile(connection, target)
  const coupons = new Sqlite(path, { readwrite: true, create: false, strict: true })
  coupons.run('INSERT INTO facts (name, value) VALUES (?, ?)', ['arrived', arrived])
  coupons.close()
  tell('every row is copied, was read back and is the same')
}

async function writeFile(connection: Connection, { schema, path }: Target): Promise<void> {
  const file = new Sqlite(path, { create: true, readwrite: true, strict: true })
  try {
    ownLikeDirectory(path)
    // A copy that was interrupted is made anew, so that it needs no journal. The arrival syncs the file.
    file.run('PRAGMA journal_mode = OFF')
    file.run('PRAGMA synchronous = OFF')
    file.run('PRAGMA cache_size = -64000')
    file.run(schema.text)
    file.run('BEGIN')
    const digests = new Map<Table, Digest>()
    for (const table of tablesOf(schema)) {
      digests.set(table, await writeTable(connection, file, table))
    }
    await setClock(connection, file)
    file.run('COMMIT')
    for (const [table, digest] of digests) {
      const digester = new Digester(table)
      for (const row of rowsOfFile(file, table)) digester.add(row)
      requireSame(table.name, digest, digester.end())
    }
  } finally {
    file.close()
  }
}

/** Close the service on the server, in the transaction of the copy. Durable when this returns. */
export async function closeServer(connection: Connection, at: string): Promise<void> {
  await connection.send(
    `INSERT INTO facts (name, value) VALUES ('moved', $1), ('moved-to', 'file')
     ON CONFLICT (name) DO NOTHING`,
    [at],
  )
  await commitDurably(connection)
}

async function writeTable(connection: Connection, file: Sqlite, table: Table) {
  const write = writerToFile(file, table)
  const digester = new Digester(table)
  for await (const row of rowsOfServer(connection, table)) {
    digester.add(row)
    write(row)
  }
  await setSequence(connection, file, table.name)
  return digester.end()
}

async function setClock(connection: Connection, file: Sqlite): Promise<void> {
  const { rows } = await connection.send('SELECT newest_write AS at FROM state', [])
  file.run('UPDATE state SET newest_write = ?', [Number(rows[0]?.at ?? 0)])
}

/** Ids of such a table are never given out twice. */
async function setSequence(connection: Connection, file: Sqlite, name: string): Promise<void> {
  const kept = file
    .query<{ sql: string }, [string]>('SELECT sql FROM sqlite_schema WHERE name = ?')
    .get(name)
  if (!kept?.sql.includes('AUTOINCREMENT')) return
  const { rows } = await connection.send(
    `SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, 'id')), 0) AS at`,
    [name],
  )
  file.run('DELETE FROM sqlite_sequence WHERE name = ?', [name])
  file.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', [name, Number(rows[0]?.at)])
}
