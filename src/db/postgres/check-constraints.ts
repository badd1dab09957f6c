import { counterTables } from '../counters.ts'
import type { Connection } from './connection.ts'
import { allCounters, numberColumns } from './counters.ts'

type Add = (problem: string) => void

/**
 * Check the rows against the constraints of the database. It holds them itself, but a damaged page, or an index that
 * lacks a row, breaks them unseen. So the rows are read, and no index.
 */
export async function checkConstraints(connection: Connection, add: Add): Promise<void> {
  await useIndexes(connection, 'off')
  await checkConditions(connection, add)
  await checkUnique(connection, add)
  await checkReferences(connection, add)
  await checkSequences(connection, add)
  await useIndexes(connection, 'on')
  await checkCounterRows(connection, add)
}

async function useIndexes(connection: Connection, value: 'on' | 'off'): Promise<void> {
  const names = ['enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan']
  const settings = names.map((name) => `set_config('${name}', '${value}', true)`)
  await connection.send(`SELECT ${settings.join(', ')}`, [])
}

/** Texts from the catalog about tables of this schema. */
async function catalog(connection: Connection, text: string): Promise<Record<string, string>[]> {
  const { rows } = await connection.send(text, [])
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value ?? '')])),
  )
}

const ours = 'connamespace = CAST(current_schema() AS regnamespace)'

async function count(connection: Connection, text: string): Promise<number> {
  const { rows } = await connection.send(`SELECT count(*) AS n FROM ${text}`, [])
  return Number(rows[0]?.n)
}

async function checkConditions(connection: Connection, add: Add): Promise<void> {
  const tables = await catalog(
    connection,
    `SELECT CAST(conrelid AS regclass) AS name,
       string_agg('(' || pg_get_expr(conbin, conrelid) || ')', ' AND ' ORDER BY conname) AS holds
     FROM pg_constraint WHERE contype = 'c' AND ${ours} GROUP BY conrelid ORDER BY 1`,
  )
  for (const { name = '', holds } of tables) {
    const wrong = await count(connection, `${name} WHERE NOT (${holds})`)
    for (let row = 0; row < wrong; row++) add(`integrity: CHECK constraint failed in ${name}`)
  }
}

async function checkUnique(connection: Connection, add: Add): Promise<void> {
  const indexes = await catalog(
    connection,
    `SELECT CAST(indexrelid AS regclass) AS name, CAST(indrelid AS regclass) AS rows,
       string_agg(key, ', ') AS keys, string_agg(format('(%s) IS NOT NULL', key), ' AND ') AS filled,
       coalesce(pg_get_expr(indpred, indrelid), 'true') AS ofit
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid,
       LATERAL (SELECT pg_get_indexdef(indexrelid, place, true) AS key
         FROM generate_series(1, indnkeyatts) AS place) AS one
     WHERE indisunique AND relnamespace = CAST(current_schema() AS regnamespace)
     GROUP BY indexrelid, indrelid, indpred ORDER BY 1`,
  )
  for (const { name, rows, keys, filled, ofit } of indexes) {
    const twice = await count(
      connection,
      `(SELECT 1 FROM ${rows} WHERE ${filled} AND ${ofit} GROUP BY ${keys} HAVING count(*) > 1) AS twice`,
    )
    if (twice > 0) add(`integrity: non-unique entry in index ${name}`)
  }
}

async function checkReferences(connection: Connection, add: Add): Promise<void> {
  const references = await catalog(
    connection,
    `SELECT CAST(conrelid AS regclass) AS child, CAST(confrelid AS regclass) AS parent,
       string_agg(format('c.%I IS NOT NULL', a.attname), ' AND ') AS filled,
       string_agg(format('p.%I = c.%I', b.attname, a.attname), ' AND ') AS same
     FROM pg_constraint, unnest(conkey, confkey) AS pair (own, other)
     JOIN pg_attribute a ON a.attnum = pair.own JOIN pg_attribute b ON b.attnum = pair.other
     WHERE contype = 'f' AND ${ours} AND a.attrelid = conrelid AND b.attrelid = confrelid
     GROUP BY conrelid, confrelid, conname ORDER BY 1, conname`,
  )
  for (const { child, parent, filled, same } of references) {
    const { rows } = await connection.send(
      `SELECT to_jsonb(c) ->> 'id' AS id FROM ${child} c
       WHERE ${filled} AND NOT EXISTS (SELECT 1 FROM ${parent} p WHERE ${same})`,
      [],
    )
    for (const { id } of rows) {
      add(`${child} row ${id ?? '?'}: it points to a row of ${parent} that does not exist`)
    }
  }
}

/** A sequence behind its rows would give out an id a second time. */
async function checkSequences(connection: Connection, add: Add): Promise<void> {
  const tables = await catalog(
    connection,
    `SELECT CAST(attrelid AS regclass) AS name, attname AS id,
       pg_get_serial_sequence(CAST(CAST(attrelid AS regclass) AS TEXT), attname) AS sequence
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE attidentity <> '' AND relnamespace = CAST(current_schema() AS regnamespace) ORDER BY 1`,
  )
  for (const { name, id, sequence } of tables) {
    const beyond = await count(
      connection,
      `${name}, ${sequence} AS s WHERE ${id} > s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END`,
    )
    if (beyond > 0)
      add(`${name}: its sequence is behind ${beyond} rows, and would give their ids again`)
  }
}

/** The rows that counters belong to. The others have one row. */
const parents: Partial<Record<keyof typeof counterTables, string>> = {
  definitions: 'definitions',
  hourly: 'definitions',
  expiries: 'definitions',
  till_hours: 'tills',
}

/** Check that no counter is below zero, and that each belongs to something. */
async function checkCounterRows(connection: Connection, add: Add): Promise<void> {
  const sums = numberColumns.map((column) => `sum(${column})`)
  const said = `SELECT counter, key1 FROM ${allCounters} AS counted GROUP BY counter, key1, key2`
  for (const table of Object.keys(counterTables) as (keyof typeof counterTables)[]) {
    const parent = parents[table]
    const orphan = parent ? `NOT EXISTS (SELECT 1 FROM ${parent} p WHERE p.id = key1)` : 'key1 <> 1'
    const { rows } = await connection.send(
      `SELECT key1 FROM (${said} HAVING counter = '${table}'
         AND (${sums.map((sum) => `${sum} <> 0`).join(' OR ')})) AS one WHERE ${orphan}`,
      [],
    )
    for (const { key1 } of rows) {
      add(`${table} row ${key1}: it points to a row of ${parent ?? table} that does not exist`)
    }
    const below = await connection.send(
      `${said} HAVING counter = '${table}' AND (${sums.map((sum) => `${sum} < 0`).join(' OR ')})`,
      [],
    )
    for (const _ of below.rows) add(`integrity: CHECK constraint failed in ${table}`)
  }
  const names = Object.keys(counterTables).map((name) => `'${name}'`)
  const unknown = await count(
    connection,
    `${allCounters} AS counted WHERE counter NOT IN (${names})`,
  )
  if (unknown > 0) add(`${unknown} changes of counters are of none that this program knows`)
}
