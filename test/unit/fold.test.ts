import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, afterEach, expect, test } from 'bun:test'
import {
  closeSync,
  copyFileSync,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import { type Backfill, openBackfill } from '../../src/db/backfill.ts'
import { couponSchema, migrate } from '../../src/db/migrations.ts'
import { openConnection, SqliteEngine } from '../../src/db/sqlite.ts'
import { createNotes } from '../contract/notes.ts'
import type { Notes } from '../contract/port.ts'
import { closeOnce, peekAtNote } from '../support/note-file.ts'
import { cleanUp, newDirectory } from '../support/server.ts'
import '../support/short-log.ts'
import { until } from '../support/until.ts'

const bound = limits.logFramesMax
const step = bound * limits.foldStep

const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(cleanUp)

/** A sync of the file that the test ends. */
type Sync = { end(): void; fail(): void; ended: boolean }

/** The engine with a file whose syncs the test ends. Without `held` they end by themselves. */
function openNotes({ path = newFile(), held = false, part = {} as Partial<Backfill> } = {}) {
  const disk = { held, syncs: [] as Sync[], told: [] as number[], here: 0, logs: 0 }
  const failed: unknown[] = []
  const ended: string[] = []
  const engine = new SqliteEngine<Notes>({
    ...{ path, schema: couponSchema, now: () => 1_800_000_000, stores: createNotes },
    events: { committed: () => undefined, failed: (cause) => failed.push(cause) },
    end: ({ code }) => ended.push(code ?? ''),
    backfill(database) {
      const real = openBackfill(database)
      return {
        salts: real.salts,
        tell(frames) {
          disk.told.push(frames)
          real.tell(frames)
        },
        async store() {
          const { promise, resolve, reject } = Promise.withResolvers<void>()
          const sync = { end: resolve, fail: () => reject(noDisk()), ended: false }
          disk.syncs.push(sync)
          if (!disk.held) resolve()
          try {
            await promise
            await real.store()
          } finally {
            sync.ended = true
          }
        },
        storeHere() {
          disk.here++
          real.storeHere()
        },
        storeLog() {
          disk.logs++
          real.storeLog()
        },
        ...part,
      }
    },
  })
  const close = closeOnce(engine)
  closers.push(() => {
    for (const { end } of disk.syncs) end()
    return close()
  })
  const put = (name: string, value = '1') =>
    engine.transact({ roots: 'none' }, (tx) => tx.put(name, value))
  const read = (name: string) => engine.snapshot((tx) => tx.find(name))
  let turn = 0
  /** Write a value of some more than `pages` pages. SQLite writes no page that stays as it was. */
  const grow = (pages: number) => put('big', `${++turn}`.padStart(8, 'x').repeat(pages * 512))
  return { engine, path, disk, failed, ended, close, put, read, grow }
}

function noDisk(): Error {
  return Object.assign(new Error('no disk'), { code: 'EIO' })
}

/** A file with the notes that it begins with, all of them in the file itself. */
function newFile(): string {
  const path = join(newDirectory(), 'notes.db')
  const connection = openConnection(path)
  migrate(connection, couponSchema)
  connection.run('CREATE TABLE notes (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT')
  connection.run("INSERT INTO notes VALUES ('a', 'old')")
  // The page of that note is not written again with those of others.
  const filler = connection.query('INSERT INTO notes VALUES (?, ?)')
  for (let note = 0; note < 100; note++) filler.run(`filler ${note}`, 'x'.repeat(100))
  connection.close()
  return path
}

/** Frames in the log, and those that are read from the file. */
function logOf(path: string): { log: number; told: number } {
  using other = new Sqlite(path, { readonly: true })
  const row = other
    .query<{ log: number; checkpointed: number }, []>('PRAGMA wal_checkpoint(NOOP)')
    .get()
  return { log: row?.log ?? 0, told: row?.checkpointed ?? 0 }
}

/** The disk loses what was written to the file since then, and the kernel drops the pages. */
function lose(path: string, since: Uint8Array): void {
  const file = openSync(path, 'r+')
  writeSync(file, since, 0, since.length, 0)
  ftruncateSync(file, since.length)
  closeSync(file)
}

/** A note as the file alone has it. */
function stored(path: string, name: string): string | null {
  const copy = join(newDirectory(), 'copy.db')
  copyFileSync(path, copy)
  return peekAtNote(copy, name)
}

/** Write until the log has begun anew. */
async function growUntilAnew(path: string, grow: (pages: number) => Promise<void>): Promise<void> {
  let before = logOf(path).log
  await until('the log begins anew', async () => {
    await grow(step / 4)
    const { log } = logOf(path)
    const anew = log < before
    before = log
    return anew
  })
}

test('commits go on while the file is synced, and all is read from the log until then', async () => {
  const { path, disk, grow, put, read } = openNotes({ held: true })
  const before = readFileSync(path)
  await put('a', 'new')
  await grow(step)
  await put('b', 'begins a fold')
  expect(disk.syncs).toHaveLength(1)
  expect(stored(path, 'a')).toBe('new')
  lose(path, before)
  await put('c', 'goes on')
  expect(logOf(path).told).toBe(0)
  expect([await read('a'), await read('b'), await read('c')]).toEqual([
    'new',
    'begins a fold',
    'goes on',
  ])
  expect(peekAtNote(path, 'a')).toBe('new')
})

test('a part that is stored is read from the file, and the log begins anew when it is all', async () => {
  const { path, disk, grow, put } = openNotes({ held: true })
  await put('a', 'new')
  await grow(step)
  await put('b')
  const { log } = logOf(path)
  disk.syncs[0]!.end()
  await until('the file is synced', () => disk.syncs[0]!.ended)
  disk.held = false
  await grow(step)
  await put('c')
  expect(logOf(path).told).toBeGreaterThanOrEqual(log - 2)
  await growUntilAnew(path, grow)
  expect(stored(path, 'c')).toBe('1')
  expect(statSync(`${path}-wal`).size).toBeLessThan(2 * bound * 4120)
})

test('a sync that fails changes nothing, and is tried again when the log has grown by its bound', async () => {
  const { path, disk, failed, grow, put, read, close } = openNotes({ held: true })
  const before = readFileSync(path)
  await put('a', 'new')
  await grow(step)
  await put('b')
  const { log } = logOf(path)
  disk.syncs[0]!.fail()
  await until('the sync has failed', () => failed.length > 0)
  disk.held = false
  lose(path, before)
  expect(failed).toEqual([noDisk()])
  expect([await read('a'), peekAtNote(path, 'a')]).toEqual(['new', 'new'])
  while (logOf(path).log < log + bound) {
    expect(disk.syncs).toHaveLength(1)
    await grow(step / 2)
  }
  await growUntilAnew(path, grow)
  expect([logOf(path).log < bound, stored(path, 'a'), failed.length]).toEqual([true, 'new', 1])
  await close()
  expect(existsSync(`${path}-wal`)).toBe(false)
})

test('a copy that fails leaves its commit alone', async () => {
  const full = () => {
    throw noDisk()
  }
  const { disk, failed, grow, put, read } = openNotes({ part: { salts: full } })
  await grow(step)
  await put('a', 'new')
  expect(await read('a')).toBe('new')
  expect([failed, disk.syncs.length]).toEqual([[noDisk()], 0])
  await grow(step / 2)
  expect(failed).toHaveLength(1)
})

test('at the bound of the log commits wait for the sync, and reads do not', async () => {
  const { path, disk, grow, put, read } = openNotes({ held: true })
  while (logOf(path).log < bound) await grow(step / 2)
  const done: string[] = []
  const waiting = put('late').then(() => done.push('late'))
  for (let turn = 0; turn < 50; turn++) expect(await read('a')).toBe('old')
  expect([done, disk.syncs.length]).toEqual([[], 1])
  disk.held = false
  disk.syncs[0]!.end()
  await waiting
  expect(logOf(path).log).toBeLessThan(step)
})

test('a commit waits for a short rest of the log, not for a long one', async () => {
  const { path, disk, grow, put } = openNotes({ held: true })
  const ends = bound * limits.foldEnds
  while (logOf(path).log < ends) await grow(step / 4)
  disk.syncs[0]!.end()
  await until('the first sync has ended', () => disk.syncs[0]!.ended)
  // The rest is longer than that: nobody ends its sync, and the commit does not wait.
  await put('a', 'long')
  expect([disk.syncs.length, logOf(path).log > ends]).toEqual([2, true])
  disk.held = false
  disk.syncs[1]!.end()
  await until('the second sync has ended', () => disk.syncs[1]!.ended)
  await put('a', 'short')
  expect(logOf(path).log).toBeLessThan(step)
  expect(stored(path, 'a')).toBe('long')
})

test('a reader of an old state keeps it, and what is newer waits in the log', async () => {
  const { path, disk, grow, put } = openNotes()
  const reader = new Sqlite(path, { readonly: true })
  closers.push(() => reader.close())
  await put('a', 'seen')
  reader.run('BEGIN')
  const seen = reader.query<{ value: string }, []>("SELECT value FROM notes WHERE name = 'a'")
  expect(seen.get()?.value).toBe('seen')
  await put('a', 'newer')
  for (let turn = 0; turn < 8; turn++) await grow(step)
  expect(seen.get()?.value).toBe('seen')
  expect([stored(path, 'a'), disk.syncs.length]).toEqual(['old', 1])
  reader.run('COMMIT')
  await growUntilAnew(path, grow)
  expect(stored(path, 'a')).toBe('newer')
})

test('another program that begins the log anew during a sync is not told of the old one', async () => {
  const { path, disk, grow, put, read } = openNotes({ held: true })
  await grow(step)
  await put('a', 'new')
  expect(disk.syncs).toHaveLength(1)
  const other = openConnection(path)
  other.run('PRAGMA wal_checkpoint(RESTART)')
  other.run("UPDATE notes SET value = 'theirs' WHERE name = 'a'")
  other.close()
  const { log } = logOf(path)
  disk.syncs[0]!.end()
  await until('the sync has ended', () => disk.syncs[0]!.ended)
  await grow(step + 1)
  await put('b')
  expect(log).toBeLessThan(step)
  expect([logOf(path).told, await read('a'), peekAtNote(path, 'a')]).toEqual([
    0,
    'theirs',
    'theirs',
  ])
})

test('the log is synced before a copy with commits of another program, and before no other', async () => {
  const { path, disk, grow, put } = openNotes()
  const fold = async () => {
    const { length } = disk.syncs
    while (disk.syncs.length === length) await grow(step / 2)
    await until('the sync has ended', () => disk.syncs.every(({ ended }) => ended))
  }
  await fold()
  const first = disk.logs
  await fold()
  expect([first, disk.logs]).toEqual([1, 1])
  const other = openConnection(path)
  other.run("UPDATE notes SET value = 'theirs' WHERE name = 'a'")
  other.close()
  await fold()
  await fold()
  expect(disk.logs).toBe(2)
  await put('b')
})

test('where SQLite does not see what it is told, each copy is synced at once, or the process ends', async () => {
  const { path, disk, ended, grow, put } = openNotes({ part: { tell: () => undefined } })
  await grow(step)
  await put('a', 'new')
  expect([disk.here, logOf(path).log < step]).toEqual([1, true])
  await growUntilAnew(path, grow)
  expect(ended).toEqual([])

  const storeHere = () => {
    throw noDisk()
  }
  const broken = openNotes({ part: { tell: () => undefined, storeHere } })
  await broken.grow(step)
  await broken.put('a', 'new')
  expect(broken.ended).toEqual(['EIO'])
})

test('a close during a sync folds all of the log', async () => {
  const { path, disk, grow, put, close } = openNotes({ held: true })
  await grow(step)
  await put('a', 'new')
  expect(disk.syncs).toHaveLength(1)
  await close()
  expect([stored(path, 'a'), existsSync(`${path}-wal`)]).toEqual(['new', false])
})

test('a close copies again what another program left in the file without a sync', async () => {
  const { path, put, grow, close } = openNotes()
  const before = readFileSync(path)
  await put('a', 'new')
  const reader = new Sqlite(path, { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT * FROM notes').all()
  await grow(2)
  const other = openConnection(path)
  other.run('PRAGMA wal_checkpoint(PASSIVE)')
  other.close()
  reader.close()
  expect(logOf(path).told).toBeGreaterThan(0)
  lose(path, before)
  await close()
  expect([stored(path, 'a'), existsSync(`${path}-wal`)]).toEqual(['new', false])
})
