import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, afterEach, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import { OperatorError } from '../../src/base/operator-error.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { takeLock } from '../../src/db/lock.ts'
import { couponSchema, migrate, versionOf } from '../../src/db/migrations.ts'
import { Reader, StalledOperation } from '../../src/db/reader.ts'
import type { Sql } from '../../src/db/sql.ts'
import { openConnection, SqliteEngine } from '../../src/db/sqlite.ts'
import { createNotes } from '../contract/notes.ts'
import { describeEngine, describeSerialEngine, type Notes } from '../contract/port.ts'
import { closeOnce, peekAtNote } from '../support/note-file.ts'
import oldestSchema from '../support/schema-15.sql' with { type: 'text' }
import { cleanUp, newDirectory } from '../support/server.ts'

const schemaVersion = versionOf(couponSchema)
/** A page in the log, with its header. */
const frameBytes = 4096 + 24
const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(cleanUp)

const openEmpty = () => {
  const { engine, peek, close } = openNotes(newFile())
  return { database: engine, peek, close }
}
describeEngine('SQLite', openEmpty)
describeSerialEngine('SQLite', openEmpty)

const failures = [
  {
    name: 'a full disk',
    code: 'SQLITE_FULL',
    // No page beyond the present ones; writes that fit into those are not refused.
    break: (sql: Sql) => sql.query<null, []>('PRAGMA max_page_count = 1').run(),
  },
  {
    name: 'a disk that is read-only',
    code: 'SQLITE_READONLY',
    break: (sql: Sql) => sql.query<null, []>('PRAGMA query_only = ON').run(),
  },
]
test('a listener that fails keeps nobody from the answer', async () => {
  const failed: string[] = []
  const committed = () => {
    throw new Error('no metric')
  }
  const hooks = { committed, failed: (cause: unknown) => failed.push(String(cause)) }
  const { engine } = openNotes(newFile(), hooks)
  const put = (name: string) => engine.transact({ roots: 'none' }, (tx) => tx.put(name, '1'))
  await put('a')
  await put('b')
  expect(failed).toEqual(['Error: no metric', 'Error: no metric'])
})

for (const failure of failures) {
  test(`${failure.name} rejects exactly the operations of the batch, and it recovers by itself`, async () => {
    const failed: [unknown, number][] = []
    const disk = { broken: false }
    const { engine, writer, peek } = openNotes(newFile(), {
      failed: (cause, operations) => failed.push([cause, operations]),
      connected: (connection) => disk.broken && failure.break(connection),
    })
    const big = 'x'.repeat(20_000)
    await engine.transact({ roots: 'none' }, (tx) => tx.put('before', '1'))

    disk.broken = true
    failure.break(writer())
    const settled = await Promise.allSettled([
      engine.transact({ roots: 'none' }, (tx) => tx.put('small', '1')),
      engine.transact({ roots: 'none' }, (tx) => tx.put('big', big)),
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
    const again = engine.transact({ roots: 'none' }, (tx) => tx.put('big', big))
    expect(codeOf(await again.catch((cause: unknown) => cause))).toBe(failure.code)
    expect(await engine.snapshot((tx) => tx.count())).toBe(1)

    disk.broken = false
    await engine.transact({ roots: 'none' }, (tx) => tx.put('big', big))
    expect([peek('before'), peek('small'), peek('big')]).toEqual(['1', null, big])
  })
}

test('a file that cannot be opened again refuses operations, and works once it can be opened', async () => {
  const disk = { gone: false }
  const { engine, peek } = openNotes(newFile(), {
    connected() {
      if (disk.gone) throw new Error('no such file')
    },
  })
  await expect(engine.transact({ roots: 'none' }, () => Bun.sleep(5))).rejects.toThrow('awaited')
  disk.gone = true
  for (let turn = 0; turn < 3; turn++) {
    await expect(engine.transact({ roots: 'none' }, (tx) => tx.put('a', '1'))).rejects.toThrow(
      'no such file',
    )
  }
  disk.gone = false
  await engine.transact({ roots: 'none' }, (tx) => tx.put('a', '2'))
  expect(peek('a')).toBe('2')
})

test('a clock behind the newest write refuses writes but not reads, until it has caught up', async () => {
  const path = newFile()
  const clock = { now: 1_800_000_000 }
  const { engine } = openNotes(path, { now: () => clock.now })
  await engine.transact({ roots: 'none' }, (tx) => tx.put('a', '1'))
  clock.now -= limits.clockBackSeconds
  await engine.transact({ roots: 'none' }, (tx) => tx.put('a', '2'))
  expect(engine.clockBehind).toBe(false)

  clock.now -= 1
  expect(engine.clockBehind).toBe(true)
  const refusal = await engine
    .transact({ roots: 'none' }, (tx) => tx.put('a', '3'))
    .catch((cause: unknown) => cause)
  expect(refusal).toBeInstanceOf(Refusal)
  expect((refusal as Refusal).code).toBe('clock-behind')
  expect(await engine.snapshot((tx) => tx.find('a'))).toBe('2')

  clock.now += 1
  await engine.transact({ roots: 'none' }, (tx) => tx.put('a', '4'))
  expect(await engine.snapshot((tx) => tx.find('a'))).toBe('4')
})

test('a read sees what another connection wrote before it, in the same turn of the event loop, too', async () => {
  const path = newFile()
  const { engine } = openNotes(path)
  await engine.transact({ roots: 'none' }, (tx) => tx.put('a', '1'))
  expect(await engine.snapshot((tx) => tx.find('a'))).toBe('1')
  const other = new Sqlite(path)
  other.run("UPDATE notes SET value = '2' WHERE name = 'a'")
  expect(await engine.look((tx) => tx.find('a'))).toBe('2')
  other.run("UPDATE notes SET value = '3' WHERE name = 'a'")
  other.close()
  expect(await engine.snapshot((tx) => tx.find('a'))).toBe('3')
})

test('a look keeps no state: another connection can fold the whole log behind it', async () => {
  const path = newFile()
  const { engine } = openNotes(path)
  await engine.transact({ roots: 'none' }, (tx) => tx.put('a', '1'))
  expect(await engine.look((tx) => tx.find('a'))).toBe('1')
  const other = new Sqlite(path)
  expect(other.query('PRAGMA wal_checkpoint(TRUNCATE)').get()).toMatchObject({ busy: 0, log: 0 })
  other.close()
})

test('looks of one turn share a state, that of the end of their turn', async () => {
  const path = newFile()
  const { engine } = openNotes(path)
  await engine.transact({ roots: 'none' }, (tx) => tx.put('a', '1'))
  const other = new Sqlite(path)
  const write = (value: string) => other.run('UPDATE notes SET value = ?', [value])
  const looks = [
    engine.look(async (tx) => {
      const found = tx.find('a')
      write('3')
      return await found
    }),
  ]
  write('2')
  looks.push(engine.look((tx) => tx.find('a')))
  expect(await Promise.all(looks)).toEqual(['2', '2'])
  expect(await engine.look((tx) => tx.find('a'))).toBe('3')
  expect(other.query('PRAGMA wal_checkpoint(TRUNCATE)').get()).toMatchObject({ busy: 0, log: 0 })
  other.close()
})

test('a look that is alone waits again for others when as many as allowed have run at once', async () => {
  const path = newFile()
  const { engine } = openNotes(path)
  await engine.transact({ roots: 'none' }, (tx) => tx.put('a', '0'))
  const other = new Sqlite(path)
  let written = 0
  /** True if a look waits for the end of its turn, so that it sees what is written behind it. */
  const waits = async () => {
    const look = engine.look((tx) => tx.find('a'))
    other.run('UPDATE notes SET value = ?', [String(++written)])
    return (await look) === String(written)
  }
  const every = limits.looksAtOnce + 1
  const waited: boolean[] = []
  while (waited.length <= 2 * every) waited.push(await waits())
  expect(waited.flatMap((one, at) => (one ? [at] : []))).toEqual([0, every, 2 * every])
  other.close()
})

test('looks that wait run before the operations of their turn, and are answered', async () => {
  const { engine } = openNotes(newFile())
  const done: string[] = []
  const written = engine.transact({ roots: 'none' }, async (tx) => {
    done.push('operation')
    await tx.put('a', '1')
  })
  const answer = async () => {
    const found = await engine.look((tx) => {
      done.push('look')
      return tx.find('a')
    })
    // An answer goes through some promises before it leaves.
    for (let step = 0; step < 20; step++) await null
    done.push('answer')
    return found
  }
  expect(await answer()).toBeNull()
  await written
  expect(done).toEqual(['look', 'answer', 'operation'])
})

test('a look beside a snapshot sees what was written since that began', async () => {
  const path = newFile()
  const { engine } = openNotes(path)
  await engine.transact({ roots: 'none' }, (tx) => tx.put('a', '1'))
  const other = new Sqlite(path)
  // Looks run at once from here on.
  await engine.look((tx) => tx.find('a'))
  let looked: Promise<string | null> | undefined
  const snapshot = engine.snapshot(async (tx) => {
    await tx.find('a')
    other.run("UPDATE notes SET value = '2'")
    looked = engine.look((beside) => beside.find('a'))
    return await tx.find('a')
  })
  expect([await snapshot, await looked]).toEqual(['1', '2'])
  other.close()
})

test('a snapshot that stalls does not fail the looks beside it', async () => {
  const { engine } = openNotes(newFile())
  await engine.transact({ roots: 'none' }, (tx) => tx.put('a', '1'))
  const held = Promise.withResolvers<void>()
  const snapshot = engine.snapshot(async (tx) => {
    await tx.find('a')
    await held.promise
  })
  const find = () => engine.look((tx) => tx.find('a'))
  expect(await Promise.all([find(), find()])).toEqual(['1', '1'])
  held.resolve()
  await expect(snapshot).rejects.toBeInstanceOf(StalledOperation)
})

test('a look that ends the transaction leaves the others of its turn their answers', async () => {
  const connection = openConnection(newFile())
  closers.push(() => reader.close())
  const reader = new Reader(connection, (sql) => sql)
  const find = ({ query }: Sql) => query<{ one: number }, []>('SELECT 1 AS one').get()
  const ending = reader.look((sql) => {
    const found = find(sql)
    connection.run('ROLLBACK')
    return found
  })
  const look = () => reader.look(find)
  expect(await Promise.all([ending, look(), look()])).toEqual([{ one: 1 }, { one: 1 }, { one: 1 }])
  expect(connection.inTransaction).toBe(false)
})

test('a look that fails rejects alone, and the next turn begins anew', async () => {
  const { engine } = openNotes(newFile())
  const bug = new Error('a mistake in the look')
  const failing = () => {
    throw bug
  }
  const find = () => engine.look((tx) => tx.find('a'))
  const settled = await Promise.allSettled([find(), engine.look(failing), find()])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(settled[1]).toHaveProperty('reason', bug)
  expect(await Promise.all([find(), find()])).toEqual([null, null])
})

test('looks that wait are answered before the file is closed', async () => {
  for (const count of [1, 2]) {
    const { engine, close } = openNotes(newFile())
    await engine.transact({ roots: 'none' }, (tx) => tx.put('a', '1'))
    const looks = Array.from({ length: count }, () => engine.look((tx) => tx.find('a')))
    await close()
    expect(await Promise.all(looks)).toEqual(looks.map(() => '1'))
    await expect(engine.look((tx) => tx.find('a'))).rejects.toThrow('closed')
  }
})

test('a look that does not begin with its only statement is a fault', async () => {
  const { engine } = openNotes(newFile())
  const late = engine.look(async (tx) => {
    await Promise.resolve()
    return tx.find('a')
  })
  await expect(late).rejects.toBeInstanceOf(StalledOperation)
  const both = engine.look((tx) => Promise.all([tx.find('a'), tx.count()]))
  await expect(both).rejects.toBeInstanceOf(StalledOperation)
  expect(await engine.look((tx) => tx.find('a'))).toBeNull()
})

test('a snapshot whose begin failed leaves a transaction to the next one', async () => {
  const connection = openConnection(newFile())
  const reader = new Reader(connection, () => connection)
  connection.run('BEGIN')
  const failed = await reader.snapshot(async () => null).catch((cause: unknown) => codeOf(cause))
  expect(failed).toBe('SQLITE_ERROR')
  connection.run('COMMIT')
  expect(await reader.snapshot(async ({ inTransaction }) => inTransaction)).toBe(true)
  expect(connection.inTransaction).toBe(false)
  reader.close()
})

test('the time of the newest write is known to the next process, after a clean close or not', async () => {
  const path = newFile()
  const clock = { now: 1_800_000_000 }
  const now = () => clock.now
  const first = openNotes(path, { now })
  await first.engine.transact({ roots: 'none' }, (tx) => tx.put('a', '1'))
  clock.now += limits.clockBackSeconds + 1
  await first.engine.transact({ roots: 'none' }, (tx) => tx.put('a', '2'))
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

test('closing marks the file clean and leaves no WAL; a killed process leaves it unclean', async () => {
  const path = newFile()
  const first = openNotes(path)
  expect(first.engine.cleanStart).toBe(true)
  await first.engine.transact({ roots: 'none' }, (tx) => tx.put('a', '1'))
  const second = openNotes(path)
  expect(second.engine.cleanStart).toBe(false)
  await second.close()
  await first.close()
  expect(existsSync(`${path}-wal`)).toBe(false)
  expect(openNotes(path).engine.cleanStart).toBe(true)
})

test('an unclean stop stays recorded until a check has found nothing', async () => {
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
    checkpoint: 0,
  })
  connection.close()
})

test('the transaction of reads ends before a commit, so that it sees that commit and the WAL begins anew', async () => {
  const path = newFile()
  const { engine } = openNotes(path)
  // SQLite writes no page that stays as it was.
  for (let turn = 0; turn < 40; turn++) {
    const value = String(turn).padStart(8, 'x').repeat(200_000)
    await engine.transact({ roots: 'none' }, (tx) => tx.put('big', value))
    expect(await engine.snapshot((tx) => tx.find('big'))).toBe(value)
  }
  // 64 MB were written. The log is folded at 8.
  expect(statSync(`${path}-wal`).size).toBeLessThan(1.25 * limits.logFramesMax * frameBytes)
})

test('a schema newer than the program stops the start and leaves the file as it is', () => {
  const path = newFile()
  const connection = new Sqlite(path)
  connection.run(`PRAGMA user_version = ${schemaVersion + 1}`)
  const before = schemaOf(connection)
  expect(() => openNotes(path)).toThrow(OperatorError)
  expect([userVersion(connection), schemaOf(connection)]).toEqual([schemaVersion + 1, before])
  connection.close()
})

test('a new file gets schema.sql, and a second migration changes nothing', () => {
  const created = new Sqlite(':memory:')
  migrate(created, couponSchema)
  const text = new Sqlite(':memory:')
  text.run(couponSchema.text)
  expect(schemaOf(created)).toEqual(schemaOf(text))
  expect(userVersion(created)).toBe(schemaVersion)
  migrate(created, couponSchema)
  expect(schemaOf(created)).toEqual(schemaOf(text))
})

test('every version since 15 has migration steps to the present one', () => {
  for (let version = 15; version < schemaVersion; version++) {
    const old = new Sqlite(':memory:')
    old.run(`PRAGMA user_version = ${version}`)
    expect(() => migrate(old, couponSchema)).not.toThrow('no way')
    old.close()
  }
})

test('an older version stops the start, changes nothing, and names the last program that reads it', () => {
  for (let version = 1; version < 15; version++) {
    const old = new Sqlite(':memory:')
    old.run(`CREATE TABLE kept (x); PRAGMA user_version = ${version}`)
    expect(() => migrate(old, couponSchema)).toThrow(
      new OperatorError(
        `the database has schema ${version}, which Cuponera 0.1.0 is the last to read: start that on it once`,
      ),
    )
    expect([userVersion(old), tablesOf(old)]).toEqual([version, ['kept']])
    old.close()
  }
})

test('a file of version 15 gets the schema of a new file, and keeps its rows', () => {
  const old = new Sqlite(':memory:')
  old.run(oldestSchema)
  old.run("INSERT INTO facts VALUES ('manager', 'x')")
  old.run("INSERT INTO requests VALUES (1, zeroblob(32), NULL, 9), (2, randomblob(32), x'00', 9)")
  migrate(old, couponSchema)
  const created = new Sqlite(':memory:')
  migrate(created, couponSchema)
  expect(schemaOf(old)).toEqual(schemaOf(created))
  expect(userVersion(old)).toBe(schemaVersion)
  expect(old.query('SELECT name FROM facts').all()).toEqual([{ name: 'manager' }])
  expect(old.query('SELECT rows FROM request_load').all()).toEqual([{ rows: 2 }])
})

test('waiting deliveries of a file of version 15 go on waiting', () => {
  const old = new Sqlite(':memory:')
  old.run(oldestSchema)
  old.run("INSERT INTO outbox VALUES (1, zeroblob(32), '{}', 2, 1, 9, NULL)")
  const waiting = "'pending', 3, 5, 'no answer'"
  old.run(`INSERT INTO deliveries (outbox_id, relay, state, attempts, next_at, last_error, suspect, lane)
    VALUES (1, 'ws://a', ${waiting}, 0, 0), (1, 'ws://b', ${waiting}, 0, 2), (1, 'ws://c', ${waiting}, 1, 1)`)
  migrate(old, couponSchema)
  const kept = { outbox_id: 1, state: 'pending', attempts: 3, next_at: 5, last_error: 'no answer' }
  expect(old.query('SELECT * FROM deliveries ORDER BY relay').all()).toEqual([
    { ...kept, relay: 'ws://a', priority: 0 },
    { ...kept, relay: 'ws://b', priority: 2 },
    { ...kept, relay: 'ws://c', priority: 3 },
  ])
})

test('redemptions of a file of version 15 count for a till without a key', () => {
  const old = new Sqlite(':memory:')
  old.run(oldestSchema)
  old.run('PRAGMA foreign_keys = OFF')
  const definition = (id: number, owner: string) =>
    old.run(`INSERT INTO definitions (id, uuid, owner, revision_id, created_at, updated_at)
      VALUES (${id}, hex(zeroblob(17)) || '0${id}', x'${owner.repeat(64)}', 1, 1, 1)`)
  definition(1, 'a')
  definition(2, 'a')
  definition(3, 'b')
  old.run('INSERT INTO hourly VALUES (1, 7, 3, 2), (2, 7, 1, 1), (2, 8, 1, 1), (3, 7, 1, 0)')
  migrate(old, couponSchema)
  const hours = old.query(
    `SELECT lower(hex(owner)) AS owner, sum(pubkey = zeroblob(32)) AS tills, hour, claimed
     FROM tills JOIN till_hours ON till_id = id GROUP BY owner, hour`,
  )
  expect(hours.all()).toEqual([
    { owner: 'a'.repeat(64), tills: 1, hour: 7, claimed: 3 },
    { owner: 'a'.repeat(64), tills: 1, hour: 8, claimed: 1 },
  ])
})

test('open vouchers of a file of version 15 are counted by their expiry', () => {
  const old = new Sqlite(':memory:')
  old.run(oldestSchema)
  old.run('PRAGMA foreign_keys = OFF')
  for (const [id, expiresAt] of [
    [1, '50'],
    [2, '60'],
    [3, 'NULL'],
    [4, '50'],
  ]) {
    old.run(`INSERT INTO revisions (id, definition_id, issued_before, name, description, benefit, expires_at)
      VALUES (${id}, ${id === 4 ? 2 : 1}, 0, 'x', '', '{}', ${expiresAt})`)
  }
  const voucher = (id: number, revision: number, phase = 'minted') =>
    old.run(`INSERT INTO vouchers (id, handle, definition_id, revision_id, minted_by, minted_at, phase, ended_at)
      VALUES (${id}, randomblob(16), ${revision === 4 ? 2 : 1}, ${revision}, zeroblob(32), 1, '${phase}',
        ${phase === 'minted' ? 'NULL' : 1})`)
  for (const [id, revision] of [
    [1, 4],
    [2, 1],
    [3, 1],
    [4, 2],
    [5, 3],
  ] as const)
    voucher(id, revision)
  for (const [index, phase] of ['claimed', 'voided', 'refreshed'].entries())
    voucher(6 + index, 1, phase)
  old.run('INSERT INTO kills VALUES (2, 1, 1, 0), (1, 2, 1, 0)')
  migrate(old, couponSchema)
  expect(old.query('SELECT * FROM expiries').all()).toEqual([
    { definition_id: 1, expires_at: 50, open: 1 },
    { definition_id: 1, expires_at: 60, open: 1 },
  ])
})

test('an unknown version stops the start and changes nothing', () => {
  const connection = new Sqlite(':memory:')
  connection.run('PRAGMA user_version = -1')
  expect(() => migrate(connection, couponSchema)).toThrow('no way from schema -1')
  expect([userVersion(connection), tablesOf(connection)]).toEqual([-1, []])
  connection.close()
})

test('a schema that fails half way leaves an empty file', () => {
  const connection = new Sqlite(join(newDirectory(), 'half.db'))
  // This table breaks the last statements of schema.sql.
  connection.run('CREATE TABLE answers (id INTEGER NOT NULL PRIMARY KEY)')
  expect(() => migrate(connection, couponSchema)).toThrow()
  expect([userVersion(connection), tablesOf(connection)]).toEqual([0, ['answers']])
  connection.close()
})

test('the lock keeps a second process out until it is released', () => {
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
  committed?: () => void
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
    events: {
      committed: hooks.committed ?? (() => undefined),
      failed: hooks.failed ?? (() => undefined),
    },
    stores(connection) {
      hooks.connected?.(connection)
      connections.push(connection)
      return createNotes(connection)
    },
  })
  const close = closeOnce(engine)
  closers.push(close)
  const peek = (name: string) => peekAtNote(path, name)
  return { engine, writer, peek, close }
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

/**
 * Everything but comments, spaces, and the form of conditions, which SQLite keeps as a file was created with them. Files of
 * before have IN where schema.sql has OR.
 */
function schemaOf(connection: Sqlite): unknown[] {
  const rows = connection.query<{ type: string; name: string; sql: string | null }, []>(
    'SELECT type, name, sql FROM sqlite_master ORDER BY type, name',
  )
  // A column that a step adds stands on the line of the one before it.
  const plain = (sql: string) =>
    sql
      .replaceAll(/\s*--[^\n]*/g, '')
      .replaceAll(/\((\w+) IN \(([^()]*)\)\)/g, (_, column: string, words: string) => {
        const terms = words.split(', ').map((word) => `${column} = ${word}`)
        return `(${terms.join(' OR ')})`
      })
      .replaceAll(/\s+/g, '')
  return rows.all().map((row) => ({ ...row, sql: row.sql && plain(row.sql) }))
}
