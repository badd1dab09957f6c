import { constants, Database as Sqlite } from 'bun:sqlite'
import { afterAll, afterEach, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import { couponSchema, migrate } from '../../src/db/migrations.ts'
import { Reader } from '../../src/db/reader.ts'
import { openConnection, SqliteEngine } from '../../src/db/sqlite.ts'
import { openWal, type Wal } from '../../src/db/wal.ts'
import { createNotes } from '../contract/notes.ts'
import { describeEngine, type Notes } from '../contract/port.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(cleanUp)

/** The disk of a test: the time that it takes, and its syncs outside of SQLite. */
type Disk = {
  waitMs: number
  syncs: number
  rewrites: number
  /** A sync waits for this, and fails with it. */
  until: Promise<void> | null
}

const slow = { waitMs: 20, syncs: 0, rewrites: 0, until: null }

/** The engine on a disk that is slow from the first commit on. */
function openNotes(disk: Disk, path = newFile()) {
  let clock = 0
  const failed: [unknown, number][] = []
  const wal = (database: string): Wal => {
    const log = openWal(database)!
    return {
      async sync() {
        disk.syncs++
        await disk.until
        return log.sync()
      },
      rewrite(frames) {
        disk.rewrites++
        log.rewrite(frames)
      },
      close: log.close,
    }
  }
  const engine = new SqliteEngine<Notes>({
    ...{ path, schema: couponSchema, now: () => 1_800_000_000, wal },
    stores: createNotes,
    events: {
      committed: () => undefined,
      failed: (cause, operations) => failed.push([cause, operations]),
    },
    time: { steadyMs: () => (clock += disk.waitMs), after: (_, call) => setImmediate(call) },
  })
  let closed = false
  const close = async () => {
    if (closed) return
    closed = true
    await engine.close()
  }
  closers.push(close)
  const put = (name: string, value = '1') =>
    engine.transact({ roots: 'none' }, (tx) => tx.put(name, value))
  const find = (name: string) => engine.snapshot((tx) => tx.find(name))
  return { engine, put, find, peek: (name: string) => peek(path, name), failed, close, path }
}

/** The same after commits that show it how slow the disk is. */
async function openSlow(disk: Disk) {
  const opened = openNotes(disk)
  for (let commit = 0; commit < limits.asideCommits; commit++) await opened.put('begin')
  expect(disk.syncs).toBe(0)
  return opened
}

/** The state that another connection sees: also what is not on disk. */
function peek(path: string, name: string): string | null {
  const other = new Sqlite(path, { readonly: true })
  const row = other.query<{ value: string }, [string]>('SELECT value FROM notes WHERE name = ?')
  const value = row.get(name)?.value ?? null
  other.close()
  return value
}

const turns = async (count = 5) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describeEngine('SQLite on a slow disk', async () => {
  const { engine, put, close, path } = openNotes({ ...slow })
  for (let commit = 0; commit < limits.asideCommits; commit++) await put('begin')
  const other = new Sqlite(path)
  other.run('DELETE FROM notes')
  other.close()
  return { database: engine, peek: (name) => peek(path, name), close }
})

test('nobody sees a write before it is on disk, and it is not answered', async () => {
  const disk: Disk = { ...slow }
  const { put, find, peek: other } = await openSlow(disk)
  const synced = Promise.withResolvers<void>()
  disk.until = synced.promise
  let answered = false
  const write = put('a').then(() => (answered = true))
  while (disk.syncs === 0) await turns(1)
  await turns()
  // It is in the log, where another process sees it.
  expect([other('a'), await find('a'), answered]).toEqual(['1', null, false])
  // Operations that arrive meanwhile wait for it.
  const next = put('b')
  await turns()
  expect([other('b'), await find('b'), disk.syncs]).toEqual([null, null, 1])
  disk.until = null
  synced.resolve()
  await Promise.all([write, next])
  expect([await find('a'), await find('b'), disk.syncs]).toEqual(['1', '1', 2])
})

test('a fast disk is waited for by COMMIT, and so is one that has become fast', async () => {
  const disk: Disk = { ...slow, waitMs: limits.asideSyncMs / 2 }
  const { put } = openNotes(disk)
  const commits = async (count: number) => {
    for (let commit = 0; commit < count; commit++) await put('a', String(commit))
  }
  await commits(20)
  expect(disk.syncs).toBe(0)
  disk.waitMs = limits.asideSyncMs
  await commits(limits.asideCommits + 3)
  expect(disk.syncs).toBe(3)
  disk.waitMs = 0
  await commits(20)
  expect(disk.syncs).toBe(3 + limits.asideCommits)
})

test('an operation that writes nothing waits for no disk', async () => {
  const disk: Disk = { ...slow }
  const { engine, put } = await openSlow(disk)
  expect(await engine.transact({ roots: 'none' }, (tx) => tx.find('begin'))).toBe('1')
  expect(disk.syncs).toBe(0)
  await put('a')
  expect(disk.syncs).toBe(1)
})

test('a failed sync refuses the write and those behind it, until the log is written again', async () => {
  const disk: Disk = { ...slow }
  const { engine, put, find, failed, peek: other } = await openSlow(disk)
  const failing = () => {
    const sync = Promise.reject(new Error('EIO'))
    sync.catch(() => undefined)
    disk.until = sync
  }
  failing()
  const effects: string[] = []
  const write = engine.transact({ roots: 'none' }, async (tx) => {
    await tx.put('a', '1')
    tx.afterCommit(() => effects.push('a'))
  })
  await expect(write).rejects.toThrow('EIO')
  expect([await find('a'), effects, disk.rewrites]).toEqual([null, [], 0])
  failing()
  await expect(put('b')).rejects.toThrow('EIO')
  expect([await find('a'), other('b'), disk.rewrites]).toEqual([null, null, 1])
  expect(failed.map(([, operations]) => operations)).toEqual([1, 1])

  disk.until = null
  await put('c')
  // The first write was in the log, so it stands. The second never began.
  expect([await find('a'), await find('b'), await find('c')]).toEqual(['1', null, '1'])
  expect([effects, disk.rewrites]).toEqual([['a'], 2])
})

test('after a failed sync nothing that is not on disk gets into the file', async () => {
  const disk: Disk = { ...slow }
  const { put, path } = await openSlow(disk)
  const before = new Sqlite(path)
  before.run('PRAGMA wal_checkpoint(PASSIVE)')
  const file = readFileSync(path)
  const sync = Promise.reject(new Error('EIO'))
  sync.catch(() => undefined)
  disk.until = sync
  await expect(put('a')).rejects.toThrow('EIO')
  // Another connection tries to.
  before.run('PRAGMA wal_checkpoint(PASSIVE)')
  expect(readFileSync(path).equals(file)).toBe(true)
  before.close()
  disk.until = null
  await put('b')
})

test('closing with a log that cannot be synced leaves it, and the next start finds it', async () => {
  const disk: Disk = { ...slow }
  const { put, path, close } = await openSlow(disk)
  const file = readFileSync(path)
  const sync = Promise.reject(new Error('EIO'))
  sync.catch(() => undefined)
  disk.until = sync
  await expect(put('a')).rejects.toThrow('EIO')
  await close()
  expect([existsSync(`${path}-wal`), readFileSync(path).equals(file)]).toEqual([true, true])
  const next = openNotes({ ...slow }, path)
  expect(next.engine.cleanStart).toBe(false)
  expect(await next.find('a')).toBe('1')
})

test('a start after an unclean stop writes the log again, because its last sync may have failed', async () => {
  const first: Disk = { ...slow }
  const { put, path } = openNotes(first)
  await put('a')
  const second: Disk = { ...slow }
  const { find } = openNotes(second, path)
  expect([first.rewrites, second.rewrites, await find('a')]).toEqual([0, 1, '1'])
})

test('closing folds the log into the file and marks it clean', async () => {
  const disk: Disk = { ...slow }
  const { put, path, close } = await openSlow(disk)
  await put('a')
  await close()
  expect(existsSync(`${path}-wal`)).toBe(false)
  const next = openNotes({ ...slow }, path)
  expect([next.engine.cleanStart, await next.find('a')]).toEqual([true, '1'])
})

test('the log stays short', async () => {
  const { put, find, path } = await openSlow({ ...slow })
  for (let turn = 0; turn < 100; turn++) {
    const value = `${turn}${'x'.repeat(200_000)}`
    await put('big', value)
    expect(await find('big')).toBe(value)
  }
  expect(statSync(`${path}-wal`).size).toBeLessThan(8_000_000)
})

test('a pinned state that a read error ended is not replaced by a later one', async () => {
  const connection = openConnection(newFile())
  closers.push(() => reader.close())
  const reader = new Reader(connection, () => connection)
  reader.pin()
  connection.run('ROLLBACK')
  await expect(reader.snapshot(async () => null)).rejects.toThrow('lost')
  reader.unpin()
  expect(await reader.snapshot(async ({ inTransaction }) => inTransaction)).toBe(true)
})

test('the log is written again only if all of it is whole', () => {
  const { path, frames, wal } = openLog()
  const log = readFileSync(`${path}-wal`)
  wal.rewrite(frames)
  expect(readFileSync(`${path}-wal`).equals(log)).toBe(true)
  for (const [at, reason] of [
    [0, 'header'],
    [9, 'header'],
    [16, 'header'],
    [24, 'header'],
    [32, 'frame 1 '],
    [32 + 8, 'frame 1 '],
    [32 + 24 + 4096 + 8, 'frame 2 '],
    [32 + 24 + 4096 + 24 + 100, 'frame 2 '],
    [32 + frames * (24 + 4096) - 1, `frame ${frames} `],
  ] as const) {
    const damaged = Buffer.from(log)
    damaged[at] = (damaged[at] ?? 0) ^ 4
    writeFileSync(`${path}-wal`, damaged)
    expect(() => wal.rewrite(frames)).toThrow(reason)
  }
  writeFileSync(`${path}-wal`, log.subarray(0, -1))
  expect(() => wal.rewrite(frames)).toThrow('short')
  writeFileSync(`${path}-wal`, log)
})

test('a database without a log has none to sync', () => {
  expect(openWal(join(newDirectory(), 'none.db'))).toBeNull()
})

/** A log with some frames, which is all that its file holds. */
function openLog() {
  const path = newFile()
  const connection = openConnection(path)
  connection.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1)
  connection.run("INSERT INTO notes VALUES ('a', ?)", ['x'.repeat(20_000)])
  const row = connection.query<{ log: number }, []>('PRAGMA wal_checkpoint(NOOP)').get()
  const wal = openWal(path)!
  closers.push(() => connection.close(), wal.close)
  return { path, frames: row!.log, wal }
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
