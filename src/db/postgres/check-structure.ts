import { couponSchema, versionOf } from '../migrations.ts'
import type { Connection } from './connection.ts'
import { readVersion, schemaTexts } from './schema.ts'

type Report = { add: (problem: string) => void; note: (note: string) => void }

/**
 * Check that tables, columns, indexes and constraints are those of the schema, since a dump that was brought back with
 * errors lacks some. Without its index a voucher could be spent twice. False if rows cannot be read. The next schema may
 * lack some too, and this program works with it.
 */
export async function checkStructure(
  connection: Connection,
  { add, note }: Report,
): Promise<boolean> {
  const known = versionOf(couponSchema)
  const found = await readVersion(connection)
  if (found === known + 1) {
    note(
      `a newer program has upgraded the schema to ${found}, and this one knows ${known}: only the check of the newer one looks for tables, indexes and constraints that are missing`,
    )
    return true
  }
  if (found !== known) {
    add(
      found === null
        ? 'this is not a database of Cuponera'
        : `the database has schema ${found}, this program knows ${known}`,
    )
    return false
  }
  const expected = structureOf(schemaTexts(couponSchema))
  const present = await readStructure(connection)
  let readable = true
  for (const [kind, names] of Object.entries(expected.names)) {
    const there = present.names[kind as keyof Structure['names']]
    for (const name of names) {
      if (there.has(name)) continue
      add(`the ${kind} ${name} is missing`)
      if (kind === 'table' || kind === 'column') readable = false
    }
  }
  for (const [name, count] of expected.constraints) {
    const is = present.constraints.get(name) ?? 0
    if (is < count) add(`${count - is} of the ${name} are missing`)
  }
  return readable
}

type Structure = {
  names: Record<'table' | 'column' | 'index', Set<string>>
  /** The number of constraints by a name such as `foreign keys of vouchers`. */
  constraints: Map<string, number>
}

const kinds = [
  { type: 'p', word: /\bPRIMARY KEY\b/g, name: 'primary keys' },
  { type: 'u', word: /\bUNIQUE\b/g, name: 'unique keys' },
  { type: 'f', word: /\bREFERENCES\b/g, name: 'foreign keys' },
  { type: 'c', word: /\bCHECK \(/g, name: 'constraints' },
]

/** The structure that the statements of a schema make. */
function structureOf(texts: readonly string[]): Structure {
  const structure = emptyStructure()
  const { names, constraints } = structure
  for (const text of texts) {
    const [, index] = /^CREATE (?:UNIQUE )?INDEX (\w+)/.exec(text) ?? []
    if (index !== undefined) names.index.add(index)
    const [, created, altered] = /^(?:CREATE TABLE (\w+)|ALTER TABLE (\w+))/.exec(text) ?? []
    const table = created ?? altered
    if (table === undefined) continue
    for (const { word, name } of kinds) {
      const count = text.match(word)?.length ?? 0
      if (count > 0) grow(constraints, `${name} of ${table}`, count)
    }
    if (created === undefined) continue
    names.table.add(created)
    for (const line of text.split('\n')) {
      const column = /^(\w+) (?:BIGINT|BYTEA|TEXT|UUID|TIMESTAMPTZ)\b/.exec(line.trim())?.[1]
      if (column === undefined) continue
      const filled = /(?<! IS) NOT NULL\b|\bPRIMARY KEY\b/.test(line)
      names.column.add(`${created}.${column}${filled ? ' NOT NULL' : ''}`)
    }
  }
  return structure
}

/** The structure that a database has. An index that was not built to its end does not count. */
async function readStructure(connection: Connection): Promise<Structure> {
  const structure = emptyStructure()
  const own = 'relnamespace = CAST(current_schema() AS regnamespace)'
  const { rows } = await connection.send(
    `SELECT 'table' AS kind, CAST(relname AS TEXT) AS name FROM pg_class WHERE relkind = 'r' AND ${own}
     UNION ALL
     SELECT 'index', CAST(relname AS TEXT) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indisvalid AND ${own}
     UNION ALL
     SELECT 'column', relname || '.' || attname || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relkind = 'r' AND attnum > 0 AND NOT attisdropped AND ${own}`,
    [],
  )
  for (const { kind, name } of rows) {
    structure.names[kind as keyof Structure['names']].add(String(name))
  }
  // The reference of a voucher to its definition alone, which earlier databases have, stands for no other one.
  const found = await connection.send(
    `SELECT CAST(contype AS TEXT) AS type, CAST(relname AS TEXT) AS name FROM pg_constraint
     JOIN pg_class ON pg_class.oid = conrelid WHERE convalidated AND ${own}
       AND NOT (contype = 'f' AND relname = 'vouchers' AND cardinality(conkey) = 1)`,
    [],
  )
  for (const { type, name } of found.rows) {
    const kind = kinds.find((one) => one.type === type)
    if (kind) grow(structure.constraints, `${kind.name} of ${name}`, 1)
  }
  return structure
}

function emptyStructure(): Structure {
  return {
    names: { table: new Set(), column: new Set(), index: new Set() },
    constraints: new Map(),
  }
}

function grow(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by)
}
