import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import {
  closeSync,
  copyFileSync,
  existsSync,
  ftruncateSync,
  open,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { availableParallelism } from 'node:os'
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
function openNotes({
  path = newFile(),
  held = false,
  part = {} as Partial<Backfill>,
  connect = openConnection,
} = {}) {
  const disk = { held, syncs: [] as Sync[], told: [] as number[], here: 0, logs: 0 }
  const failed: unknown[] = []
  const ended: string[] = []
  const engine = new SqliteEngine<Notes>({
    ...{ path, schema: couponSchema, now: () => 1_800_000_000, stores: createNotes, connect },
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

/** The real one, of a database that is not open yet. */
function opened(path: string): () => Backfill {
  let real: Backfill | null = null
  return () => {
    real ??= openBackfill(path)
    return real
  }
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

/** Begin a fold whose sync the test ends: the log grows by a step, and one more commit lets it be copied. */
async function beginFold({ disk, grow, put }: ReturnType<typeof openNotes>): Promise<void> {
  const { length } = disk.syncs
  await grow(step)
  await put('b', `begins fold ${length}`)
  await until('a sync begins', () => disk.syncs.length > length)
}

test('commits go on while the file is synced, and all is read from the log until then', async () => {
  const notes = openNotes({ held: true })
  const { path, put, read } = notes
  const before = readFileSync(path)
  await put('a', 'new')
  await beginFold(notes)
  expect(readFileSync(path).equals(before)).toBe(false)
  lose(path, before)
  await put('c', 'goes on')
  expect(logOf(path).told).toBe(0)
  expect([await read('a'), await read('c'), peekAtNote(path, 'a')]).toEqual([
    'new',
    'goes on',
    'new',
  ])
})

test('SQLite is told what is stored when the next part is copied, so that nothing is copied twice', async () => {
  const notes = openNotes()
  const { path, disk } = notes
  await beginFold(notes)
  await until('the sync has ended', () => disk.syncs[0]!.ended)
  const { log } = logOf(path)
  await beginFold(notes)
  const [most = 0] = disk.told.toSorted((a, b) => b - a)
  expect([most > 0, most < log, logOf(path).told]).toEqual([true, true, 0])
})

test('the log begins anew when it is long, and all of it is in the file then', async () => {
  const { path, disk, grow, put } = openNotes()
  await put('a', 'new')
  await growUntilAnew(path, grow)
  expect([stored(path, 'a'), disk.syncs.length > 0]).toEqual(['new', true])
  expect(statSync(`${path}-wal`).size).toBeLessThan(2 * bound * 4120)
})

test('a sync that fails changes nothing, and is tried again when the log has grown by its bound', async () => {
  const notes = openNotes({ held: true })
  const { path, disk, failed, grow, put, read, close } = notes
  const before = readFileSync(path)
  await put('a', 'new')
  await beginFold(notes)
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

test('a copy that fails leaves its commit alone, and is not tried with the next one', async () => {
  const full = () => {
    throw noDisk()
  }
  const { disk, failed, grow, put, read } = openNotes({ part: { salts: full } })
  await grow(step)
  await put('a', 'new')
  expect(await read('a')).toBe('new')
  await until('the copy has failed', () => failed.length > 0)
  expect([failed, disk.syncs.length]).toEqual([[noDisk()], 0])
  for (let turn = 0; turn < 3; turn++) await grow(step / 8)
  expect(failed).toHaveLength(1)
})

test('a commit that writes nothing lets nothing be copied', async () => {
  const { engine, disk, grow, put } = openNotes()
  await grow(step)
  await engine.transact({ roots: 'none' }, async () => undefined)
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect([disk.syncs.length, disk.told]).toEqual([0, []])
  await put('a', 'new')
  await until('a sync begins', () => disk.syncs.length === 1)
})

describe('at the bound of the log', () => {
  const { asidePatienceMs } = limits
  afterEach(() => {
    Object.assign(limits, { asidePatienceMs })
  })

  test('commits wait for the sync, and reads do not', async () => {
    Object.assign(limits, { asidePatienceMs: 2 ** 30 })
    const { path, disk, grow, put, read } = openNotes({ held: true })
    while (logOf(path).log < bound) await grow(step / 2)
    const done: string[] = []
    const waiting = put('late').then(() => done.push('late'))
    for (let turn = 0; turn < 50; turn++) {
      expect(await read('a')).toBe('old')
      await Bun.sleep(1)
    }
    expect([done, disk.syncs.length]).toEqual([[], 1])
    disk.held = false
    disk.syncs[0]!.end()
    await waiting
    await growUntilAnew(path, grow)
    expect(stored(path, 'late')).toBe('1')
  })

  test('commits go on after a while, and nothing counts as stored before the sync has ended', async () => {
    Object.assign(limits, { asidePatienceMs: 1 })
    const { path, disk, failed, grow, put } = openNotes({ held: true })
    await put('a', 'new')
    const write = async () => {
      while (logOf(path).log < 3 * bound) await grow(step / 2)
    }
    const written = write()
    await until('commits go on', () => logOf(path).log >= 3 * bound, 20)
    await written
    expect([disk.here, disk.syncs.length, Math.max(...disk.told)]).toEqual([0, 1, 0])
    disk.syncs[0]!.fail()
    disk.held = false
    await until('the failure', () => failed.length > 0)
    expect(logOf(path).told).toBe(0)
    await growUntilAnew(path, grow)
    expect(stored(path, 'a')).toBe('new')
  })
})

test('a reader of an old state keeps it, and the log is folded when it has gone', async () => {
  const { path, disk, grow, put } = openNotes()
  const reader = new Sqlite(path, { readonly: true })
  closers.push(() => reader.close())
  await put('a', 'seen')
  reader.run('BEGIN')
  const seen = reader.query<{ value: string }, []>("SELECT value FROM notes WHERE name = 'a'")
  expect(seen.get()?.value).toBe('seen')
  await put('a', 'newer')
  /** Not every commit tries, but two at most: each tells SQLite three or four numbers. */
  const tryTwice = async () => {
    const before = disk.told.length
    for (let turn = 0; turn < 8; turn++) await put('c', String(turn))
    expect(disk.told.length).toBeLessThan(before + 3 * 3)
  }
  await grow(step)
  await tryTwice()
  for (let turn = 0; turn < 8; turn++) await grow(step)
  await tryTwice()
  expect([seen.get()?.value, stored(path, 'a')]).toEqual(['seen', 'old'])
  reader.run('COMMIT')
  // A log that has become long is synced in another thread, too.
  const { length } = disk.syncs
  await growUntilAnew(path, grow)
  expect([stored(path, 'a'), disk.syncs.length > length]).toEqual(['newer', true])
})

test('a transaction that began as SQLite took a copy for stored does not begin the log anew', async () => {
  const path = newFile()
  const other = new Sqlite(path)
  closers.push(() => other.close())
  let begun = false
  const real = opened(path)
  const notes = openNotes({
    path,
    held: true,
    part: {
      tell(frames) {
        if (frames === 0 && !begun && logOf(path).told > 0) {
          begun = true
          other.run('BEGIN')
          other.query('SELECT * FROM state').get()
        }
        real().tell(frames)
      },
    },
  })
  await notes.put('a', 'new')
  await beginFold(notes)
  const { log } = logOf(path)
  other.run("UPDATE notes SET value = 'theirs' WHERE name = 'c'")
  other.run('COMMIT')
  expect([begun, logOf(path).log >= log]).toEqual([true, true])
})

test('nobody writes while the end of the log is copied', async () => {
  const path = newFile()
  const other = new Sqlite(path)
  closers.push(() => other.close())
  const tries: unknown[] = []
  const real = opened(path)
  const { grow } = openNotes({
    path,
    part: {
      salts() {
        // It is read before a copy, when commits go on, and before the last one.
        if (logOf(path).log >= bound * limits.foldEnds) {
          try {
            other.run("UPDATE notes SET value = 'theirs' WHERE name = 'a'")
            tries.push('written')
          } catch (cause) {
            tries.push((cause as { code?: string }).code)
          }
        }
        return real().salts()
      },
    },
  })
  await growUntilAnew(path, grow)
  expect(tries).toContain('SQLITE_BUSY')
})

test('another program that begins the log anew during a sync is not told of the old one', async () => {
  const notes = openNotes({ held: true })
  const { path, disk, read } = notes
  await beginFold(notes)
  const other = openConnection(path)
  other.run('PRAGMA wal_checkpoint(RESTART)')
  other.run("UPDATE notes SET value = 'theirs' WHERE name = 'a'")
  other.close()
  const { log } = logOf(path)
  disk.syncs[0]!.end()
  await until('the sync has ended', () => disk.syncs[0]!.ended)
  disk.told.length = 0
  await beginFold(notes)
  expect(log).toBeLessThan(step)
  expect([Math.max(...disk.told), await read('a'), peekAtNote(path, 'a')]).toEqual([
    0,
    'theirs',
    'theirs',
  ])
})

test('where another program tells SQLite more at the same time, all is copied', async () => {
  const path = newFile()
  const real = opened(path)
  const { put, grow } = openNotes({
    path,
    part: { tell: (frames) => real().tell(frames > 0 ? logOf(path).log : 0) },
  })
  let turn = 0
  for (let before = 0; logOf(path).log >= before && turn < 100; turn++) {
    before = logOf(path).log
    await put('turn', String(turn))
    await grow(step / 4)
  }
  expect(turn).toBeLessThan(100)
  expect(Number(stored(path, 'turn'))).toBeGreaterThanOrEqual(turn - 2)
})

test('the log is synced before a copy with commits of another program, and before no other', async () => {
  const notes = openNotes()
  const { path, disk } = notes
  const fold = async () => {
    await beginFold(notes)
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
})

test('where SQLite does not see what it is told, each copy is synced at once, or the process ends', async () => {
  const notes = openNotes({ part: { tell: () => undefined } })
  await notes.put('a', 'new')
  await beginFold(notes)
  expect([notes.disk.here, notes.ended]).toEqual([1, []])
  await growUntilAnew(notes.path, notes.grow)
  expect(stored(notes.path, 'a')).toBe('new')

  const storeHere = () => {
    throw noDisk()
  }
  const broken = openNotes({ part: { tell: () => undefined, storeHere } })
  await broken.grow(step)
  await broken.put('a', 'new')
  await until('the process ends', () => broken.ended.length > 0)
  expect(broken.ended).toEqual(['EIO'])
})

/** Connections whose calls of `run` and `get` with that text fail when `fails` says so. */
function failing(text: string, fails: () => boolean): (path: string) => Sqlite {
  const check = (said: string) => {
    if (said === text && fails()) throw noDisk()
  }
  return (path) => {
    const connection = openConnection(path)
    const [run, query] = [connection.run.bind(connection), connection.query.bind(connection)]
    connection.run = ((said: string, ...rest: []) => {
      check(said)
      return run(said, ...rest)
    }) as typeof connection.run
    connection.query = ((said: string) => {
      const statement = query(said)
      const get = statement.get.bind(statement)
      statement.get = (...params) => {
        check(said)
        return get(...params)
      }
      return statement
    }) as typeof connection.query
    return connection
  }
}

test('after the end of a log that failed, nothing of before counts as stored', async () => {
  let copies = 0
  const connect = failing('PRAGMA wal_checkpoint(PASSIVE)', () => ++copies === 2)
  const notes = openNotes({ connect })
  const { path, disk, failed, grow } = notes
  await beginFold(notes)
  await until('the sync has ended', () => disk.syncs[0]!.ended)
  await until('the second copy has failed', async () => {
    await grow(1)
    return failed.length > 0
  })
  expect([Math.max(...disk.told) > 0, logOf(path).told]).toEqual([true, 0])
  disk.told.length = 0
  while (disk.syncs.length === 1) await grow(step / 4)
  expect(disk.told.slice(0, 3)).toEqual([0, 0, 0])
  await growUntilAnew(path, grow)
})

test('a copy that fails behind a stored part syncs nothing, and ends nothing', async () => {
  let copies = 0
  const connect = failing('PRAGMA wal_checkpoint(PASSIVE)', () => ++copies === 2)
  const notes = openNotes({ connect })
  const { disk, failed, ended, grow, put } = notes
  await beginFold(notes)
  await until('the sync has ended', () => disk.syncs[0]!.ended)
  await grow(step - 8)
  await put('c')
  await until('the second copy has failed', () => failed.length > 0)
  expect([disk.here, ended, failed]).toEqual([0, [], [noDisk()]])
})

test.each(['ROLLBACK', 'SELECT 1 FROM sqlite_schema LIMIT 1', 'PRAGMA synchronous = FULL'])(
  'a fold goes on after %s failed once',
  async (text) => {
    let tries = 0
    // An engine that opens the file sets all of its connections up before.
    const connect = failing(text, () => armed && ++tries === 1)
    let armed = false
    const { path, failed, grow, put } = openNotes({ connect })
    armed = true
    await put('a', 'new')
    await growUntilAnew(path, grow)
    expect([failed, stored(path, 'a')]).toEqual([[noDisk()], 'new'])
    // Neither the pin nor the lock of writers is left.
    using other = new Sqlite(path)
    other.run("UPDATE notes SET value = 'theirs' WHERE name = 'a'")
    await growUntilAnew(path, grow)
    expect(stored(path, 'a')).toBe('theirs')
  },
)

test('a sync begins in no thread in which an earlier one has not ended', async () => {
  const path = newFile()
  using _open = openConnection(path)
  const backfill = openBackfill(path)
  const pipes = Array.from({ length: 2 * availableParallelism() + 8 }, (_, at) =>
    join(newDirectory(), String(at)),
  )
  Bun.spawnSync(['mkfifo', ...pipes])
  // Opening a pipe takes as long as nobody writes to it.
  const opens = pipes.map((pipe) => new Promise((resolve) => open(pipe, 'r', resolve)))
  const ended: string[] = []
  const late = backfill.store().then(() => ended.push('late'))
  // The same file for an engine that opens it again.
  const next = openBackfill(path)
    .store()
    .then(() => ended.push('next'))
  try {
    for (let turn = 0; turn < 10; turn++) await null
    expect(ended).toEqual(['next'])
  } finally {
    const writers = pipes.map((pipe) => openSync(pipe, 'r+'))
    await Promise.all([late, next, ...opens])
    for (const writer of writers) closeSync(writer)
  }
})

test('a close during a sync folds all of the log', async () => {
  const notes = openNotes({ held: true })
  await notes.put('a', 'new')
  await beginFold(notes)
  await notes.close()
  expect([stored(notes.path, 'a'), existsSync(`${notes.path}-wal`)]).toEqual(['new', false])
})

/** A part of the log is in the file without a sync, as another program leaves it, and is lost. */
async function loseTheirPart({ path, put, grow }: ReturnType<typeof openNotes>): Promise<void> {
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
}

test('a close copies again what another program left in the file without a sync', async () => {
  const notes = openNotes()
  await loseTheirPart(notes)
  await notes.close()
  expect([stored(notes.path, 'a'), existsSync(`${notes.path}-wal`)]).toEqual(['new', false])
})

test('a close beside a reader leaves nothing that counts as stored', async () => {
  const { path, close, put, grow } = openNotes()
  await put('a', 'new')
  const reader = new Sqlite(path, { readonly: true })
  closers.push(() => reader.close())
  reader.run('BEGIN')
  reader.query('SELECT * FROM notes').all()
  await grow(2)
  await close()
  const { log, told } = logOf(path)
  expect([log > 0, told]).toEqual([true, 0])
})

test('a close that cannot do so ends the process', async () => {
  const tell = () => {
    throw noDisk()
  }
  const notes = openNotes({ part: { tell } })
  await loseTheirPart(notes)
  await notes.close().catch(() => undefined)
  expect(notes.ended).toEqual(['EIO'])
})
