import { Database as Sqlite } from 'bun:sqlite'
import type { Connection } from '../../../src/db/postgres/connection.ts'
import { columnLine, type Form, type Lines } from './form.ts'

/** Types of the tables, which are strict, and those that hold the same values in PostgreSQL. */
const types: Record<string, string> = {
  INTEGER: 'bigint',
  TEXT: 'text COLLATE C',
  BLOB: 'bytea',
}

/** The conditions that PostgreSQL has other words for. */
function inPostgres(condition: string): string {
  return condition
    .replace(/json_valid\((\w+)\)/g, '$1 IS JSON')
    .replace(/json_type\((\w+)\) = 'object'/g, '$1 IS JSON OBJECT')
    .replace(/(\w+) NOT GLOB '\*(\[\^[^\]]*\])\*'/g, "$1 !~ '$2'")
}

type Column = { name: string; type: string; notnull: number; dflt_value: string | null; pk: number }
type Index = { name: string; unique: number; origin: string; partial: number }
type Key = { name: string | null; desc: number; coll: string; key: number }
type Reference = {
  id: number
  table: string
  from: string
  to: string
  on_update: string
  on_delete: string
  match: string
}

/**
 * The form of a file, from the catalogue of SQLite: conditions stand in the texts that it keeps. `probe` is a connection
 * to PostgreSQL, which writes each condition as it writes those of its own tables.
 */
export async function readSqlite(path: string, probe: Connection): Promise<Form> {
  using file = new Sqlite(path, { readonly: true })
  const all = <Row>(sql: string, ...params: string[]) =>
    file.query<Row, string[]>(sql).all(...params)
  const objects = all<{ type: string; name: string; tbl_name: string; sql: string | null }>(
    'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name',
  )
  const texts = Object.fromEntries(
    objects.map(({ name, sql }) => [name, withoutComments(sql ?? '')]),
  )
  const form: Form = {}
  for (const { type, name } of objects) {
    if (type === 'table') form[name] = await readTable(all, name, texts, probe)
    else if (type !== 'index') throw new Error(`${type} ${name}`)
  }
  return form
}

type All = <Row>(sql: string, ...params: string[]) => Row[]

async function readTable(
  all: All,
  table: string,
  texts: Record<string, string>,
  probe: Connection,
): Promise<Lines> {
  const text = texts[table] ?? ''
  const columns = all<Column>('SELECT * FROM pragma_table_xinfo(?)', table)
  const [about] = all<{ strict: number; wr: number }>(
    "SELECT strict, wr FROM pragma_table_list(?) WHERE schema = 'main'",
    table,
  )
  // A table of SQLite itself.
  if (about?.strict !== 1) return { columns: columns.map(({ name }) => name), others: [] }
  const keys = columns.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk)
  const references = referencesOf(
    all<Reference>('SELECT * FROM pragma_foreign_key_list(?)', table),
    text,
  )
  const checks = conditionsOf(text)
  // The rowid: the ids are SQLite's, unless they are those of another table, or the row is the only one.
  const [only] = keys
  const rowid = about.wr === 0 && keys.length === 1 && only?.type === 'INTEGER'
  const given =
    rowid && !checks.includes('id = 1') && !references.some(({ own }) => own === only?.name)
  const lines = columns.map((column) =>
    columnLine({
      name: column.name,
      type: types[column.type] ?? column.type,
      filled: column.notnull === 1,
      value: column.dflt_value,
      identity: given && column === only,
    }),
  )
  const indexes = all<Index>('SELECT * FROM pragma_index_list(?)', table).map((index) => {
    const { keys, condition } = partsOf(texts[index.name] ?? '')
    const found = all<Key>('SELECT * FROM pragma_index_xinfo(?)', index.name).filter(
      ({ key }) => key,
    )
    if (found.some(({ coll }) => coll !== 'BINARY')) throw new Error(`collation of ${index.name}`)
    const named = found.map(({ name, desc }, at) => `${name ?? keys[at]}${desc ? ' DESC' : ''}`)
    return { ...index, keys: named, condition }
  })
  const bare = columns.map(({ name, type }) => `${name} ${types[type]}`)
  const own = indexes.filter(({ origin }) => origin === 'c')
  const written = await writtenBy(probe, bare, checks, own)
  const unique = indexes.filter(({ origin }) => origin === 'u')
  return {
    columns: lines,
    others: [
      `PRIMARY KEY (${keys.map(({ name }) => name).join(', ')})`,
      ...unique.map(({ keys }) => `UNIQUE (${keys.join(', ')})`),
      ...references.map(({ line }) => line),
      ...written.checks,
      ...own.map(({ name, unique }, at) => {
        const { keys = '', condition = null } = written.indexes[at] ?? {}
        const head = `CREATE ${unique ? 'UNIQUE ' : ''}INDEX ${name} ON ${table} USING btree (${keys})`
        return condition === null ? head : `${head} WHERE ${condition}`
      }),
    ],
  }
}

/** SQLite lists the references of a table from its last one to its first. When they are checked stands in the text alone. */
function referencesOf(rows: readonly Reference[], text: string): { own: string; line: string }[] {
  const clauses = [...text.matchAll(/REFERENCES [^,]*?\([^)]*\)([^,)]*(?:,|\)|$))/g)].map(
    ([, rest = '']) => rest,
  )
  const ids = [...new Set(rows.map(({ id }) => id))].sort((one, other) => other - one)
  if (ids.length !== clauses.length) throw new Error(`references of ${text}`)
  return ids.map((id, at) => {
    const parts = rows.filter((row) => row.id === id)
    const { table, on_delete, on_update, match } = parts[0] as Reference
    const own = parts.map(({ from }) => from).join(', ')
    const words = [
      `FOREIGN KEY (${own}) REFERENCES ${table}(${parts.map(({ to }) => to).join(', ')})`,
      match === 'NONE' ? '' : `MATCH ${match}`,
      on_update === 'NO ACTION' ? '' : `ON UPDATE ${on_update}`,
      on_delete === 'NO ACTION' ? '' : `ON DELETE ${on_delete}`,
      clauses[at]?.includes('DEFERRABLE INITIALLY DEFERRED') ? 'DEFERRABLE INITIALLY DEFERRED' : '',
    ]
    return { own, line: words.filter(Boolean).join(' ') }
  })
}

/** The conditions of a table. */
function conditionsOf(text: string): string[] {
  return [...text.matchAll(/\bCHECK \(/g)].map(({ index }) => inParentheses(text, index + 6))
}

/** The keys of an index and its condition, as its text has them. */
function partsOf(text: string): { keys: string[]; condition: string | null } {
  const from = text.indexOf('(')
  if (from < 0) return { keys: [], condition: null }
  const list = inParentheses(text, from)
  const rest = text.slice(from + list.length + 2).trim()
  const condition = rest === '' ? null : rest.replace(/^WHERE /, '')
  return { keys: list.split(/,(?![^(]*\))/).map((key) => key.trim()), condition }
}

/** The text between the parenthesis at a place and the one that closes it. */
function inParentheses(text: string, from: number): string {
  let depth = 0
  for (const { 0: part, index } of text.slice(from).matchAll(/'[^']*'|[()]/g)) {
    if (part === '(') depth++
    else if (part === ')' && --depth === 0) return text.slice(from + 1, from + index)
  }
  throw new Error(`no end: ${text}`)
}

function withoutComments(text: string): string {
  return text.replace(/'[^']*'|--[^\n]*/g, (part) => (part.startsWith("'") ? part : ''))
}

type Probed = { name: string; keys: string[]; condition: string | null }

/** Conditions and keys as PostgreSQL writes them, from a table that has them for a moment. */
async function writtenBy(
  probe: Connection,
  columns: readonly string[],
  checks: readonly string[],
  indexes: readonly Probed[],
): Promise<{ checks: string[]; indexes: { keys: string; condition: string | null }[] }> {
  const parts = [
    ...columns.map((one) => one.replace(/COLLATE (\w+)/, 'COLLATE "$1"')),
    ...checks.map((one, at) => `CONSTRAINT check${at} CHECK (${inPostgres(one)})`),
  ]
  const made = indexes.map(({ keys, condition }, at) => {
    const where = condition === null ? '' : ` WHERE ${inPostgres(condition)}`
    return `CREATE INDEX index${at} ON probe (${keys.join(', ')})${where}`
  })
  const texts = ['BEGIN', `CREATE TEMP TABLE probe (${parts.join(', ')})`, ...made]
  await probe.send(texts.join(';'), [])
  const found = await probe.send(
    `SELECT CAST(substr(conname, 6) AS BIGINT) AS at, pg_get_constraintdef(oid) AS line
     FROM pg_constraint WHERE conrelid = CAST('probe' AS regclass) AND contype = 'c' ORDER BY 1`,
    [],
  )
  const keys = await probe.send(
    `SELECT CAST(substr(relname, 6) AS BIGINT) AS at, pg_get_expr(indpred, indrelid) AS condition,
       substring(split_part(pg_get_indexdef(indexrelid), ' WHERE ', 1) FROM '\\((.*)\\)$') AS keys
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indrelid = CAST('probe' AS regclass) ORDER BY 1`,
    [],
  )
  await probe.send('ROLLBACK', [])
  return {
    checks: found.rows.map(({ line }) => String(line)),
    indexes: keys.rows.map((row) => ({
      keys: String(row.keys),
      condition: row.condition === null ? null : String(row.condition),
    })),
  }
}
