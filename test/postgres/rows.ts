/** Engines on a database with a table of numbers, for tests of faults. */
import { afterEach, spyOn } from 'bun:test'
import { Connection as Wire } from 'pg'
import type { Connection } from '../../src/db/postgres/connection.ts'
import { PostgresEngine, type PostgresOptions } from '../../src/db/postgres/engine.ts'
import type { Sql } from '../../src/db/sql.ts'
import type { Databases } from '../support/postgres-databases.ts'

export type Rows = {
  insert(id: number): Promise<void>
  /** The same without a wait for its end. */
  post(id: number): void
  /** Change a row that should be there, and note that. */
  expect(id: number): Promise<boolean>
  count(): Promise<number>
}

function createRows(sql: Sql): Rows {
  const insert = sql.query<null, [number]>('INSERT INTO done (id) VALUES (?)')
  const expect = sql.changeThenInsert<[number]>({
    update: 'UPDATE done SET id = id WHERE id = ?1',
    into: 'changed',
    values: { id: { changed: 'id', found: '?1' } },
  })
  const count = sql.query<{ n: number }, []>('SELECT count(*) AS n FROM done')
  return {
    async insert(id) {
      await insert.changes(id)
    },
    post: (id) => insert.run(id),
    expect: (id) => expect.expectOne(id),
    async count() {
      return (await count.get())?.n ?? 0
    },
  }
}

type Engine = PostgresEngine<Rows>

/** Opens databases with such a table; the engines on them are closed after each test. */
export function openRows(databases: Databases) {
  const engines: Engine[] = []
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close()
  })
  return {
    async create() {
      const name = await databases.create()
      const other = await databases.connect(name)
      await other.send('CREATE TABLE done (id BIGINT PRIMARY KEY)', [])
      await other.send('CREATE TABLE changed (id BIGINT NOT NULL)', [])
      return { name, other, url: databases.server.url(name) }
    },
    engine(url: string, options: Partial<PostgresOptions<Rows>> = {}): Engine {
      const now = () => Date.now() / 1000
      const engine = new PostgresEngine<Rows>({ url, now, stores: createRows, ...options })
      engines.push(engine)
      return engine
    },
  }
}

/** How often an operation waits for the server, whose statements are known after a first one that writes the row 1. */
export async function waitsOf(
  engine: Engine,
  operation: (tx: Rows) => Promise<void>,
): Promise<number> {
  await engine.transact({ roots: 'none' }, (tx) => tx.insert(1))
  const spy = spyOn(Wire.prototype as unknown as { sync(): void }, 'sync')
  try {
    await engine.transact({ roots: 'none' }, operation)
    return spy.mock.calls.length
  } finally {
    spy.mockRestore()
  }
}

export async function idsIn(connection: Connection): Promise<number[]> {
  const { rows } = await connection.send('SELECT id FROM done ORDER BY id', [])
  return rows.map(({ id }) => Number(id))
}

/** Let each commit of a row in `done` wait until `connection` unlocks 7 (`pg_advisory_unlock`). */
export async function holdCommits(connection: Connection): Promise<void> {
  for (const text of [
    `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$`,
    `CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON done DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION wait()`,
    'SELECT pg_advisory_lock(7)',
  ]) {
    await connection.send(text, [])
  }
}

/** Processes of the server for the other sessions of a database. */
export async function backendsOf(connection: Connection, where = 'true'): Promise<number[]> {
  const { rows } = await connection.send(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
       AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND ${where}`,
    [],
  )
  return rows.map(({ pid }) => Number(pid))
}

/** The code of the refusal that a promise ends with, or `answered`. */
export function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'answered',
    (cause) => cause?.code ?? cause?.constructor?.name,
  )
}
