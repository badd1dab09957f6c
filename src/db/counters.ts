/**
 * Counters: numbers in rows that operations without a common root change at the same time. An engine whose
 * operations overlap appends the changes and sums them up later. Every other engine changes the row.
 */

/**
 * Tables of counters with their keys and their numbers, up to two and four of them. A new number goes to the end, since
 * an engine may keep them by their place.
 */
export const counterTables = {
  definitions: { keys: ['id'], numbers: ['claimed', 'voided', 'issued'] },
  totals: { keys: ['id'], numbers: ['issued', 'claimed', 'voided', 'refreshed'] },
  hourly: { keys: ['definition_id', 'hour'], numbers: ['minted', 'claimed'] },
  expiries: { keys: ['definition_id', 'expires_at'], numbers: ['open'] },
  till_hours: { keys: ['till_id', 'hour'], numbers: ['claimed'] },
  outbox_load: { keys: ['id'], numbers: ['events', 'bytes'] },
  request_load: { keys: ['id'], numbers: ['rows'] },
} as const satisfies Record<string, { keys: readonly string[]; numbers: readonly string[] }>

export type CounterTable = keyof typeof counterTables

/**
 * A change of a counter: the text of each key, and of what each number grows by. Parameters have numbers (`?1`),
 * because each engine has an order of its own for the parts.
 */
type Count = { keys: Record<string, string>; by: Record<string, string> }

/** Texts of statements, and parts of them, for counters. */
export type Counters = {
  /** A statement that adds. A row that is missing begins at zero. */
  add(table: CounterTable, count: Count): string
  /**
   * A statement that adds to a row that should exist. Without one, it changes no row, or it begins one at zero. It
   * changes no row where a key is null.
   */
  addToExisting(table: CounterTable, count: Count): string
  /** A statement that makes the counters of a key's first column zero. The column is bound to its only parameter. */
  drop(table: CounterTable): string
  /** The table, for FROM, with all its keys and numbers. One key may have several rows, so that a reader sums. */
  rows(table: CounterTable): string
  /** A number of the row that has the alias, `less` another one of them. */
  number(table: CounterTable, name: string, alias: string, less?: string): string
}

/** The texts of a change. Throws for a parameter without a number. */
export function partsOf({ keys, by }: Count): Count {
  const bare = [...Object.values(keys), ...Object.values(by)].find((text) => /\?(?!\d)/.test(text))
  if (bare !== undefined) throw new Error(`a parameter of a counter has no number: ${bare}`)
  return { keys, by }
}

/** A change that can be summed up with others of its row, also with those of other statements. */
export type Summable = {
  sums: Sums
  /** The parameters of the keys, by their place in the first statement. */
  keysAt: number[]
  /** The growth of each number: always the same, or a parameter. */
  by: { index: number; by: number | null; at: number }[]
  /** A row that is missing begins at zero. */
  begins: boolean
}

/**
 * Statements that add to all numbers of a row. Their parameters are those of the keys, then the numbers. One for all
 * changes whose keys have the same texts.
 */
export type Sums = { table: CounterTable; insertOrAdd: string; update: string }

/** The changes that were prepared, by their texts. As many as the stores have. */
const summable = new Map<string, Summable>()
/** By the text of the update. */
const known = new Map<string, Sums>()

/** The change that a statement of `columnCounters` makes. Undefined for other statements. */
export function countOf(text: string): Summable | undefined {
  return summable.get(text)
}

/** Remember how changes of a statement are summed up, if a parameter of its keys is in none of its numbers. */
function remember(write: Write, table: CounterTable, { keys, by }: Count): string {
  const text = write(table, partsOf({ keys, by }))
  const inOrder = counterTables[table].keys.map((name) => [name, keys[name] ?? ''] as const)
  const keysAt = [...new Set(inOrder.flatMap(([, key]) => placesIn(key)))]
  const grown = Object.entries(by).map(([name, amount]) => ({
    index: (counterTables[table].numbers as readonly string[]).indexOf(name),
    by: /^-?\d+$/.test(amount) ? Number(amount) : null,
    at: /^\?\d+$/.test(amount) ? (placesIn(amount)[0] ?? -1) : -1,
  }))
  if (grown.some((one) => one.by === null && (one.at < 0 || keysAt.includes(one.at)))) return text
  const renamed = inOrder.map(([name, key]) => {
    return [name, key.replace(/\?(\d+)/g, (_, at) => `?${keysAt.indexOf(at - 1) + 1}`)]
  })
  const all = counterTables[table].numbers.map((name, at) => [name, `?${keysAt.length + at + 1}`])
  const whole = { keys: Object.fromEntries(renamed), by: Object.fromEntries(all) }
  const made = { table, insertOrAdd: insertOrAdd(table, whole), update: update(table, whole) }
  const sums = known.get(made.update) ?? made
  known.set(sums.update, sums)
  summable.set(text, { sums, keysAt, by: grown, begins: write === insertOrAdd })
  return text
}

function placesIn(text: string): number[] {
  return [...text.matchAll(/\?(\d+)/g)].map(([, at]) => Number(at) - 1)
}

/** The text of a change of a table. */
type Write = (table: CounterTable, count: Count) => string

const insertOrAdd: Write = (table, { keys, by }) => {
  const { numbers } = counterTables[table]
  const columns = [...Object.keys(keys), ...numbers].join(', ')
  const values = [...Object.values(keys), ...numbers.map((name) => by[name] ?? '0')].join(', ')
  const changes = Object.keys(by).map((name) => `${name} = ${table}.${name} + excluded.${name}`)
  return `INSERT INTO ${table} (${columns}) VALUES (${values})
    ON CONFLICT (${Object.keys(keys).join(', ')}) DO UPDATE SET ${changes.join(', ')}`
}

const update: Write = (table, { keys, by }) => {
  const changes = Object.entries(by).map(([name, text]) => `${name} = ${name} + ${text}`)
  const where = Object.entries(keys).map(([name, text]) => `${name} = ${text}`)
  return `UPDATE ${table} SET ${changes.join(', ')} WHERE ${where.join(' AND ')}`
}

/** Counters as the columns of their rows. */
export const columnCounters: Counters = {
  add: (table, count) => remember(insertOrAdd, table, count),
  addToExisting: (table, count) => remember(update, table, count),
  drop: (table) => `DELETE FROM ${table} WHERE ${counterTables[table].keys[0]} = ?`,
  rows: (table) => table,
  number: (_, name, alias, less) =>
    less === undefined ? `${alias}.${name}` : `(${alias}.${name} - ${alias}.${less})`,
}
