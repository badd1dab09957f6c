/** The promises of the port, on PostgreSQL. */
import { afterAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/base/clock.ts'
import { limits } from '../../src/base/limits.ts'
import { StatementFailed } from '../../src/db/postgres/connection.ts'
import { PostgresEngine } from '../../src/db/postgres/engine.ts'
import { createNotes } from '../contract/notes.ts'
import { describeEngine, type EngineUnderTest } from '../contract/port.ts'
import { openDatabases } from '../support/postgres-databases.ts'

const databases = await openDatabases()
afterAll(() => databases.stop())

const connections = 8

async function open(): Promise<EngineUnderTest> {
  const name = await databases.create()
  const other = await databases.connect(name)
  await other.send('CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL)', [])
  const database = new PostgresEngine({
    url: databases.server.url(name),
    now: systemClock,
    stores: createNotes,
    connections,
  })
  return {
    database,
    async peek(wanted) {
      const { rows } = await other.send('SELECT value FROM notes WHERE name = $1', [wanted])
      return (rows[0]?.value as string | undefined) ?? null
    },
    close: () => database.close(),
  }
}

// One connection is for reads alone.
describeEngine('PostgreSQL', open, { light: connections - 1, heavy: connections / 4 })

test('PostgreSQL: an operation is answered while more heavy ones are open than there are connections', async () => {
  const { database, peek, close } = await open()
  const gate = Promise.withResolvers<void>()
  const heavy = Array.from({ length: 2 * connections }, (_, at) =>
    database.transact({ roots: 'none', rows: limits.mintCountMax }, async (tx) => {
      await tx.put(`heavy ${at}`, '1')
      await gate.promise
    }),
  )
  try {
    await database.transact({ roots: 'none' }, (tx) => tx.put('light', '1'))
    expect([await peek('light'), await peek('heavy 0')]).toEqual(['1', null])
  } finally {
    gate.resolve()
    await Promise.allSettled(heavy)
    await close()
  }
  expect(await peek(`heavy ${heavy.length - 1}`)).toBe('1')
})

test('PostgreSQL: a broken rule of an operation that nobody awaited is a fault, and not the end of the service', async () => {
  const name = await databases.create()
  const other = await databases.connect(name)
  await other.send(
    'CREATE TABLE done (id BIGINT PRIMARY KEY CHECK (id < 9), at BIGINT NOT NULL)',
    [],
  )
  const database = new PostgresEngine({
    url: databases.server.url(name),
    now: systemClock,
    stores: (sql) =>
      sql.query<null, [number, number | null]>('INSERT INTO done (id, at) VALUES (?, ?)'),
  })
  const post = (id: number, at: number | null) =>
    database.transact({ roots: 'none' }, async (tx) => tx.run(id, at)).catch((cause) => cause)
  for (const [id, at, code] of [
    [9, 1, '23514'],
    [1, null, '23502'],
  ] as const) {
    const cause = await post(id, at)
    expect(cause).toBeInstanceOf(StatementFailed)
    expect(cause.code).toBe(code)
  }
  await other.send(`INSERT INTO facts (name, value) VALUES ('moved-to', 'file')`, [])
  // Of both reasons the operation's own comes first.
  expect([(await post(9, 1)).code, (await post(1, 1)).code]).toEqual(['23514', 'moved'])
  await Promise.all([database.close(), other.end()])
})

test('PostgreSQL: a broken rule of a count, which goes along with the proof of the commit, is a fault', async () => {
  const database = new PostgresEngine({
    url: databases.server.url(await databases.create()),
    now: systemClock,
    stores: (sql) => {
      const keys = { definition_id: '?1', expires_at: '?2' }
      return sql.query<null, [number, number | null]>(
        sql.counters.add('expiries', { keys, by: { open: '1' } }),
      )
    },
  })
  const cause = await database
    .transact({ roots: 'none' }, async (tx) => tx.run(1, null))
    .catch((failed) => failed)
  expect(cause).toBeInstanceOf(StatementFailed)
  expect([cause.code, cause.table]).toEqual(['23502', 'counter_changes'])
  await database.close()
})
