import { limits } from '../../base/limits.ts'
import { OperatorError } from '../../base/operator-error.ts'
import { relaySchema, type Schema, versionOf } from '../migrations.ts'
import { type Connection, StatementFailed } from './connection.ts'
import { counterSchema } from './counters.ts'
import { translateSchema } from './dialect.ts'
import { guessSchema } from './guesses.ts'
import { requireNoMove } from './move-marks.ts'
import { forgetForeignNews, newsSchema } from './news.ts'
import { nodeSchema } from './nodes.ts'

const ofCommits = [
  // Transactions whose commit was sent. A fence stops a lost one from standing later. Rows are deleted after a while.
  `CREATE TABLE commits (
     id UUID PRIMARY KEY,
     outcome TEXT NOT NULL CHECK (outcome IN ('work', 'fence')),
     at TIMESTAMPTZ NOT NULL DEFAULT now()
   )`,
]

/** Tables of the relay. The state of its file is that of the coupons here. */
const ofRelay = translateSchema(relaySchema).filter(
  (text) => !/^(CREATE TABLE|INSERT INTO) state /.test(text),
)

/** Tables beside those of the coupons, each part by one of them. */
const beside = Object.entries({
  events: ofRelay,
  counter_changes: counterSchema,
  commits: ofCommits,
  nodes: nodeSchema,
  changes: newsSchema,
  guesses: guessSchema,
})

const ofVersion = `CREATE TABLE schema_version (
   id BIGINT PRIMARY KEY CHECK (id = 1),
   version BIGINT NOT NULL
 )`

/** `first` is one of the tables: without it all of them are made. */
async function addTables(
  connection: Connection,
  first: string,
  texts: readonly string[],
): Promise<void> {
  if (await isThere(connection, first)) return
  for (const text of texts) await connection.send(text, [])
}

/** True if a database has a table of this name. */
async function isThere(connection: Connection, table: string): Promise<boolean> {
  const { rows } = await connection.send('SELECT to_regclass($1) IS NOT NULL AS there', [table])
  return rows[0]?.there === true
}

/** True if operations of other nodes had a table for too long, or stopped the upgrade. */
function isBusy(cause: unknown): boolean {
  return cause instanceof StatementFailed && ['55P03', '40P01'].includes(cause.code)
}

/** Several nodes may start at once: one of them makes the tables. */
async function inSchemaLock(connection: Connection, make: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await connection.send('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE', [])
    try {
      await connection.send(`SELECT pg_advisory_xact_lock(hashtextextended('schema', 0))`, [])
      await make()
      await connection.send('COMMIT', [])
      return
    } catch (cause) {
      if (!connection.open) throw cause
      await connection.send('ROLLBACK', [])
      if (!isBusy(cause) || attempt === limits.upgradeAttempts) throw cause
      await Bun.sleep(limits.upgradeLockMs)
    }
  }
}

/** The statements that make the tables and indexes of the coupons, of the relay and of the engine. */
export function schemaTexts(coupons: Schema): string[] {
  return [...beside.flatMap(([, texts]) => texts), ofVersion, ...translateSchema(coupons)]
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
  if (!(await isThere(connection, 'schema_version'))) return null
  const { rows } = await connection.send('SELECT version FROM schema_version', [])
  return Number(rows[0]?.version ?? 0)
}

/**
 * Create the schema in an empty database, or upgrade an older one while nodes of the version before go on. A database
 * that is one version ahead stays as it is. Throws OperatorError for others.
 */
export async function createSchema(connection: Connection, schema: Schema): Promise<void> {
  const version = versionOf(schema)
  await inSchemaLock(connection, async () => {
    await requireNoMove(connection)
    const found = await readVersion(connection)
    if (found === null) {
      for (const text of schemaTexts(schema)) await connection.send(text, [])
      await connection.send('INSERT INTO schema_version (id, version) VALUES (1, $1)', [version])
      return
    }
    if (found > version + 1) {
      throw new OperatorError(
        `the database has schema ${found}, this program knows up to ${version}: upgrade it`,
      )
    }
    // A database may be older than these parts of the program.
    for (const [table, texts] of beside) await addTables(connection, table, texts)
    if (found < version) await upgrade(connection, schema, found)
    await forgetForeignNews(connection)
  })
}

/** Bring the schema from version `at` to that of the program. Refused while a node runs that is two versions behind. */
async function upgrade(connection: Connection, schema: Schema, at: number): Promise<void> {
  const version = versionOf(schema)
  const steps = Array.from({ length: version - at }, (_, step) => schema.postgres?.[at + step])
  if (steps.includes(undefined)) {
    throw new OperatorError(`the database has schema ${at}, which this program cannot upgrade`)
  }
  const { rows } = await connection.send(
    `SELECT name, version, schema FROM nodes WHERE schema < $1
       AND seen_at > clock_timestamp() - make_interval(secs => $2) ORDER BY schema, started_at, id LIMIT 1`,
    [version - 1, limits.nodeSilentSeconds],
  )
  if (rows[0]) {
    const { name, version, schema } = rows[0]
    throw new OperatorError(
      `the node ${name} runs Cuponera ${version}, which needs schema ${schema} or the one after it: stop it, or upgrade it to a version between first`,
    )
  }
  for (const step of steps) {
    // A table that is busy is waited for, but not while all others wait behind us.
    await connection.send(`SET LOCAL lock_timeout = ${limits.upgradeLockMs}`, [])
    for (const text of step?.split(/;\s*$/m) ?? []) {
      if (text.trim() !== '') await connection.send(text, [])
    }
  }
  await connection.send('UPDATE schema_version SET version = $1', [version])
}
