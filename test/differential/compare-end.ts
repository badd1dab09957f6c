import { Database as Sqlite } from 'bun:sqlite'
import { join } from 'node:path'
import { checkDatabase } from '../../src/db/check.ts'
import { noPause } from '../../src/db/check-report.ts'
import { checkPostgres } from '../../src/db/postgres/check.ts'
import { Connection } from '../../src/db/postgres/connection.ts'
import { Difference, type Twins } from './twins.ts'

type Row = Record<string, unknown>

/** Tables about the engine, and those that work in the background changes or sweeps. */
const left = [
  ...['facts', 'state', 'images', 'outbox', 'deliveries', 'outbox_load', 'request_load'],
  ...['proofs', 'answers', 'requests', 'card_scans', 'ledger_refusals', 'pictures'],
  ...['totals', 'hourly', 'expiries', 'till_hours'],
]
/** Counters of a definition are appended elsewhere on PostgreSQL. `cuponera check` counts both. */
const counters = ['issued', 'claimed', 'voided']

/** Long enough for work in the background on a busy machine. */
export const patienceMs = 10_000

/** Compare the rows of two running services, until work in the background has made them the same. */
export async function awaitRows(twins: Twins): Promise<void> {
  const until = performance.now() + patienceMs
  for (;;) {
    try {
      return await compareRows(twins)
    } catch (cause) {
      if (!(cause instanceof Difference) || performance.now() > until) throw cause
    }
    await Bun.sleep(50)
  }
}

/** Check both databases, and compare their rows. */
export async function compareEnd(twins: Twins): Promise<void> {
  const [one, two] = twins.each
  const [left, right] = [
    await checkDatabase(join(one.dataDir, 'cuponera.db'), noPause),
    await checkPostgres(two.databaseUrl ?? '', noPause),
  ]
  same(
    'the check',
    { problems: left.problems, rows: left.rows },
    { problems: right.problems, rows: right.rows },
  )
  if (left.problems.length > 0) throw new Difference(`the check: ${left.problems.join()}`)
  await compareRows(twins)
}

/** Compare the rows but for the numbers that each database gives to its own. */
async function compareRows({ each: [one, two] }: Twins): Promise<void> {
  const tables = rowsOfFile(join(one.dataDir, 'cuponera.db'))
  const connection = await Connection.open(
    { connectionString: two.databaseUrl ?? '' },
    10_000,
    () => undefined,
  )
  try {
    for (const [table, rows] of tables) {
      const { rows: others } = await connection.send(`SELECT * FROM ${table}`, [])
      same(`the rows of ${table}`, sorted(rows), sorted(others as Row[]))
    }
  } finally {
    await connection.end()
  }
}

function rowsOfFile(path: string): Map<string, Row[]> {
  using file = new Sqlite(path, { readonly: true })
  const names = file
    .query<{ name: string }, []>(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
    .all()
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('sqlite_') && !left.includes(name))
  return new Map(names.map((name) => [name, file.query<Row, []>(`SELECT * FROM ${name}`).all()]))
}

function sorted(rows: Row[]): string[] {
  return rows.map(shown).sort((a, b) => (a < b ? -1 : 1))
}

/** A row as text, without numbers of rows. */
function shown(row: Row): string {
  const kept = Object.entries(row)
    .filter(([name, value]) => !(/(^|_)id$/.test(name) && typeof value === 'number'))
    .filter(([name]) => !counters.includes(name))
    .map(([name, value]) => [name, value instanceof Uint8Array ? value.toHex() : value] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(kept)
}

function same(name: string, embedded: unknown, postgres: unknown): void {
  if (Bun.deepEquals(embedded, postgres)) return
  if (Array.isArray(embedded) && Array.isArray(postgres)) {
    const [only, others] = [
      embedded.filter((one) => !postgres.includes(one)),
      postgres.filter((one) => !embedded.includes(one)),
    ]
    throw new Difference(
      `${name}\nembedded:   ${only.join('\n')}\nPostgreSQL: ${others.join('\n')}`,
    )
  }
  throw new Difference(
    `${name}\nembedded:   ${JSON.stringify(embedded)}\nPostgreSQL: ${JSON.stringify(postgres)}`,
  )
}
