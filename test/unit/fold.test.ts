/** The fold of a large file in two steps. Folds of the files of these tests are fast, so the bounds are set for them. */
import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { closeSync, openSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import type { SyncFile } from '../../src/db/fold.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import { openConnection, SqliteEngine, type SqliteOptions } from '../../src/db/sqlite.ts'
import { openSyncFile, openWal } from '../../src/db/wal.ts'
import { createNotes } from '../contract/notes.ts'
import type { Notes } from '../contract/port.ts'
import { closeOnce } from '../support/note-file.ts'
import { cleanUp, newDirectory } from '../support/server.ts'
import { until } from '../support/until.ts'

const kept = { ...limits }
const framesMax = 40
beforeAll(() => {
  Object.assign(limits, { logFramesMax: framesMax, slowLogFramesMax: framesMax, longFoldMs: 0 })
})
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})
afterAll(async () => {
  Object.assign(limits, kept)
  await cleanUp()
})

function openNotes(syncFile: SyncFile, options: Partial<SqliteOptions<Notes>> = {}) {
  const path = join(newDirectory(), 'notes.db')
  const notes = openConnection(path)
  notes.run('CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT)')
  notes.close()
  const failed: unknown[] = []
  const ended: string[] = []
  const engine = new SqliteEngine<Notes>({
    ...{ path, schema: couponSchema, now: () => 1_800_000_000, stores: createNotes },
    events: { committed: () => undefined, failed: (cause) => failed.push(cause) },
    end: ({ code }) => ended.push(code ?? ''),
    syncFile: () => syncFile,
    ...options,
  })
  closers.push(closeOnce(engine))
  let turn = 0
  return {
    path,
    failed,
    ended,
    /** A commit of some pages. Its value is one that no other has. */
    async put(name: string) {
      const value = String(turn++).padStart(8, 'x').repeat(1000)
      await engine.transact({ roots: 'none' }, (tx) => tx.put(name, value))
      expect(await engine.snapshot((tx) => tx.find(name))).toBe(value)
    },
    log() {
      using other = new Sqlite(path)
      return other
        .query<{ log: number; checkpointed: number }, []>('PRAGMA wal_checkpoint(NOOP)')
        .get() as { log: number; checkpointed: number }
    },
  }
}

/** A sync that the test ends. */
function heldSync() {
  const syncs: PromiseWithResolvers<void>[] = []
  const sync: SyncFile = () => {
    const one = Promise.withResolvers<void>()
    syncs.push(one)
    return one.promise
  }
  return { syncs, sync }
}

test('all but the newest commit is folded, commits go on while the file is synced, and the rest is folded then', async () => {
  const { syncs, sync } = heldSync()
  const { put, log, failed } = openNotes(sync)
  while (syncs.length === 0) await put('a')
  const first = log()
  expect(first.checkpointed).toBeGreaterThanOrEqual(framesMax)
  expect(first.checkpointed).toBeLessThan(first.log)
  for (let commit = 0; commit < 3; commit++) await put('b')
  // The log begins anew only when all of it is in the file.
  const later = log()
  expect([later.checkpointed, later.log > first.log]).toEqual([first.checkpointed, true])
  syncs[0]?.resolve()
  await put('c')
  expect(log().log).toBeLessThan(framesMax)
  expect([syncs.length, failed]).toEqual([1, []])
})

test('a sync that does not end leaves the log below twice its bound', async () => {
  const { syncs, sync } = heldSync()
  const { put, log } = openNotes(sync)
  let longest = 0
  while (syncs.length < 3) {
    await put('a')
    longest = Math.max(longest, log().log)
  }
  expect(longest).toBeGreaterThan(1.5 * framesMax)
  expect(longest).toBeLessThan(2.5 * framesMax)
})

test('a sync that fails ends the process: SQLite never writes those pages again', async () => {
  const { syncs, sync } = heldSync()
  const { put, ended } = openNotes(sync)
  while (syncs.length === 0) await put('a')
  syncs[0]?.reject(Object.assign(new Error('a page is lost'), { code: 'EIO' }))
  await until('the process ends', () => ended.length > 0)
  expect(ended).toEqual(['EIO'])
})

test('a fold that does not take long has one step', async () => {
  Object.assign(limits, { longFoldMs: 60_000 })
  const { syncs, sync } = heldSync()
  const { put, log } = openNotes(sync)
  for (let commit = 0; commit < framesMax; commit++) await put('a')
  Object.assign(limits, { longFoldMs: 0 })
  expect(syncs).toEqual([])
  expect(log().log).toBeLessThan(1.5 * framesMax)
})

test.each([0, 1])(
  'the reader of a slow disk stays pinned, whichever step its first commit finds (%d)',
  async (before) => {
    // A commit writes more than this, and less than twice as much.
    Object.assign(limits, { logFramesMax: 3, slowLogFramesMax: 3 })
    let clock = 0
    let syncs = 0
    const sync = async () => void syncs++
    const { put, failed } = openNotes(sync, {
      wal: openWal,
      time: {
        steadyMs: () => (clock += limits.asideSyncMs),
        processorWaitMs: () => 0,
        after: (_, call) => setImmediate(call),
      },
    })
    for (let commit = 0; commit < before; commit++) await put('before')
    for (let commit = 0; commit < 3 * limits.asideCommits; commit++) await put('a')
    Object.assign(limits, { logFramesMax: framesMax, slowLogFramesMax: framesMax })
    expect(failed).toEqual([])
    // The commits of before have their steps.
    expect(syncs).toBeGreaterThan(0)
    expect(syncs).toBeLessThanOrEqual(limits.asideCommits)
  },
)

test('a file is synced by a descriptor that stays open, so that SQLite keeps its locks', async () => {
  const path = join(newDirectory(), 'a.db')
  const connection = openConnection(path)
  connection.run('CREATE TABLE a (b)')
  const sync = openSyncFile(path)
  await sync()
  const next = openSync('/dev/null', 'r')
  closeSync(next)
  await sync()
  const used = Array.from({ length: next }, (_, file) => {
    try {
      return readlinkSync(`/proc/self/fd/${file}`)
    } catch {
      return ''
    }
  })
  // That of SQLite, and that of the syncs.
  expect(used.filter((file) => file === path)).toHaveLength(2)
  connection.close()
})
