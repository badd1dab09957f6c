import { type Counters, type CounterTable, counterTables, partsOf } from '../counters.ts'
import type { Connection } from './connection.ts'
import { shiftParameters } from './dialect.ts'
import type { Statement } from './statements.ts'

/**
 * Tables of the counters: changes as they came, and the sums of those that were folded. The hot rows of the
 * schema stay as they were made: two operations on one row would wait for each other's disk.
 */
export const counterSchema = [
  `CREATE TABLE counter_changes (
     id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     counter TEXT COLLATE "C" NOT NULL,
     key1 BIGINT NOT NULL,
     key2 BIGINT NOT NULL,
     number1 BIGINT NOT NULL,
     number2 BIGINT NOT NULL,
     number3 BIGINT NOT NULL,
     number4 BIGINT NOT NULL
   )`,
  'CREATE INDEX counter_changes_by_key ON counter_changes (counter, key1, key2)',
  `CREATE TABLE counter_sums (
     counter TEXT COLLATE "C" NOT NULL,
     key1 BIGINT NOT NULL,
     key2 BIGINT NOT NULL,
     number1 BIGINT NOT NULL,
     number2 BIGINT NOT NULL,
     number3 BIGINT NOT NULL,
     number4 BIGINT NOT NULL,
     PRIMARY KEY (counter, key1, key2)
   )`,
]

export const numberColumns = ['number1', 'number2', 'number3', 'number4']
const columns = `counter, key1, key2, ${numberColumns.join(', ')}`
/** Sums and changes. One key may have several rows. */
export const allCounters = `(SELECT ${columns} FROM counter_sums UNION ALL SELECT ${columns} FROM counter_changes)`

/** The beginning of a statement that appends changes. */
const appendInto = `INSERT INTO counter_changes (${columns}) `
const rowOf = 'VALUES'
/** The most changes that one statement appends. */
export const appendsMax = 8

/** Numbers that a row of the schema counts, too, for operations that have to wait for each other. */
const inRows: ReadonlySet<string> = new Set(['definitions.issued'])

/** Counters as changes that are appended. */
export const appendedCounters: Counters = {
  add: append,
  addToExisting: append,
  // One more change. Rows that a fold moves at this moment would escape a DELETE.
  drop(table) {
    const sums = numberColumns.map((column) => `sum(${column})`)
    return `INSERT INTO counter_changes (${columns})
      SELECT counter, key1, key2, ${sums.map((sum) => `-${sum}`).join(', ')} FROM ${allCounters} AS counted
      WHERE counter = '${table}' AND key1 = ?1 GROUP BY counter, key1, key2
      HAVING ${sums.map((sum) => `${sum} <> 0`).join(' OR ')}`
  },
  rows(table) {
    const { keys, numbers } = counterTables[table]
    const named = [
      ...keys.map((name, index) => `key${index + 1} AS ${name}`),
      ...numbers.map((name, index) => `number${index + 1} AS ${name}`),
    ]
    return `(SELECT ${named.join(', ')} FROM ${allCounters} AS counted WHERE counter = '${table}') AS ${table}`
  },
  number(table, name, alias, less) {
    const { keys } = counterTables[table]
    const names = less === undefined ? [name] : [name, less]
    const changes = names.map((one) => numberOf(table, one)).join(' - ')
    const inRow = names.map((one) => (inRows.has(`${table}.${one}`) ? `${alias}.${one}` : '0'))
    return `(${inRow.join(' - ')} + (SELECT CAST(coalesce(sum(${changes}), 0) AS BIGINT) FROM ${allCounters} AS counted
      WHERE counter = '${table}' AND key1 = ${alias}.${keys[0]}))`
  },
}

/** Statements that append nothing for a key that is null, and the same ones as they fail there. */
const failing = new Map<string, string>()

/** One statement, which appends nothing where a key is null: there is no such row. */
function append(table: CounterTable, count: Parameters<Counters['add']>[1]): string {
  const { keys, by } = partsOf(count)
  const { numbers } = counterTables[table]
  const [first = '0', second = '0'] = Object.values(keys)
  const changes = [0, 1, 2, 3].map((index) => by[numbers[index] ?? ''] ?? '0')
  const values = [first, second, ...changes].map((text) => `CAST(${text} AS BIGINT)`)
  const row = `${appendInto}${rowOf} ('${table}', ${values.join(', ')})`
  // Rows of values cost least, and nothing but a query finds no key.
  if (/^(\?\d+|\d+)$/.test(first)) return row
  const text = `${appendInto}SELECT '${table}', key1, key2, ${numberColumns.join(', ')}
    FROM (SELECT ${values
      .map((text, index) => `${text} AS ${columns.split(', ')[index + 1]}`)
      .join(', ')}) AS one
    WHERE key1 IS NOT NULL`
  failing.set(text, row)
  return text
}

/** The same statement, which fails where it would append nothing. Null for one that appends nothing to counters. */
export function failingAppend(text: string): string | null {
  return isAppend(text) ? (failing.get(text) ?? text) : null
}

/** True of a statement that appends a change. */
export function isAppend(text: string): boolean {
  return text.startsWith(appendInto)
}

/** Joined statements by the texts of their parts. As many as the program has operations that count. */
const joined = new Map<string, string>()

/** One statement for up to `appendsMax` of them: each statement costs as much as its row. */
export function joinAppends(appends: readonly Statement[]): Statement {
  const [first] = appends
  if (first && appends.length === 1) return first
  const name = appends.map(({ text }) => text).join(';')
  let text = joined.get(name)
  if (text === undefined) {
    text = unionOf(appends)
    joined.set(name, text)
  }
  return { text, params: appends.flatMap(({ params }) => params) }
}

function unionOf(appends: readonly Statement[]): string {
  let before = 0
  const parts = appends.map(({ text, params }) => {
    const from = before
    before += params.length
    return shiftParameters(text.slice(appendInto.length), from)
  })
  if (!parts.every((part) => part.startsWith(rowOf))) return appendInto + parts.join(' UNION ALL ')
  const rows = parts.map((part) => part.slice(rowOf.length))
  return `${appendInto}${rowOf}${rows.join(',')}`
}

function numberOf(table: CounterTable, name: string): string {
  const numbers: readonly string[] = counterTables[table].numbers
  return `number${numbers.indexOf(name) + 1}`
}

/**
 * Add up to `most` changes to the sums, the oldest first, in one transaction. Readers see every change once, before as after.
 * Resolves to the number of changes.
 */
export async function foldCounters(connection: Connection, most: number): Promise<number> {
  const { count } = await connection.send(
    `WITH taken AS (
       DELETE FROM counter_changes WHERE id IN (
         SELECT id FROM counter_changes ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)
       RETURNING ${columns}),
     folded AS (
       INSERT INTO counter_sums (${columns})
       SELECT counter, key1, key2, sum(number1), sum(number2), sum(number3), sum(number4)
       FROM taken GROUP BY counter, key1, key2 ORDER BY counter, key1, key2
       ON CONFLICT (counter, key1, key2) DO UPDATE SET
         number1 = counter_sums.number1 + excluded.number1,
         number2 = counter_sums.number2 + excluded.number2,
         number3 = counter_sums.number3 + excluded.number3,
         number4 = counter_sums.number4 + excluded.number4)
     SELECT 1 FROM taken`,
    [most],
  )
  return count
}
