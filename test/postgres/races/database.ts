/** A database that is brought back to one state again and again, and read as a whole. */
import { createStores } from '../../../src/app/stores.ts'
import { systemClock } from '../../../src/base/clock.ts'
import type { Connection } from '../../../src/db/postgres/connection.ts'
import { PostgresEngine } from '../../../src/db/postgres/engine.ts'
import type { Sql } from '../../../src/db/sql.ts'
import { createEventStore } from '../../../src/relay/store.ts'
import type { Databases } from '../../support/postgres-databases.ts'

/** The stores of the service, and those of its relay. */
const storesOf = (sql: Sql) => ({ ...createStores(sql), events: createEventStore(sql) })

export type Stores = ReturnType<typeof storesOf>
export type Row = { table: string; text: string; value: Record<string, unknown> }

/** Tables of the engine about itself. */
const own = [
  ...['schema_version', 'commits', 'state', 'nodes', 'counter_changes', 'counter_sums'],
  ...['changes', 'changes_forgotten', 'guesses'],
]

export async function openWorldDatabase(databases: Databases) {
  const name = await databases.create()
  const url = databases.server.url(name)
  const engine = new PostgresEngine({ url, now: systemClock, stores: storesOf, connections: 6 })
  const looking = await databases.connect(name)
  const tables = await tablesOf(looking)
  const text = stateText(tables.filter((table) => !own.includes(table)))

  async function rows(): Promise<Row[]> {
    const found = await looking.send(text, [])
    return found.rows.flatMap(({ name: table, rows: list }) =>
      (JSON.parse(String(list)) as Record<string, unknown>[]).map((value) => ({
        table: String(table),
        text: `${table} ${JSON.stringify(value)}`,
        value,
      })),
    )
  }

  return {
    engine,
    looking,
    rows,
    /** Keep the state of now for `restore`. */
    async keep(): Promise<void> {
      await looking.send('CREATE SCHEMA kept', [])
      for (const table of tables) {
        await looking.send(`CREATE TABLE kept.${table} AS TABLE public.${table}`, [])
      }
      // Ids that a run makes differ from all others, so that they are told apart.
      await looking.send(
        `SELECT setval(format('%I.%I', schemaname, sequencename), place * 10000000)
         FROM (SELECT *, row_number() OVER (ORDER BY sequencename) AS place FROM pg_sequences) AS one`,
        [],
      )
      await looking.send('SET session_replication_role = replica', [])
      const restoring = tables.map(
        (table) => `DELETE FROM public.${table};
          INSERT INTO public.${table} OVERRIDING SYSTEM VALUE SELECT * FROM kept.${table};`,
      )
      await looking.send(
        `CREATE FUNCTION kept.restore() RETURNS void LANGUAGE plpgsql AS $$
           BEGIN ${restoring.join('\n')} END $$`,
        [],
      )
    },
    async restore(): Promise<void> {
      await looking.send('SELECT kept.restore()', [])
    },
    /** Rows that were deleted again and again slow each reading down. */
    async clean(): Promise<void> {
      await looking.send('VACUUM', [])
    },
    async close(): Promise<void> {
      await engine.close()
      await looking.end()
    },
  }
}

export type WorldDatabase = Awaited<ReturnType<typeof openWorldDatabase>>

async function tablesOf(connection: Connection): Promise<string[]> {
  const { rows } = await connection.send(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1`,
    [],
  )
  return rows.map(({ name }) => String(name))
}

/** One statement that reads every table. Of a counter it reads the sum. */
function stateText(tables: readonly string[]): string {
  const numbers = ['number1', 'number2', 'number3', 'number4']
  const sums = numbers.map((number) => `sum(${number}) AS ${number}`)
  const changed = numbers.map((number) => `sum(${number}) <> 0`)
  const both = ['counter_changes', 'counter_sums'].map(
    (table) => `SELECT counter, key1, key2, ${numbers.join(', ')} FROM ${table}`,
  )
  const counted = `SELECT counter, key1, key2, ${sums.join(', ')}
    FROM (${both.join(' UNION ALL ')}) AS one
    GROUP BY counter, key1, key2 HAVING ${changed.join(' OR ')}`
  const sources = [...tables.map((table) => [table, `TABLE ${table}`]), ['counters', counted]]
  return sources
    .map(
      ([table, source]) => `SELECT '${table}' AS name,
         (SELECT coalesce(json_agg(x), '[]')::text FROM (${source}) AS x) AS rows`,
    )
    .join(' UNION ALL ')
}
