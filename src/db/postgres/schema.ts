import { OperatorError } from '../../base/operator-error.ts'
import { type Schema, versionOf } from '../migrations.ts'
import type { Connection } from './connection.ts'
import { counterSchema } from './counters.ts'
import { translateSchema } from './dialect.ts'
import { newsSchema } from './news.ts'
import { nodeSchema } from './nodes.ts'

/** Tables of the engine beside those of the schema. */
const own = [
  ...counterSchema,
  ...nodeSchema,
  ...newsSchema,
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

/** Create the schema in an empty database. Several nodes may start at once: one of them creates it. */
export async function createSchema(connection: Connection, schema: Schema): Promise<void> {
  const version = versionOf(schema)
  await connection.send('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE', [])
  try {
    await connection.send(`SELECT pg_advisory_xact_lock(hashtextextended('schema', 0))`, [])
    const known = await connection.send(
      `SELECT to_regclass('schema_version') IS NOT NULL AS known`,
      [],
    )
    if (known.rows[0]?.known !== true) {
      for (const text of [...own, ...translateSchema(schema.text)]) await connection.send(text, [])
      await connection.send('INSERT INTO schema_version (id, version) VALUES (1, $1)', [version])
    } else {
      const { rows } = await connection.send('SELECT version FROM schema_version', [])
      if (rows[0]?.version !== version) {
        throw new OperatorError(
          `the database has schema ${rows[0]?.version}, this program needs ${version}`,
        )
      }
    }
    await connection.send('COMMIT', [])
  } catch (cause) {
    connection.destroy()
    throw cause
  }
}
