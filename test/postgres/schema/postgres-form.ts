import type { Connection } from '../../../src/db/postgres/connection.ts'
import { columnLine, type Form } from './form.ts'

const ours = `CAST('public' AS regnamespace)`

/** The form of a database, from the catalogue of PostgreSQL. */
export async function readPostgres(connection: Connection): Promise<Form> {
  const ask = async (text: string) => (await connection.send(text, [])).rows
  const form: Form = {}
  const tables = await ask(
    `SELECT CAST(relname AS TEXT) AS name, concat(relkind, relpersistence) AS kind FROM pg_class
     WHERE relnamespace = ${ours} AND relkind NOT IN ('i', 'S') ORDER BY 1`,
  )
  for (const { name, kind } of tables) {
    // An ordinary table, whose rows are in the log.
    form[String(name)] = { columns: [], others: kind === 'rp' ? [] : [`kind ${kind}`] }
  }
  for (const row of await columnsOf(ask)) {
    form[String(row.table)]?.columns.push(
      columnLine({
        name: String(row.name),
        type: String(row.type),
        filled: row.filled === true,
        value: row.value === null ? null : String(row.value).replace(/^('.*')::text$/, '$1'),
        identity: row.identity === true,
      }),
    )
  }
  const others = await ask(
    `SELECT CAST(relname AS TEXT) AS table, pg_get_constraintdef(pg_constraint.oid) AS line
     FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
     WHERE connamespace = ${ours} AND contype <> 'n'
     UNION ALL
     SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' AND NOT EXISTS (
       SELECT 1 FROM pg_constraint WHERE connamespace = ${ours} AND conname = indexname)
     UNION ALL
     SELECT relname, 'trigger ' || tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
     WHERE NOT tgisinternal AND relnamespace = ${ours}
     UNION ALL
     SELECT relname, 'rule ' || rulename FROM pg_rewrite JOIN pg_class ON pg_class.oid = ev_class
     WHERE relnamespace = ${ours}`,
  )
  for (const { table, line } of others) {
    form[String(table)]?.others.push(String(line).replace(' ON public.', ' ON '))
  }
  return form
}

type Ask = (text: string) => Promise<Record<string, unknown>[]>

/** An identity counts where it gives each id once, in order, and takes one that it is given. */
function columnsOf(ask: Ask): Promise<Record<string, unknown>[]> {
  return ask(
    `SELECT CAST(relname AS TEXT) AS table, CAST(attname AS TEXT) AS name, attnotnull AS filled,
       format_type(atttypid, atttypmod) || CASE WHEN attcollation = 0 THEN '' ELSE
         ' COLLATE ' || (SELECT collname FROM pg_collation c WHERE c.oid = attcollation) END AS type,
       pg_get_expr(adbin, adrelid) AS value,
       attidentity = 'd' AND EXISTS (SELECT 1 FROM pg_sequence
         WHERE seqrelid = CAST(pg_get_serial_sequence(CAST(attrelid AS regclass)::TEXT, attname) AS regclass)
           AND seqstart = 1 AND seqincrement = 1 AND seqcache = 1 AND NOT seqcycle
           AND seqmax = 9223372036854775807) AS identity
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
       LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
     WHERE relkind = 'r' AND relnamespace = ${ours} AND attnum > 0 AND NOT attisdropped
     ORDER BY relname, attnum`,
  )
}
