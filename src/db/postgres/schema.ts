import { OperatorError } from '../../base/operator-error.ts'
import { type Schema, versionOf } from '../migrations.ts'
import type { Connection } from './connection.ts'
import { counterSchema } from './counters.ts'
import { translateSchema } from './dialect.ts'
import { requireNoMove } from './move-marks.ts'

/** Tables of the engine beside those of the schema. */
const own = [
  ...counterSchema,
  `CREATE TABLE schema_version (
     id BIGINT PRIMARY KEY CHECK (id = 1),
     version BIGINT NOT NULL
   )`,
  // Transactions whose commit was sent. A fence stops a lost one from standing later. Rows are deleted after a while.
  `CREATE TABLE commits (
     id UUID PRIMARY KEY,
     outcome TEXT NOT NULL CHECK (outcome IN ('work', 'fence')),
     at TIMESTAMPTZ NOT NULL DEFAULT now()
   )`,
]

/** The statements that make the tables and indexes of a schema, and those of the engine. */
export function schemaTexts(schema: Schema): string[] {
  return [...own, ...translateSchema(schema.text)]
}

/** True if a database has no table, of whatever program. */
export async function isEmptyDatabase(connection: Connection): Promise<boolean> {
  const { count } = await connection.send(
    `SELECT 1 FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
       AND relnamespace = CAST(current_schema() AS regnamespace) LIMIT 1`,
    [],
  )
  return count === 0
}

/** The version of the schema that a database has. Null: it has none. */
export async function readVersion(connection: Connection): Promise<number | null> {
  const known = await connection.send(
    `SELECT to_regclass('schema_version') IS NOT NULL AS known`,
    [],
  )
  if (known.rows[0]?.known !== true) return null
  const { rows } = await connection.send('SELECT version FROM schema_version', [])
  return Number(rows[0]?.version ?? 0)
}

/** Create the schema in an empty database. Several nodes may start at once: one of them creates it. */
export async function createSchema(connection: Connection, schema: Schema): Promise<void> {
  const version = versionOf(schema)
  await connection.send('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE', [])
  try {
    await connection.send(`SELECT pg_advisory_xact_lock(hashtextextended('schema', 0))`, [])
    await requireNoMove(connection)
    const found = await readVersion(connection)
    if (found === null) {
      for (const text of schemaTexts(schema)) await connection.send(text, [])
      await connection.send('INSERT INTO schema_version (id, version) VALUES (1, $1)', [version])
    } else if (found !== version) {
      throw new OperatorError(`the database has schema ${found}, this program needs ${version}`)
    }
    await connection.send('COMMIT', [])
  } catch (cause) {
    connection.destroy()
    throw cause
  }
}
