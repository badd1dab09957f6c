import { Database as Sqlite } from 'bun:sqlite'
import { join } from 'node:path'
import { checkDatabase } from '../../src/db/check.ts'
import { noPause } from '../../src/db/check-report.ts'
import { columnCounters } from '../../src/db/counters.ts'
import { checkPostgres } from '../../src/db/postgres/check.ts'
import { Connection } from '../../src/db/postgres/connection.ts'
import { appendedCounters } from '../../src/db/postgres/counters.ts'
import { type Row, readRows, tablesOf } from './rows.ts'
import { Difference, type Twins } from './twins.ts'

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

/** Compare the rows of all tables, as far as they do not depend on the engine. */
async function compareRows({ each: [one, two] }: Twins): Promise<void> {
  const path = join(one.dataDir, 'cuponera.db')
  using file = new Sqlite(path, { readonly: true })
  const connection = await Connection.open(
    { connectionString: two.databaseUrl ?? '' },
    10_000,
    () => undefined,
  )
  try {
    const tables = tablesOf(file)
    const read = async (text: string) => (await connection.send(text, [])).rows
    const embedded = await readRows(
      tables,
      async (text) => file.query<Row, []>(text).all(),
      columnCounters,
    )
    const postgres = await readRows(tables, read, appendedCounters)
    for (const [table, rows] of embedded) same(`the rows of ${table}`, rows, postgres.get(table))
  } finally {
    await connection.end()
  }
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
