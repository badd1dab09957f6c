import { constants, Database as Sqlite } from 'bun:sqlite'
import { afterAll, afterEach, expect, test } from 'bun:test'
import {
  closeSync,
  existsSync,
  open,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import { diskFailure } from '../../src/db/disk-error.ts'
import { couponSchema, migrate } from '../../src/db/migrations.ts'
import { Reader } from '../../src/db/reader.ts'
import { openConnection, SqliteEngine } from '../../src/db/sqlite.ts'
import { openWal, type Wal } from '../../src/db/wal.ts'
import { createNotes } from '../contract/notes.ts'
import { describeEngine, type Notes } from '../contract/port.ts'
import { closeOnce, peekAtNote } from '../support/note-file.ts'
import { cleanUp, newDirectory } from '../support/server.ts'
import { until } from '../support/until.ts'

const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(cleanUp)

/** The disk of a test: the time that it takes, and its syncs outside of SQLite. */
type Disk = {
  waitMs: number
  /** The part of it in which the thread waits for a processor. */
  busyMs: number
  /** The part of it in which COMMIT writes. */
  writeMs: number
  /** Syncs outside of SQLite: in another thread, and those whose time is measured. */
  syncs: number
  measured: number
  rewrites: number
  /** Failures that nobody was told of yet and that are forgotten. */
  forgotten: number
  /** A sync waits for this, and fails with it. */
  until: Promise<void> | null
  /** Runs before the log is written again. */
  beside: (() => void) | null
  /** Pauses do not end: before commits, and between tries to mend. */
  held: boolean
  /** The errors of COMMIT, and of the close of a connection. */
  commit: Error | null
  close: Error | null
}

const slow: Disk = {
  ...{ waitMs: 20, busyMs: 0, writeMs: 0, syncs: 0, measured: 0, rewrites: 0 },
  forgotten: 0,
  ...{ until: null, beside: null, held: false, commit: null, close: null },
}

/** The engine on a disk that is slow from the first commit on. */
function openNotes(disk: Disk, path = newFile()) {
  let [clock, waited] = [0, 0]
  const pauses: (() => void)[] = []
  const ended: string[] = []
  const failed: [unknown, number][] = []
  const wal = (database: string): Wal => {
    const log = openWal(database)!
    return {
      async sync(here) {
        if (here) {
          disk.measured++
          clock -= disk.writeMs
        } else disk.syncs++
        await disk.until
        return log.sync(here)
      },
      forget() {
        disk.forgotten++
        log.forget()
      },
      rewrite(frames) {
        disk.rewrites++
        disk.beside?.()
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
    connect: (path) => connect(path, disk),
    end: ({ code }) => ended.push(code ?? ''),
    time: {
      steadyMs: () => (clock += disk.waitMs),
      processorWaitMs: () => (waited += disk.busyMs),
      after: (_, call) => (disk.held ? pauses.push(call) : setImmediate(call)),
    },
  })
  const close = closeOnce(engine)
  closers.push(close)
  const put = (name: string, value = '1') =>
    engine.transact({ roots: 'none' }, (tx) => tx.put(name, value))
  const find = async (name: string) => {
    const looked = engine.look((tx) => tx.find(name))
    const found = await engine.snapshot((tx) => tx.find(name))
    expect(await looked).toBe(found)
    return found
  }
  const peekAt = (name: string) => peekAtNote(path, name)
  return { engine, put, find, peek: peekAt, failed, ended, pauses, close, path }
}

function connect(path: string, disk: Disk): Sqlite {
  const connection = openConnection(path)
  const [query, close] = [connection.query.bind(connection), connection.close.bind(connection)]
  connection.query = ((text: string) => {
    const statement = query(text)
    const run = statement.run.bind(statement)
    if (text === 'COMMIT') {
      statement.run = () => {
        if (disk.commit) throw disk.commit
        return run()
      }
    }
    return statement
  }) as typeof connection.query
  connection.close = () => {
    close()
    if (disk.close) throw disk.close
  }
  return connection
}

/** The same after commits that show it how slow the disk is. */
async function openSlow(disk: Disk) {
  const opened = openNotes(disk)
  for (let commit = 0; commit < limits.asideCommits; commit++) await opened.put('begin')
  expect(disk.syncs).toBe(0)
  return opened
}

/** The next syncs fail. */
function failSync(disk: Disk): void {
  const sync = Promise.reject(new Error('EIO'))
  sync.catch(() => undefined)
  disk.until = sync
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
  return { database: engine, peek: (name) => peekAtNote(path, name), close }
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
  // One commit of many looks at the disk by itself.
  disk.waitMs = 0
  await commits(limits.asideMeasured + 20)
  expect(disk.syncs).toBe(limits.asideMeasured - 1)
})

test('a busy machine is not taken for a slow disk', async () => {
  const disk: Disk = { ...slow, busyMs: slow.waitMs }
  const { put } = openNotes(disk)
  for (let commit = 0; commit < 2 * limits.asideCommits; commit++) await put('a')
  expect(disk.syncs).toBe(0)
})

test('a COMMIT that has much to write is not taken for a slow disk', async () => {
  const disk: Disk = { ...slow, writeMs: slow.waitMs - limits.asideSyncMs / 2 }
  const { put } = openNotes(disk)
  for (let commit = 0; commit < 2 * limits.asideCommits; commit++) await put('a')
  expect(disk.syncs).toBe(0)
  expect(disk.measured).toBeGreaterThan(0)
})

test('a sync that is measured and fails refuses its write until the log is written again', async () => {
  const disk: Disk = { ...slow }
  const { put, find, peek: other } = openNotes(disk)
  for (let commit = 0; commit < limits.asideCommits / 2; commit++) await put('begin')
  failSync(disk)
  await expect(put('a')).rejects.toThrow('EIO')
  expect([disk.measured, disk.syncs, await find('a'), other('a')]).toEqual([1, 0, null, '1'])
  disk.until = null
  await put('b')
  expect([disk.rewrites, await find('a'), await find('b')]).toEqual([1, '1', '1'])
})

test('a commit waits for as many operations as were under way with the last one', async () => {
  const disk: Disk = { ...slow }
  const { put, pauses, find } = await openSlow(disk)
  await Promise.all(['a', 'b', 'c'].map((name) => put(name)))
  disk.held = true
  const early = [put('a', '2'), put('b', '2')]
  await turns()
  expect([disk.syncs, pauses.length]).toEqual([1, 1])
  await Promise.all([...early, put('c', '2')])
  expect(disk.syncs).toBe(2)
  // The pause of that commit ends now, and begins no other.
  for (const end of pauses.splice(0)) end()
  const late = put('a', '3')
  await turns()
  expect([disk.syncs, await find('a')]).toEqual([2, '2'])
  for (const end of pauses.splice(0)) end()
  await late
  expect([disk.syncs, await find('a')]).toEqual([3, '3'])
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
  failSync(disk)
  const effects: string[] = []
  const write = engine.transact({ roots: 'none' }, async (tx) => {
    await tx.put('a', '1')
    tx.afterCommit(() => effects.push('a'))
  })
  await expect(write).rejects.toThrow('EIO')
  expect([await find('a'), effects, disk.rewrites]).toEqual([null, [], 0])
  failSync(disk)
  await expect(put('b')).rejects.toThrow('EIO')
  await turns()
  expect([await find('a'), other('b'), disk.rewrites]).toEqual([null, null, 1])
  expect(failed.map(([, operations]) => operations)).toEqual([1, 1])

  disk.until = null
  await put('c')
  // The first write was in the log, so it stands. The second never began.
  expect([await find('a'), await find('b'), await find('c')]).toEqual(['1', null, '1'])
  expect([effects, disk.rewrites]).toEqual([['a'], 2])
})

test('between two tries to write the log again operations are refused at once', async () => {
  const disk: Disk = { ...slow }
  const { put, find, pauses } = await openSlow(disk)
  failSync(disk)
  await expect(put('a')).rejects.toThrow('EIO')
  const synced = Promise.withResolvers<void>()
  ;[disk.until, disk.held] = [synced.promise, true]
  const refused = { code: 'unavailable', detail: { retryAfter: 1 } }
  const [tried, waited] = [put('b').catch((cause) => cause), put('c').catch((cause) => cause)]
  while (disk.rewrites === 0) await turns(1)
  const late = put('d').catch((cause) => cause)
  synced.reject(new Error('EIO'))
  expect([String(await tried), String(await waited)]).toEqual(['Error: EIO', 'Error: EIO'])
  expect(await late).toMatchObject(refused)
  disk.until = null
  expect(await put('e').catch((cause) => cause)).toMatchObject(refused)
  expect([disk.rewrites, await find('a')]).toEqual([1, null])
  for (const end of pauses.splice(0)) end()
  disk.held = false
  await put('f')
  expect([disk.rewrites, await find('a'), await find('e'), await find('f')]).toEqual([
    2,
    '1',
    null,
    '1',
  ])
})

test('effects of a commit follow when it is on disk, whatever its connection says as it closes', async () => {
  const disk: Disk = { ...slow }
  const { engine, put, find, failed } = await openSlow(disk)
  failSync(disk)
  let effects = 0
  const write = engine.transact({ roots: 'none' }, async (tx) => {
    await tx.put('a', '1')
    tx.afterCommit(() => effects++)
  })
  await expect(write).rejects.toThrow('EIO')
  ;[disk.until, disk.close] = [null, new Error('closed')]
  await put('b')
  disk.close = null
  expect([effects, await find('a'), await find('b')]).toEqual([1, '1', '1'])
  expect(failed.map(([cause]) => String(cause))).toEqual(['Error: EIO', 'Error: closed'])
})

test('a try that fails after long work has a longer pause, and its refusals say why', async () => {
  const disk: Disk = { ...slow }
  const { put, pauses } = await openSlow(disk)
  failSync(disk)
  await expect(put('a')).rejects.toThrow('EIO')
  disk.held = true
  disk.beside = () => {
    // Failures that the kernel has still to tell are heard of before the log is written again.
    expect(disk.forgotten).toBe(1)
    disk.waitMs = 500
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
  }
  await expect(put('b')).rejects.toThrow('no space left')
  const refused = await put('c').catch((cause) => cause)
  expect(refused).toMatchObject({ code: 'unavailable', detail: { retryAfter: 5 } })
  expect(diskFailure(refused)).toMatchObject({ code: 'ENOSPC', full: true })
  ;[disk.until, disk.beside, disk.held] = [null, null, false]
  for (const end of pauses.splice(0)) end()
  await put('d')
})

test('a sync that failed in COMMIT is not told again to the next one that is measured', async () => {
  const disk: Disk = { ...slow }
  const { put } = openNotes(disk)
  const failed = (code: string) => Object.assign(new Error('disk I/O error'), { code })
  for (const code of ['SQLITE_IOERR_WRITE', 'SQLITE_IOERR_FSYNC']) {
    disk.commit = failed(code)
    await expect(put('a')).rejects.toThrow('disk I/O error')
  }
  disk.commit = null
  await put('a')
  expect(disk.forgotten).toBe(1)
})

test('no other program writes while the log is written again', async () => {
  const disk: Disk = { ...slow }
  const { put, path, peek: seen } = await openSlow(disk)
  const other = new Sqlite(path)
  closers.push(() => other.close())
  const write = () => other.run("INSERT INTO notes VALUES ('b', '1')")
  let refused = 0
  disk.beside = () => {
    refused++
    expect(write).toThrow('locked')
  }
  failSync(disk)
  await expect(put('a')).rejects.toThrow('EIO')
  disk.until = null
  await put('c')
  write()
  expect([refused, seen('a'), seen('b'), seen('c')]).toEqual([1, '1', '1', '1'])
})

test('it says when all that other processes can read is on disk', async () => {
  const disk: Disk = { ...slow }
  const { engine, put, peek: other } = await openSlow(disk)
  const synced = Promise.withResolvers<void>()
  disk.until = synced.promise
  const write = put('a')
  while (disk.syncs === 0) await turns(1)
  let settled = false
  const wait = engine.settled().then(() => (settled = true))
  await turns()
  expect([other('a'), settled]).toEqual(['1', false])
  disk.until = null
  synced.resolve()
  await Promise.all([write, wait])
  // Nothing waits there.
  await engine.settled()
  expect(disk.syncs).toBe(1)

  failSync(disk)
  await expect(put('b')).rejects.toThrow('EIO')
  await expect(engine.settled()).rejects.toThrow('EIO')
  await turns()
  disk.until = null
  await engine.settled()
  expect([disk.rewrites, other('b')]).toEqual([2, '1'])
})

test('after a failed sync nothing that is not on disk gets into the file', async () => {
  const disk: Disk = { ...slow }
  const { put, path } = await openSlow(disk)
  const before = new Sqlite(path)
  before.run('PRAGMA wal_checkpoint(PASSIVE)')
  const file = readFileSync(path)
  failSync(disk)
  await expect(put('a')).rejects.toThrow('EIO')
  // Another connection tries to.
  before.run('PRAGMA wal_checkpoint(PASSIVE)')
  expect(readFileSync(path).equals(file)).toBe(true)
  before.close()
  disk.until = null
  await put('b')
})

test('a log that lost what was written ends the process, because only another one can go on', async () => {
  const disk: Disk = { ...slow }
  const { put, find, ended, path } = await openSlow(disk)
  failSync(disk)
  await expect(put('a')).rejects.toThrow('EIO')
  const log = readFileSync(`${path}-wal`)
  // The kernel dropped the pages: they are read from the disk now, which has other bytes.
  writeFileSync(`${path}-wal`, Buffer.concat([log.subarray(0, -100), Buffer.alloc(100)]))
  disk.until = null
  await expect(put('b')).rejects.toThrow('not as it was written')
  expect([ended, await find('a')]).toEqual([['SQLITE_IOERR_DATA'], null])
  writeFileSync(`${path}-wal`, log)
})

test('closing with a log that cannot be synced ends the process, and the next one finds it', async () => {
  const disk: Disk = { ...slow }
  const { put, path, close, ended } = await openSlow(disk)
  const file = readFileSync(path)
  failSync(disk)
  await expect(put('a')).rejects.toThrow('EIO')
  const log = readFileSync(`${path}-wal`)
  await close()
  expect([ended.length, readFileSync(path).equals(file)]).toEqual([1, true])
  expect(readFileSync(`${path}-wal`).equals(log)).toBe(true)
  const next = openConnection(path)
  closers.push(() => next.close())
  const { clean } = next.query<{ clean: number }, []>('SELECT clean FROM state').get()!
  expect([clean, peekAtNote(path, 'a')]).toEqual([0, '1'])
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

test('a pinned state that a read error ended is not replaced by a later one', async () => {
  const connection = openConnection(newFile())
  closers.push(() => reader.close())
  const reader = new Reader(connection, () => connection)
  reader.pin()
  connection.run('ROLLBACK')
  await expect(reader.snapshot(async () => null)).rejects.toThrow('lost')
  const look = () => reader.look(async () => null)
  const refused = { status: 'rejected' as const, reason: new Error('the pinned state is lost') }
  expect(await Promise.allSettled([look(), look()])).toEqual([refused, refused])
  expect(await Promise.allSettled([look()])).toEqual([refused])
  reader.unpin()
  reader.pin()
  const lost = reader.snapshot(async () => void connection.run('ROLLBACK'))
  await expect(lost).rejects.toThrow('lost')
  reader.unpin()
  reader.pin()
  const ending = reader.look(async () => void connection.run('ROLLBACK'))
  const [, behind] = await Promise.allSettled([ending, look()])
  expect(behind).toEqual(refused)
  reader.unpin()
  expect(await reader.snapshot(async ({ inTransaction }) => inTransaction)).toBe(true)
})

test('the log is written again only if all of it is whole', () => {
  // Longer than a piece of 1 MiB.
  const { path, frames, wal } = openLog(2_500_000)
  closers.push(wal.close)
  const log = readFileSync(`${path}-wal`)
  wal.rewrite(frames)
  expect(readFileSync(`${path}-wal`).equals(log)).toBe(true)
  const frame = 24 + 4096
  for (const [at, reason] of [
    [0, /header$/],
    [9, /header$/],
    [16, /header$/],
    [24, /header$/],
    [32, /frame 1$/],
    [32 + 8, /frame 1$/],
    [32 + frame + 8, /frame 2$/],
    [32 + frame + 24 + 100, /frame 2$/],
    [32 + 400 * frame - 1, /frame 400$/],
    [32 + frames * frame - 1, new RegExp(`frame ${frames}$`)],
  ] as const) {
    const damaged = Buffer.from(log)
    damaged[at] = (damaged[at] ?? 0) ^ 4
    writeFileSync(`${path}-wal`, damaged)
    expect(() => wal.rewrite(frames)).toThrow(reason)
  }
  writeFileSync(`${path}-wal`, log.subarray(0, -8))
  expect(() => wal.rewrite(frames)).toThrow('short')
  // An older log may have been longer.
  const longer = Buffer.concat([log, Buffer.alloc(frame + 3, 'x')])
  writeFileSync(`${path}-wal`, longer)
  wal.rewrite(frames)
  expect(readFileSync(`${path}-wal`).equals(longer)).toBe(true)
  writeFileSync(`${path}-wal`, log)
})

test('a sync waits for no thread that is held up', async () => {
  const { path, wal } = openLog(100, 50)
  const pipes = Array.from({ length: 2 * availableParallelism() + 8 }, (_, at) =>
    join(newDirectory(), String(at)),
  )
  Bun.spawnSync(['mkfifo', ...pipes])
  // Opening a pipe takes as long as nobody writes to it.
  const opened = pipes.map((pipe) => new Promise((resolve) => open(pipe, 'r', resolve)))
  let free = false
  const ended = Promise.all(opened).then(() => (free = true))
  // Nobody hears a sync any more that a thread was late for, so that no other begins there meanwhile.
  let atOnce = false
  for (let tries = 0; tries < 20 && !atOnce; tries++) {
    await wal.sync(false)
    let synced = false
    const again = wal.sync(false).then(() => (synced = true))
    for (let turn = 0; turn < 10; turn++) await null
    atOnce = synced
    await again
  }
  expect([free, atOnce]).toEqual([false, true])
  // A file that is opened now must not get the number of the one that is still to be synced.
  const opens = () => {
    const links = readdirSync('/proc/self/fd').map((fd) => linkOf(`/proc/self/fd/${fd}`))
    return links.filter((file) => file === realpathSync(`${path}-wal`)).length
  }
  const before = opens()
  wal.forget()
  wal.close()
  wal.close()
  expect(before - opens()).toBe(1)
  const writers = pipes.map((pipe) => openSync(pipe, 'r+'))
  await ended
  for (const writer of writers) closeSync(writer)
  await until('the late sync', () => before - opens() === 2)
})

test('after a thread that was held up, commits wait by themselves for a while', async () => {
  const disk: Disk = { ...slow }
  const { put } = await openSlow(disk)
  await put('a')
  disk.waitMs = limits.asidePatienceMs
  await put('a')
  disk.waitMs = slow.waitMs
  const syncs = disk.syncs
  for (let commit = 0; commit < limits.asideMeasured + limits.asideCommits; commit++) await put('a')
  expect([syncs, disk.syncs]).toEqual([2, 2])
  await put('a')
  expect(disk.syncs).toBe(3)
})

test('on a slow disk the log becomes longer before it is folded, and it has a bound there, too', async () => {
  const framesOf = (bytes: number) => Math.floor(bytes / (4096 + 24))
  const pages = 500
  /** The longest log while so many frames are written. */
  const longest = async (disk: Disk, frames: number) => {
    const { put, find, path } = openNotes(disk)
    for (let commit = 0; commit < limits.asideCommits; commit++) await put('begin')
    for (let written = 0; written < frames; written += pages) {
      // SQLite writes no page that stays as it was.
      await put(
        'a',
        String(written)
          .padStart(8, 'x')
          .repeat(pages * 512),
      )
      await find('a')
    }
    return framesOf(statSync(`${path}-wal`).size)
  }
  const { logFramesMax, slowLogFramesMax } = limits
  const fast: Disk = { ...slow, waitMs: limits.asideSyncMs / 2 }
  expect(await longest(fast, 4 * logFramesMax)).toBeLessThan(1.5 * logFramesMax)
  expect(await longest({ ...slow }, 4 * logFramesMax)).toBeGreaterThan(3 * logFramesMax)
  expect(await longest({ ...slow }, 2 * slowLogFramesMax)).toBeLessThan(1.25 * slowLogFramesMax)
})

test('a database without a log has none to sync', () => {
  expect(openWal(join(newDirectory(), 'none.db'))).toBeNull()
})

/** The file of a descriptor. One is that of the list itself, which is closed by now. */
function linkOf(descriptor: string): string {
  try {
    return readlinkSync(descriptor)
  } catch {
    return ''
  }
}

/** A log with some frames, which is all that its file holds. */
function openLog(bytes: number, patienceMs?: number) {
  const path = newFile()
  const connection = openConnection(path)
  connection.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1)
  connection.run("INSERT INTO notes VALUES ('a', ?)", ['x'.repeat(bytes)])
  const row = connection.query<{ log: number }, []>('PRAGMA wal_checkpoint(NOOP)').get()
  const wal = openWal(path, patienceMs)!
  closers.push(() => connection.close())
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
