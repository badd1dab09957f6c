import type { Database as Sqlite } from 'bun:sqlite'
import { OperatorError } from '../../../base/operator-error.ts'
import { noPause, requireSound } from '../../check-report.ts'
import { type Schema, versionOf } from '../../migrations.ts'
import { checkSnapshot } from '../check.ts'
import type { Connection } from '../connection.ts'
import { commitDurably } from '../durable-commit.ts'
import { schemaTexts } from '../schema.ts'
import { type Digest, Digester } from './digest.ts'
import { rowsOfFile } from './file-rows.ts'
import { rowsOfServer, ServerWriter, sumColumns, sumOf } from './server-rows.ts'
import { type Table, tablesOf } from './tables.ts'

/** A file with a schema of its own. The coupons are the first of those that move together. */
type Source = { schema: Schema; file: Sqlite }

type Load = {
  /** The number that both sides have (facts.ts). */
  arriving: string
  /** Told of each table. */
  tell: (line: string) => void
}

/**
 * Copy files to an empty database, in one transaction: until it is committed there is nothing. Every row is read back
 * and compared, and the check passes. Then the database waits for its opening, and no service starts on it.
 */
export async function loadServer(
  connection: Connection,
  sources: readonly [Source, ...Source[]],
  { arriving, tell }: Load,
): Promise<void> {
  const [{ schema, file: coupons }] = sources
  const { tables, rest } = splitSchema(schemaTexts(schema))
  const moved = sources.flatMap((one) =>
    tablesOf(one.schema).map((table) => ({ table, file: one.file })),
  )
  await connection.send('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE', [])
  for (const name of tables.keys())
    await connection.send(`DROP TABLE IF EXISTS ${name} CASCADE`, [])
  for (const text of tables.values()) await connection.send(text, [])
  const sums = new ServerWriter(connection, 'counter_sums', sumColumns)
  const digests = new Map<Table, Digest>()
  for (const { table, file } of moved) {
    digests.set(table, await writeTable(connection, file, table, sums))
  }
  await sums.end()
  tell('rows are copied')
  // Indexes and references are made of all rows at once.
  for (const text of rest) await connection.send(text, [])
  await connection.send('INSERT INTO schema_version (id, version) VALUES (1, $1)', [
    versionOf(schema),
  ])
  await setClock(connection, coupons)
  for (const { table, file } of moved) await setSequence(connection, file, table)
  await connection.send('ANALYZE', [])
  tell('indexes are made')
  for (const [table, digest] of digests) {
    requireSame(table.name, digest, await digestOfServer(connection, table))
  }
  tell('every row was read back and is the same')
  requireSound('the copy', await checkSnapshot(connection, noPause))
  await connection.send(`INSERT INTO facts (name, value) VALUES ('arriving', $1)`, [arriving])
  await commitDurably(connection)
}

/** Open a loaded database for services. */
export async function openLoaded(connection: Connection): Promise<void> {
  await connection.send('BEGIN', [])
  await connection.send(`UPDATE facts SET name = 'arrived' WHERE name = 'arriving'`, [])
  await commitDurably(connection)
}

/** The digest of a table, as `rowsOfFile` and `rowsOfServer` have its rows. */
async function digestOfServer(connection: Connection, table: Table): Promise<Digest> {
  const digester = new Digester(table)
  for await (const row of rowsOfServer(connection, table)) digester.add(row)
  return digester.end()
}

/** Throws OperatorError if the two sides of a table differ. */
export function requireSame(name: string, one: Digest, other: Digest): void {
  if (one.rows === other.rows && one.digest === other.digest) return
  throw new OperatorError(
    `the copy of ${name} is not what was copied (${one.rows} rows, then ${other.rows})`,
  )
}

async function writeTable(
  connection: Connection,
  file: Sqlite,
  table: Table,
  sums: ServerWriter,
): Promise<Digest> {
  const own = table.columns.map(({ counter }) => !counter)
  const columns = table.columns.filter((_, at) => own[at])
  const writer = new ServerWriter(connection, table.name, columns)
  const counts = columns.length < table.columns.length
  const digester = new Digester(table)
  for (const row of rowsOfFile(file, table)) {
    digester.add(row)
    if (table.counters === null) await writer.add(counts ? row.filter((_, at) => own[at]) : row)
    const sum = counts ? sumOf(table, row) : null
    if (sum !== null) await sums.add(sum)
  }
  await writer.end()
  return digester.end()
}

/** Tables without their references, by name, and all other statements: indexes, references, first rows. */
function splitSchema(texts: readonly string[]): { tables: Map<string, string>; rest: string[] } {
  const tables = new Map<string, string>()
  const rest: string[] = []
  const references: string[] = []
  for (const text of texts) {
    const name = /^CREATE TABLE (\w+)/.exec(text)?.[1]
    if (name === undefined) {
      rest.push(text)
      continue
    }
    const lines = text.split('\n').map((line) => {
      const found = referenceIn(line)
      if (found === null) return line
      references.push(`ALTER TABLE ${name} ADD FOREIGN KEY (${found.column})${found.target}`)
      return line.replace(found.target, '')
    })
    tables.set(name, lines.join('\n'))
  }
  return { tables, rest: [...rest, ...references] }
}

/** The reference of a column: its name, and the text. Null for other lines. */
function referenceIn(line: string): { column: string; target: string } | null {
  const column = /^ +(\w+) /.exec(line)?.[1]
  const at = line.indexOf(' REFERENCES ')
  if (column === undefined || at === -1) return null
  const target = reference.exec(line.slice(at))?.[0]
  return target === undefined ? null : { column, target }
}

const reference =
  /^ REFERENCES \w+ \(\w+\)(?: ON DELETE CASCADE)?(?: DEFERRABLE INITIALLY DEFERRED)?/

/** The newest write of the file, so that a clock behind it is noticed there, too. */
async function setClock(connection: Connection, file: Sqlite): Promise<void> {
  const state = file.query<{ at: number }, []>('SELECT newest_write AS at FROM state').get()
  await connection.send('UPDATE state SET newest_write = $1', [state?.at ?? 0])
}

/** The next id is one that was never given out. */
async function setSequence(connection: Connection, file: Sqlite, table: Table): Promise<void> {
  if (table.key.length !== 1 || table.key[0] !== 'id' || table.counters !== null) return
  const { rows } = await connection.send(`SELECT pg_get_serial_sequence($1, 'id') AS name`, [
    table.name,
  ])
  const name = rows[0]?.name
  if (typeof name !== 'string') return
  const kept = file.query("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").get()
  const last = 'SELECT seq FROM sqlite_sequence WHERE name = ?'
  const given = kept === null ? null : file.query<{ seq: number }, [string]>(last).get(table.name)
  await connection.send(
    `SELECT setval($1::regclass, top) FROM
       (SELECT greatest(max(id), CAST($2 AS BIGINT)) AS top FROM ${table.name}) AS ids WHERE top > 0`,
    [name, given?.seq ?? 0],
  )
}
