import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, afterEach, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import schema from '../../schema.sql' with { type: 'text' }
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { createImageStore } from '../../src/coupons/image-store.ts'
import { createSql } from '../../src/db/connection.ts'
import { takeLock } from '../../src/db/lock.ts'
import { couponSchema, migrate, NewerSchema, versionOf } from '../../src/db/migrations.ts'
import type { Sql } from '../../src/db/sql.ts'
import { openConnection, SqliteEngine } from '../../src/db/sqlite.ts'
import { describeEngine, type Notes } from '../fault/engine-contract.ts'
import firstSchema from '../support/schema-1.sql' with { type: 'text' }
import { cleanUp, newDirectory } from '../support/server.ts'

const schemaVersion = versionOf(couponSchema)
const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(cleanUp)

describeEngine('SQLite', () => {
  const { engine, peek, close } = openNotes(newFile())
  return { database: engine, peek, close }
})

const failures = [
  {
    name: 'a full disk',
    code: 'SQLITE_FULL',
    // Not a page more than there are; what fits into those is not refused.
    break: (sql: Sql) => sql.query<null, []>('PRAGMA max_page_count = 1').run(),
  },
  {
    name: 'a disk that is read-only',
    code: 'SQLITE_READONLY',
    break: (sql: Sql) => sql.query<null, []>('PRAGMA query_only = ON').run(),
  },
]
for (const failure of failures) {
  test(`${failure.name} rejects exactly the operations of the batch, and it recovers by itself`, async () => {
    const failed: [unknown, number][] = []
    const disk = { broken: false }
    const { engine, writer, peek } = openNotes(newFile(), {
      failed: (cause, operations) => failed.push([cause, operations]),
      connected: (connection) => disk.broken && failure.break(connection),
    })
    const big = 'x'.repeat(20_000)
    await engine.transact((tx) => tx.put('before', '1'))

    disk.broken = true
    failure.break(writer())
    const settled = await Promise.allSettled([
      engine.transact((tx) => tx.put('small', '1')),
      engine.transact((tx) => tx.put('big', big)),
    ])
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(settled.map((one) => codeOf((one as PromiseRejectedResult).reason))).toEqual([
      failure.code,
      failure.code,
    ])
    expect(failed.map(([cause, operations]) => [codeOf(cause), operations])).toEqual([
      [failure.code, 2],
    ])
    expect(await engine.snapshot((tx) => tx.find('before'))).toBe('1')
    const again = engine.transact((tx) => tx.put('big', big))
    expect(codeOf(await again.catch((cause: unknown) => cause))).toBe(failure.code)
    expect(await engine.snapshot((tx) => tx.count())).toBe(1)

    disk.broken = false
    await engine.transact((tx) => tx.put('big', big))
    expect([peek('before'), peek('small'), peek('big')]).toEqual(['1', null, big])
  })
}

test('a file that cannot even be opened again rejects, and works once it can', async () => {
  const disk = { gone: false }
  const { engine, peek } = openNotes(newFile(), {
    connected() {
      if (disk.gone) throw new Error('no such file')
    },
  })
  await expect(engine.transact(() => Bun.sleep(5))).rejects.toThrow('awaited')
  disk.gone = true
  for (let turn = 0; turn < 3; turn++) {
    await expect(engine.transact((tx) => tx.put('a', '1'))).rejects.toThrow('no such file')
  }
  disk.gone = false
  await engine.transact((tx) => tx.put('a', '2'))
  expect(peek('a')).toBe('2')
})

test('a clock behind the newest write refuses writes, reads go on, and it ends with the clock', async () => {
  const path = newFile()
  const clock = { now: 1_800_000_000 }
  const { engine } = openNotes(path, { now: () => clock.now })
  await engine.transact((tx) => tx.put('a', '1'))
  clock.now -= limits.clockBackSeconds
  await engine.transact((tx) => tx.put('a', '2'))
  expect(engine.clockBehind).toBe(false)

  clock.now -= 1
  expect(engine.clockBehind).toBe(true)
  const refusal = await engine.transact((tx) => tx.put('a', '3')).catch((cause: unknown) => cause)
  expect(refusal).toBeInstanceOf(Refusal)
  expect((refusal as Refusal).code).toBe('clock-behind')
  expect(await engine.snapshot((tx) => tx.find('a'))).toBe('2')

  clock.now += 1
  await engine.transact((tx) => tx.put('a', '4'))
  expect(await engine.snapshot((tx) => tx.find('a'))).toBe('4')
})

test('the newest write is known to the next process, closed clean or not', async () => {
  const path = newFile()
  const clock = { now: 1_800_000_000 }
  const now = () => clock.now
  const first = openNotes(path, { now })
  await first.engine.transact((tx) => tx.put('a', '1'))
  clock.now += limits.clockBackSeconds + 1
  await first.engine.transact((tx) => tx.put('a', '2'))
  // As after a kill: another process opens the file, and nobody has closed it.
  const second = openNotes(path, { now })
  clock.now -= 2 * limits.clockBackSeconds + 2
  expect(second.engine.clockBehind).toBe(true)
  clock.now += 2 * limits.clockBackSeconds + 2
  await second.close()
  await first.close()
  clock.now -= limits.clockBackSeconds + 1
  expect(openNotes(path, { now }).engine.clockBehind).toBe(true)
})

test('closing marks the file clean and leaves no WAL; a process that dies leaves it unclean', async () => {
  const path = newFile()
  const first = openNotes(path)
  expect(first.engine.cleanStart).toBe(true)
  await first.engine.transact((tx) => tx.put('a', '1'))
  const second = openNotes(path)
  expect(second.engine.cleanStart).toBe(false)
  await second.close()
  await first.close()
  expect(existsSync(`${path}-wal`)).toBe(false)
  expect(openNotes(path).engine.cleanStart).toBe(true)
})

test('an unclean stop stays known until a check has found nothing', async () => {
  const path = newFile()
  // Left open, as by a process that was killed.
  openNotes(path)
  for (const problems of [null, 2, 0]) {
    const next = openNotes(path)
    expect(next.engine.cleanStart).toBe(false)
    if (problems !== null) next.engine.checked(problems)
    await next.close()
  }
  expect(openNotes(path).engine.cleanStart).toBe(true)
})

test('a commit is synchronous at the level FULL, in WAL mode, with foreign keys and secure delete', () => {
  const connection = openConnection(newFile())
  const pragma = (name: string) => Object.values(connection.query(`PRAGMA ${name}`).get() ?? {})[0]
  expect({
    journal: pragma('journal_mode'),
    synchronous: pragma('synchronous'),
    foreignKeys: pragma('foreign_keys'),
    secureDelete: pragma('secure_delete'),
    checkpoint: pragma('wal_autocheckpoint'),
  }).toEqual({
    journal: 'wal',
    synchronous: 2,
    foreignKeys: 1,
    secureDelete: 1,
    checkpoint: 1000,
  })
  connection.close()
})

test('a schema newer than the program stops the start and leaves the file as it is', () => {
  const path = newFile()
  const connection = new Sqlite(path)
  connection.run(`PRAGMA user_version = ${schemaVersion + 1}`)
  const before = schemaOf(connection)
  expect(() => openNotes(path)).toThrow(NewerSchema)
  expect([userVersion(connection), schemaOf(connection)]).toEqual([schemaVersion + 1, before])
  connection.close()
})

test('a new file gets schema.sql, and migrating once more changes nothing', () => {
  const created = new Sqlite(':memory:')
  migrate(created, couponSchema)
  const text = new Sqlite(':memory:')
  text.run(schema)
  expect(schemaOf(created)).toEqual(schemaOf(text))
  expect(userVersion(created)).toBe(schemaVersion)
  migrate(created, couponSchema)
  expect(schemaOf(created)).toEqual(schemaOf(text))
})

test('every version before the present one has a way to it', () => {
  for (let version = 1; version < schemaVersion; version++) {
    const old = new Sqlite(':memory:')
    old.run(`PRAGMA user_version = ${version}`)
    expect(() => migrate(old, couponSchema)).not.toThrow('no way')
    old.close()
  }
})

test('what waits for relays goes on waiting in a file of version 11', () => {
  const old = new Sqlite(':memory:')
  old.run(firstSchema)
  migrate(old, { ...couponSchema, text: 'PRAGMA user_version = 11;' })
  old.run("INSERT INTO outbox VALUES (1, zeroblob(32), '{}', 2, 1, 9, NULL)")
  old.run("INSERT INTO deliveries VALUES (1, 'ws://a', 'pending', 3, 5, 'no answer')")
  migrate(old, couponSchema)
  const kept = { outbox_id: 1, relay: 'ws://a', state: 'pending', attempts: 3, next_at: 5 }
  expect(old.query('SELECT * FROM deliveries').all()).toEqual([
    { ...kept, last_error: 'no answer', priority: 2 },
  ])
})

test('what a card has spent in a file of version 14 counts for who held it at the tap', () => {
  const old = new Sqlite(':memory:')
  old.run(firstSchema)
  migrate(old, { ...couponSchema, text: 'PRAGMA user_version = 14;' })
  old.run(`INSERT INTO cards (id, uuid, cid, key_version, counter, design_uuid, design_name, name,
        holder, delegation, created_at, activated_at)
      VALUES (1, '${'a'.repeat(36)}', zeroblob(7), 1, 0, '${'b'.repeat(36)}', '', '',
        unhex('${'22'.repeat(32)}'), x'00', 1, 1);
    INSERT INTO card_scans (k1_hash, card_id, holder, form, maxima, state, created_at, expires_at)
      VALUES (zeroblob(16), 1, unhex('${'11'.repeat(32)}'), 'extended', '{}', 'used', 1, 2);
    INSERT INTO card_payments (id, k1_hash, request, card_id, recipient, amounts, start_id, ledger, state,
        created_at, expires_at, ended_at)
      VALUES (1, zeroblob(16), randomblob(32), 1, zeroblob(32), '{}', randomblob(32), zeroblob(32), 'settled', 1, 2, 3),
        (2, randomblob(16), randomblob(32), 1, zeroblob(32), '{}', randomblob(32), zeroblob(32), 'released', 1, 2, 3);
    INSERT INTO card_spends VALUES (1, 1, 'ARS', 5, 1, 1), (2, 1, 'ARS', 6, 1, 0)`)
  migrate(old, couponSchema)
  const rows = old.query('SELECT lower(hex(holder)), amount, counts FROM card_spends').values()
  expect(rows).toEqual([
    ['11'.repeat(32), 5, 1],
    ['22'.repeat(32), 6, 0],
  ])
})

test('a file of version 1 becomes what a new file is, and keeps its rows', () => {
  const old = new Sqlite(':memory:')
  old.run(firstSchema)
  old.run("INSERT INTO facts VALUES ('manager', 'x')")
  migrate(old, couponSchema)
  const created = new Sqlite(':memory:')
  migrate(created, couponSchema)
  expect(schemaOf(old)).toEqual(schemaOf(created))
  expect(userVersion(old)).toBe(schemaVersion)
  expect(old.query('SELECT events, bytes FROM outbox_load').all()).toEqual([
    { events: 0, bytes: 0 },
  ])
  expect(old.query('SELECT name FROM facts').all()).toEqual([{ name: 'manager' }])
})

test('the hourly counters of an older file are counted from its vouchers', () => {
  const old = new Sqlite(':memory:')
  old.run('PRAGMA foreign_keys = ON')
  old.run(firstSchema)
  old.run(`BEGIN;
    INSERT INTO definitions (id, uuid, owner, revision_id, issued, claimed, created_at, updated_at)
      VALUES (1, '${'a'.repeat(36)}', zeroblob(32), 1, 3, 2, 1, 1),
        (2, '${'b'.repeat(36)}', zeroblob(32), 2, 1, 0, 1, 1);
    INSERT INTO revisions (id, definition_id, issued_before, name, description, benefit)
      VALUES (1, 1, 0, '', '', '{}'), (2, 2, 0, '', '', '{}');
    INSERT INTO vouchers (id, handle, definition_id, revision_id, root_id, minted_by, minted_at, phase, ended_at)
      VALUES (1, randomblob(16), 1, 1, NULL, zeroblob(32), 3599, 'claimed', 3600),
        (2, randomblob(16), 1, 1, NULL, zeroblob(32), 3600, 'refreshed', 7200),
        (3, randomblob(16), 1, 1, 2, zeroblob(32), 7200, 'claimed', 7201),
        (4, randomblob(16), 1, 1, NULL, zeroblob(32), 7199, 'voided', 7201),
        (5, randomblob(16), 2, 2, NULL, zeroblob(32), 0, 'minted', NULL);
    COMMIT`)
  migrate(old, couponSchema)
  expect(old.query('SELECT * FROM hourly').values()).toEqual([
    [1, 0, 1, 0],
    [1, 1, 2, 1],
    [1, 2, 0, 1],
    [2, 0, 1, 0],
  ])
})

test('the images that an older file names are found by their hash', async () => {
  const old = new Sqlite(':memory:')
  old.run(firstSchema)
  const image = 'https://shop.example/a.png'
  old.run(`INSERT INTO revisions (definition_id, issued_before, name, description, image, benefit)
    VALUES (1, 0, '', '', '${image}', '{}'), (2, 0, '', '', '${image}', '{}'), (3, 0, '', '', NULL, '{}')`)
  migrate(old, couponSchema)
  const hash = createHash('sha256').update(image).digest('hex')
  expect(await createImageStore(createSql(old)).find(hash)).toMatchObject({ url: image })
  expect(old.query('SELECT count(*) FROM images').values()).toEqual([[1]])
})

test('a version nobody knows a way from stops the start and changes nothing', () => {
  const connection = new Sqlite(':memory:')
  connection.run('PRAGMA user_version = -1')
  expect(() => migrate(connection, couponSchema)).toThrow('no way from schema -1')
  expect([userVersion(connection), tablesOf(connection)]).toEqual([-1, []])
  connection.close()
})

test('a schema that fails half way leaves an empty file, not half a schema', () => {
  const connection = new Sqlite(join(newDirectory(), 'half.db'))
  // In the way of the last statements of schema.sql.
  connection.run('CREATE TABLE answers (id INTEGER NOT NULL PRIMARY KEY)')
  expect(() => migrate(connection, couponSchema)).toThrow()
  expect([userVersion(connection), tablesOf(connection)]).toEqual([0, ['answers']])
  connection.close()
})

test('the lock keeps a second holder out until it is released', () => {
  const path = join(newDirectory(), 'lock')
  const held = takeLock(path)
  expect(held).not.toBeNull()
  expect(takeLock(path)).toBeNull()
  held?.release()
  const next = takeLock(path)
  expect(next).not.toBeNull()
  next?.release()
})

type Hooks = {
  now?: () => number
  failed?: (cause: unknown, operations: number) => void
  /** Called with each connection the engine opens. */
  connected?: (sql: Sql) => unknown
}

/** The engine on a file that has a table of notes. */
function openNotes(path: string, hooks: Hooks = {}) {
  const connections: Sql[] = []
  const writer = () => connections[connections.length === 2 ? 0 : connections.length - 1] as Sql
  const engine = new SqliteEngine<Notes>({
    path,
    schema: couponSchema,
    now: hooks.now ?? (() => 1_800_000_000),
    events: { committed: () => undefined, failed: hooks.failed ?? (() => undefined) },
    stores(connection) {
      hooks.connected?.(connection)
      connections.push(connection)
      return createNotes(connection)
    },
  })
  let closed = false
  const close = async () => {
    if (closed) return
    closed = true
    await engine.close()
  }
  closers.push(close)
  const peek = (name: string): string | null => {
    const other = new Sqlite(path, { readonly: true })
    const row = other.query<{ value: string }, [string]>('SELECT value FROM notes WHERE name = ?')
    const value = row.get(name)?.value ?? null
    other.close()
    return value
  }
  return { engine, writer, peek, close }
}

function createNotes(sql: Sql): Notes {
  const put = sql.query<null, [string, string]>('INSERT OR REPLACE INTO notes VALUES (?, ?)')
  const insert = sql.query<null, [string, string]>('INSERT INTO notes VALUES (?, ?)')
  const find = sql.query<{ value: string }, [string]>('SELECT value FROM notes WHERE name = ?')
  const count = sql.query<{ n: number }, []>('SELECT count(*) AS n FROM notes')
  return {
    async put(name, value) {
      put.run(name, value)
    },
    async insert(name, value) {
      insert.run(name, value)
    },
    async find(name) {
      return (await find.get(name))?.value ?? null
    },
    async count() {
      return (await count.get())?.n ?? 0
    },
  }
}

/** A file of its own, with the product's schema and a table of notes beside it. */
function newFile(): string {
  const path = join(newDirectory(), 'notes.db')
  const connection = openConnection(path)
  migrate(connection, couponSchema)
  connection.run('CREATE TABLE notes (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT')
  connection.close()
  return path
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : cause
}

function userVersion(connection: Sqlite): number {
  return connection.query<{ user_version: number }, []>('PRAGMA user_version').get()!.user_version
}

function tablesOf(connection: Sqlite): string[] {
  const rows = connection.query<{ name: string }, []>('SELECT name FROM sqlite_master')
  return rows.all().map(({ name }) => name)
}

function schemaOf(connection: Sqlite): unknown[] {
  return connection.query('SELECT type, name, sql FROM sqlite_master ORDER BY type, name').all()
}
