/** The rows of a database in a form that is the same on both engines. */
import type { Database as Sqlite } from 'bun:sqlite'
import { type Counters, type CounterTable, counterTables } from '../../src/db/counters.ts'

export type Row = Record<string, unknown>

/** A table, and the tables that its columns point to. */
type Table = { name: string; pointsTo: ReadonlyMap<string, string> }

/** A process and its file say here whether it was closed well. The differential does not end a process otherwise. */
const left = ['state']

/** Nodes bind their database to the key of the cards at the first start, a service on a file with its first card. */
const ofEngine = (table: string, { name }: Row) => table === 'facts' && name === 'card-key'

/** Columns that differ, with the reason. */
const untold: Record<string, string[]> = {
  // The moment at which work in the background came to the row.
  deliveries: ['attempts', 'next_at', 'last_error'],
  // An event that work in the background signs and seals takes the random numbers of the request beside it.
  outbox: ['event_id', 'event'],
  // The id of a signature for the next page of a list, whose address has the number of a row in it.
  proofs: ['event_id'],
}

/** Columns with the number of a row, without a foreign key. */
const numbers: Record<string, Record<string, string>> = {
  kills: { upto_voucher_id: 'vouchers', swept_voucher_id: 'vouchers' },
  card_spends: { card_id: 'cards' },
}

/** The tables of the service, as its file has them. */
export function tablesOf(file: Sqlite): Table[] {
  const names = file
    .query<{ name: string }, []>(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
    .all()
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('sqlite_') && !left.includes(name))
  return names.map((name) => {
    const keys = file
      .query<{ table: string; from: string; to: string | null }, [string]>(
        'SELECT "table", "from", "to" FROM pragma_foreign_key_list(?)',
      )
      .all(name)
      .filter(({ to }) => to === null || to === 'id')
    const own = [['id', name] as const]
    const foreign = keys.map(({ from, table }) => [from, table] as const)
    return { name, pointsTo: new Map([...own, ...foreign, ...Object.entries(numbers[name] ?? {})]) }
  })
}

/** The rows of each table, as sorted texts. */
export async function readRows(
  tables: readonly Table[],
  read: (text: string) => Promise<Row[]>,
  counters: Counters,
): Promise<Map<string, string[]>> {
  const rows = new Map<string, Row[]>()
  for (const { name } of tables) {
    const counted = name in counterTables ? (name as CounterTable) : null
    rows.set(
      name,
      await (counted ? readCounters(counted, read, counters) : read(`SELECT * FROM ${name}`)),
    )
  }
  const places = new Map([...rows].map(([name, all]) => [name, placesOf(all)]))
  return new Map(
    tables.map((table) => {
      const own = (rows.get(table.name) ?? []).filter((row) => !ofEngine(table.name, row))
      const texts = own.map((row) => shown(table, row, places))
      return [table.name, texts.sort()]
    }),
  )
}

/** The rows of a table of counters, without those that count nothing. */
async function readCounters(
  table: CounterTable,
  read: (text: string) => Promise<Row[]>,
  counters: Counters,
): Promise<Row[]> {
  const { keys, numbers: names } = counterTables[table]
  if (table === 'definitions') {
    const counted = names.map((name) => `${counters.number(table, name, 'd')} AS counted_${name}`)
    const rows = await read(`SELECT d.*, ${counted.join(', ')} FROM definitions d`)
    return rows.map((row) => {
      const own = Object.entries(row).filter(
        ([name]) => !(names as readonly string[]).includes(name),
      )
      return Object.fromEntries(own)
    })
  }
  const sums = names.map((name) => `CAST(sum(${name}) AS BIGINT) AS ${name}`)
  const columns = [...keys, ...sums].join(', ')
  const rows = await read(
    `SELECT ${columns} FROM ${counters.rows(table)} GROUP BY ${keys.join(', ')}`,
  )
  return rows.filter((row) => names.some((name) => row[name] !== 0))
}

/** The place of each row of a table in the order of its numbers, since each engine leaves other gaps. */
function placesOf(rows: readonly Row[]): Map<unknown, number> {
  const ids = rows.map(({ id }) => id).filter((id) => typeof id === 'number')
  return new Map(ids.sort((a, b) => a - b).map((id, at) => [id, at + 1]))
}

function shown(
  { name, pointsTo }: Table,
  row: Row,
  places: ReadonlyMap<string, ReadonlyMap<unknown, number>>,
): string {
  const kept = Object.entries(row)
    .filter(([column]) => !untold[name]?.includes(column))
    .map(([column, value]): [string, unknown] => {
      const target = pointsTo.get(column)
      if (target !== undefined) return [column, places.get(target)?.get(value) ?? null]
      return [column, value instanceof Uint8Array ? value.toHex() : value]
    })
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(kept)
}
