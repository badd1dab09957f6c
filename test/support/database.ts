/** The database of a test service, on whichever engine it runs, read and changed behind its back. */
import { Database as Sqlite } from 'bun:sqlite'
import { describe, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkDatabase } from '../../src/db/check.ts'
import { noPause } from '../../src/db/check-report.ts'
import {
  type Counters,
  type CounterTable,
  columnCounters,
  counterTables,
} from '../../src/db/counters.ts'
import { checkPostgres } from '../../src/db/postgres/check.ts'
import { Connection } from '../../src/db/postgres/connection.ts'
import { allCounters, appendedCounters, numberColumns } from '../../src/db/postgres/counters.ts'
import { translateStatement } from '../../src/db/postgres/dialect.ts'
import type { SqlValue } from '../../src/db/sql.ts'

/** The address of a server of PostgreSQL that every test service has a database of. Without one each has a file. */
export const serverUrl = process.env.TEST_POSTGRES

/** Each test service has its data in a file. */
export const onFile = serverUrl === undefined

/** For tests about the file of the embedded engine. Those left out on PostgreSQL are counted and listed by whole.ts. */
export const testOfFile: typeof test = test.skipIf(!onFile)
export const describeFile: typeof describe = describe.skipIf(!onFile)

/** A change of a counter: its keys in the order of its table, and the numbers that grow. */
type Count = { keys: number[]; by: Record<string, number> }

type Row = Record<string, unknown>

/** Statements are in words that both engines know. */
type TestDatabase = {
  all<Row>(sql: string, ...params: SqlValue[]): Promise<Row[]>
  /** Change rows against every rule. Without parameters it may be several statements. */
  run(sql: string, ...params: SqlValue[]): Promise<void>
  /** Run a statement for each list of parameters. */
  runEach(sql: string, params: readonly SqlValue[][]): Promise<void>
  count(table: CounterTable, counts: readonly Count[]): Promise<void>
  /** Let each update fail that gives a column this value, until `allow`. */
  forbid(table: string, column: string, value: string): Promise<void>
  allow(table: string): Promise<void>
  /** Every row, by table, without those of some tables. */
  rows(without?: readonly string[]): Promise<Record<string, Row[]>>
  /** All that it holds, as characters of one byte: to look for secrets in. */
  content(): Promise<string>
  /** The problems that the check of a database finds. */
  problems(): Promise<string[]>
  /** True if its service ended in order: no log is left, or no node. */
  closedClean(): Promise<boolean>
}

/** The database of the service that has this data directory. */
export function databaseOf(dataDir: string): TestDatabase {
  const url = databaseUrlOf(dataDir)
  return url === null ? fileOf(join(dataDir, 'cuponera.db')) : databaseAt(url)
}

/** Change the rows of a service against every rule. */
export const damage = (dataDir: string, sql: string): Promise<void> => databaseOf(dataDir).run(sql)

/** The address of the database of a data directory on PostgreSQL. Null where it has a file. */
export function databaseUrlOf(dataDir: string): string | null {
  const digest = new Bun.CryptoHasher('sha256').update(dataDir).digest('hex')
  return serverUrl?.replace('/postgres?', `/t_${digest.slice(0, 16)}?`) ?? null
}

function fileOf(path: string): TestDatabase {
  const open = <T>(use: (file: Sqlite) => T): T => {
    using file = new Sqlite(path, { readwrite: true, create: false })
    file.run('PRAGMA busy_timeout = 60000')
    file.run('PRAGMA foreign_keys = OFF')
    file.run('PRAGMA ignore_check_constraints = ON')
    return use(file)
  }
  const runEach = async (sql: string, params: readonly SqlValue[][]) =>
    open((file) => {
      const statement = file.query(sql)
      file.transaction(() => params.forEach((one) => void statement.run(...one)))()
    })
  const all = async <Row>(sql: string, ...params: SqlValue[]) =>
    open((file) => file.query<Row, SqlValue[]>(sql).all(...params))
  const run = async (sql: string, ...params: SqlValue[]) =>
    open((file) => void file.run(sql, ...(params.length > 0 ? [params] : [])))
  return {
    all,
    run,
    runEach,
    count: (table, counts) => countIn(columnCounters, table, counts, runEach),
    forbid: (table, column, value) =>
      run(`CREATE TRIGGER forbidden BEFORE UPDATE OF ${column} ON ${table}
        WHEN new.${column} = '${value}' BEGIN SELECT RAISE(ABORT, 'forbidden'); END`),
    allow: () => run('DROP TRIGGER forbidden'),
    rows: async (without = []) =>
      open((file) => {
        const tables = file.query<{ name: string }, []>(
          `SELECT name FROM sqlite_schema
           WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name`,
        )
        const named = tables.all().filter(({ name }) => !without.includes(name))
        return Object.fromEntries(
          named.map(({ name }) => [name, file.query<Row, []>(`SELECT * FROM ${name}`).all()]),
        )
      }),
    async content() {
      const files = [path, `${path}-wal`].filter((name) => existsSync(name))
      return files.map((name) => readFileSync(name, 'latin1')).join()
    },
    problems: async () => (await checkDatabase(path, noPause)).problems,
    closedClean: async () =>
      !existsSync(`${path}-wal`) && (await all<Row>('SELECT clean FROM state'))[0]?.clean === 1,
  }
}

/** The sums of counters with their changes, which the leader may fold into them at any moment. */
const allSums = `(SELECT counter, key1, key2, ${numberColumns
  .map((column) => `sum(${column}) AS ${column}`)
  .join(', ')} FROM ${allCounters} AS counted GROUP BY counter, key1, key2)`

function databaseAt(url: string): TestDatabase {
  const open = async <T>(use: (send: Connection['send']) => Promise<T>): Promise<T> => {
    const connection = await connectionTo(url)
    return use((sql, params) => connection.send(translate(sql), params))
  }
  const runEach = (sql: string, params: readonly SqlValue[][]) =>
    open(async (send) => void (await Promise.all(params.map((one) => send(sql, one)))))
  const all = <Row>(sql: string, ...params: SqlValue[]) =>
    open(async (send) => (await send(sql, params)).rows as Row[])
  const run = (sql: string, ...params: SqlValue[]) => runEach(sql, [params])
  const rows: TestDatabase['rows'] = (without = []) =>
    open(async (send) => {
      const tables = await send(
        `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
        [],
      )
      const named = tables.rows
        .map(({ name }) => String(name))
        .filter((name) => name !== 'counter_changes' && !without.includes(name))
      const read = async (name: string) => {
        const from = name === 'counter_sums' ? allSums : name
        return [name, (await send(`SELECT * FROM ${from} AS one ORDER BY one`, [])).rows] as const
      }
      return Object.fromEntries(await Promise.all(named.map(read)))
    })
  return {
    all,
    run,
    runEach,
    rows,
    count: (table, counts) => countIn(appendedCounters, table, counts, runEach),
    forbid: (table, column, value) =>
      run(`CREATE FUNCTION forbidden() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RAISE EXCEPTION ''forbidden''; END';
        CREATE TRIGGER forbidden BEFORE UPDATE OF ${column} ON ${table}
        FOR EACH ROW WHEN (new.${column} = '${value}') EXECUTE FUNCTION forbidden()`),
    allow: (table) => run(`DROP TRIGGER forbidden ON ${table}; DROP FUNCTION forbidden()`),
    async content() {
      const values = Object.values(await rows())
        .flat()
        .flatMap(Object.values)
      return values.map(latin1).join()
    },
    problems: async () => (await checkPostgres(url, noPause)).problems,
    closedClean: async () => (await all('SELECT 1 FROM nodes')).length === 0,
  }
}

/** One connection to each database. */
const connections = new Map<string, Connection>()

/** End the connections of this module: a database in use cannot be deleted. */
export async function disconnect(): Promise<void> {
  const open = [...connections.values()]
  connections.clear()
  await Promise.all(open.map((connection) => connection.end()))
}

async function connectionTo(url: string): Promise<Connection> {
  const known = connections.get(url)
  if (known?.open) return known
  const superuser = { connectionString: url.replace('//cuponera@', '//postgres@') }
  const connection = await Connection.open(superuser, 10_000, () => undefined)
  connections.set(url, connection)
  // No foreign key is looked at.
  await connection.send('SET session_replication_role = replica', [])
  return connection
}

function latin1(value: unknown): string {
  const bytes = value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(String(value))
  return bytes.toString('latin1')
}

/** The bytes that a test writes out are the only word of SQLite in its statements. */
function translate(sql: string): string {
  return translateStatement(sql.replace(/\bx'([0-9a-f]*)'/gi, `CAST('\\x$1' AS BYTEA)`))
}

/** Add to counters with the words of an engine. */
async function countIn(
  counters: Counters,
  table: CounterTable,
  counts: readonly Count[],
  runEach: TestDatabase['runEach'],
): Promise<void> {
  const names = Object.keys(counts[0]?.by ?? {})
  const { keys } = counterTables[table]
  const numbered = (list: readonly string[], from: number) =>
    Object.fromEntries(list.map((name, at) => [name, `?${from + at}`]))
  const text = counters.add(table, {
    keys: numbered(keys, 1),
    by: numbered(names, keys.length + 1),
  })
  const params = counts.map((one) => [...one.keys, ...names.map((name) => one.by[name] ?? 0)])
  await runEach(text, params)
}
