import { limits } from '../../../base/limits.ts'
import { type CounterTable, counterTables } from '../../counters.ts'
import type { Connection } from '../connection.ts'
import { appendedCounters, numberColumns } from '../counters.ts'
import type { Column, Table, Value } from './tables.ts'

/** The rows of a table on a server, as `rowsOfFile`: counters are the sums of what was counted. */
export async function* rowsOfServer(connection: Connection, table: Table): AsyncGenerator<Value[]> {
  await connection.send(`DECLARE moved NO SCROLL CURSOR FOR ${selectOf(table)}`, [])
  const names = table.columns.map((_, at) => `c${at}`)
  let size: number = limits.moveRowsFirst
  for (;;) {
    const { rows } = await connection.send(`FETCH ${size} FROM moved`, [])
    let bytes = 0
    for (const row of rows) {
      const values = names.map((name) => (row[name] ?? null) as Value)
      for (const value of values) bytes += value?.length ?? 0
      yield values
    }
    if (rows.length < size) break
    size = nextSize(size, bytes)
  }
  await connection.send('CLOSE moved', [])
}

/** So many rows that they have about as many bytes as one statement should. */
function nextSize(size: number, bytes: number): number {
  const fitting = Math.floor((size * limits.moveStatementBytes) / Math.max(bytes, 1))
  return Math.max(1, Math.min(fitting, size * 4, limits.moveStatementRows))
}

function selectOf({ name, columns, key, counters, leftOut }: Table): string {
  const text = ({ name: column, type, counter }: Column) => {
    const alone = counter ? `CAST(sum(${column}) AS BIGINT)` : `t.${column}`
    const value =
      counter && counters === null ? appendedCounters.number('definitions', column, 't') : alone
    return type === 'INTEGER' ? `CAST(${value} AS TEXT)` : value
  }
  const values = columns.map((column, at) => `${text(column)} AS c${at}`).join(', ')
  const order = key.map((column) => `t.${column}`).join(', ')
  if (counters === null) {
    return `SELECT ${values} FROM ${name} t WHERE NOT (${leftOut}) ORDER BY ${order}`
  }
  const numbers = columns.filter(({ counter }) => counter)
  return `SELECT ${values} FROM (SELECT * FROM ${appendedCounters.rows(counters)}) AS t
    GROUP BY ${order} HAVING ${numbers.map((one) => `sum(${one.name}) <> 0`).join(' OR ')}
    ORDER BY ${order}`
}

const types = { INTEGER: 'BIGINT', TEXT: 'TEXT', BLOB: 'BYTEA' }

/** Writes rows of a table to a server, many in one statement. */
export class ServerWriter {
  readonly #connection: Connection
  readonly #text: string
  #columns: string[][]
  #rows = 0
  #bytes = 0
  /** The statement under way. The next rows are put together meanwhile. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(connection: Connection, table: string, columns: Pick<Column, 'name' | 'type'>[]) {
    this.#connection = connection
    const arrays = columns.map(({ type }, at) => `CAST($${at + 1} AS ${types[type]}[])`)
    const names = columns.map(({ name }) => name).join(', ')
    this.#text = `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${arrays.join(', ')})`
    this.#columns = columns.map(() => [])
  }

  async add(row: readonly Value[]): Promise<void> {
    for (const [at, column] of this.#columns.entries()) {
      const text = elementOf(row[at] ?? null)
      column.push(text)
      this.#bytes += text.length
    }
    this.#rows++
    const { moveStatementBytes, moveStatementRows } = limits
    if (this.#rows >= moveStatementRows || this.#bytes > moveStatementBytes) await this.#flush()
  }

  async end(): Promise<void> {
    await this.#flush()
    await this.#last
  }

  async #flush(): Promise<void> {
    if (this.#rows === 0) return
    const params = this.#columns.map((column) => `{${column.join(',')}}`)
    this.#columns = this.#columns.map(() => [])
    this.#rows = this.#bytes = 0
    await this.#last
    this.#last = this.#connection.send(this.#text, params)
    // It is told by the next wait.
    this.#last.catch(() => undefined)
  }
}

/** A value inside the text of an array. */
function elementOf(value: Value): string {
  if (value === null) return 'NULL'
  if (typeof value !== 'string') return `"\\\\x${value.toHex()}"`
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}

/** Columns of the sums of counters, as `sumOf` fills them. */
export const sumColumns: Pick<Column, 'name' | 'type'>[] = [
  { name: 'counter', type: 'TEXT' },
  ...['key1', 'key2', ...numberColumns].map((name) => ({ name, type: 'INTEGER' as const })),
]

/** The row of sums for a row with counters. Null if all of them are zero. */
export function sumOf(table: Table, row: readonly Value[]): Value[] | null {
  const integerOf = (column: string) =>
    row[table.columns.findIndex(({ name }) => name === column)] ?? '0'
  const numbers = counterTables[table.name as CounterTable].numbers.map(integerOf)
  if (numbers.every((number) => number === '0')) return null
  const [key1 = '0', key2 = '0'] = table.key.map(integerOf)
  const [one = '0', two = '0', three = '0', four = '0'] = numbers
  return [table.name, key1, key2, one, two, three, four]
}
