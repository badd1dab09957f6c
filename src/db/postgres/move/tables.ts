import { Database as Sqlite } from 'bun:sqlite'
import { type CounterTable, counterTables } from '../../counters.ts'
import type { Schema } from '../../migrations.ts'

/** A table as a move sees it, in the order of its key. */
export type Table = {
  name: string
  columns: Column[]
  key: string[]
  /** The table of counters, whose rows an engine may keep in another form. */
  counters: CounterTable | null
  /** Rows that say something about a database itself, and stay where they are. */
  leftOut: string
}

export type Column = {
  name: string
  type: 'INTEGER' | 'TEXT' | 'BLOB'
  /** True of a number that is a counter of the row. */
  counter: boolean
}

/** A value of a row. Integers are texts, since those of the ledger exceed 2^53. */
export type Value = string | Uint8Array | null

/** Facts about a move, by which a database is closed or not complete yet. */
export const moveFacts = ['moved', 'moved-to', 'arriving', 'arrived'] as const

/** One row of the engine of a file: how it was closed, and its clock. */
const ownTables = ['state']

/** The tables of a schema, but for those that an engine keeps for itself. */
export function tablesOf(schema: Schema): Table[] {
  const model = new Sqlite(':memory:')
  try {
    model.run(schema.text)
    const names = model
      .query<{ name: string }, []>(
        `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
         ORDER BY rowid`,
      )
      .all()
      .filter(({ name }) => !ownTables.includes(name))
    return names.map(({ name }) => tableOf(model, name))
  } finally {
    model.close()
  }
}

function tableOf(model: Sqlite, name: string): Table {
  type Info = { name: string; type: Column['type']; pk: number }
  const info = model.query<Info, []>(`PRAGMA table_info(${name})`).all()
  const counted = Object.hasOwn(counterTables, name) ? (name as CounterTable) : null
  const numbers: readonly string[] = counted === null ? [] : counterTables[counted].numbers
  const key = info.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
  const facts = moveFacts.map((fact) => `'${fact}'`).join(', ')
  return {
    name,
    columns: info.map(({ name, type }) => ({ name, type, counter: numbers.includes(name) })),
    key: key.map((column) => column.name),
    // A definition has columns of its own beside its counters.
    counters: counted === 'definitions' ? null : counted,
    leftOut: name === 'facts' ? `name IN (${facts})` : 'FALSE',
  }
}
