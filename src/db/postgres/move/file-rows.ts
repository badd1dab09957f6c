import type { Database as Sqlite } from 'bun:sqlite'
import type { Table, Value } from './tables.ts'

/** The rows of a table of a file, in the order of its key. Counters that are zero say nothing and are left out. */
export function* rowsOfFile(file: Sqlite, table: Table): Generator<Value[]> {
  const { name, columns, key } = table
  const values = columns.map(({ name, type }) =>
    type === 'INTEGER' ? `CAST(${name} AS TEXT)` : name,
  )
  const order = key.map((column) => `${name}.${column}`).join(', ')
  const query = file.query<Record<string, Value>, []>(
    `SELECT ${values.map((value, at) => `${value} AS c${at}`).join(', ')} FROM ${name}
     WHERE ${rowsThatCount(table)} ORDER BY ${order}`,
  )
  const names = columns.map((_, at) => `c${at}`)
  for (const row of query.iterate()) yield names.map((column) => row[column] ?? null)
}

function rowsThatCount({ columns, counters, leftOut }: Table): string {
  if (counters === null) return `NOT (${leftOut})`
  const numbers = columns.filter(({ counter }) => counter)
  return numbers.map(({ name }) => `${name} <> 0`).join(' OR ')
}

/** A function that writes a row of a table to a file. A row that the schema itself makes is replaced. */
export function writerToFile(file: Sqlite, { name, columns }: Table): (row: Value[]) => void {
  const places = columns.map(() => '?').join(', ')
  const names = columns.map((column) => column.name).join(', ')
  const insert = file.query<null, Value[]>(
    `INSERT OR REPLACE INTO ${name} (${names}) VALUES (${places})`,
  )
  return (row) => void insert.run(...row)
}
