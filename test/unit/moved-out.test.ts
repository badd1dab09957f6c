import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/app/config.ts'
import { realStatFs, type StatFs } from '../../src/app/disk.ts'
import { closeForMove } from '../../src/app/move.ts'
import { createMovedOut } from '../../src/app/moved-out.ts'
import { createMoveOut } from '../../src/app/moving.ts'
import { openRuntime, type Runtime } from '../../src/app/runtime.ts'
import { createLog } from '../../src/base/log.ts'
import { OperatorError } from '../../src/base/operator-error.ts'
import type { Maintenance } from '../../src/db/maintenance.ts'
import type { Merchants } from '../../src/merchants/service.ts'

const passphrase = 'uno dos tres cuatro cinco seis siete ocho'
const caller = { pubkey: 'ab'.repeat(32), beganAt: 0, until: 0, spend: undefined }
const notBegun = { code: 'move-not-begun' }
const noRoom = { code: 'disk-low', detail: { retryAfter: 60 } }

const made: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const remove of made.splice(0).reverse()) await remove()
})

/** A service of one merchant. */
async function openService(statFs: StatFs = realStatFs): Promise<Runtime> {
  const directory = mkdtempSync(join(tmpdir(), 'cuponera-moved-'))
  made.push(() => rmSync(directory, { recursive: true, force: true }))
  const env = { DATA_DIR: join(directory, 'd') }
  const { config } = readConfig(new Map(), env, false)
  const opened = new AsyncDisposableStack()
  made.push(() => opened.disposeAsync())
  const runtime = await openRuntime(config, createLog('error', 'json'), { statFs, opened })
  await runtime.database.transact({ roots: ['roster'] }, async (tx) => {
    await tx.merchants.put({ ...caller, label: '', owner: true, createdAt: 1, expiresAt: null })
  })
  return runtime
}

/** The way out of that service when it was moved. */
async function createMoved(changed: Partial<Runtime> = {}) {
  const runtime = await openService()
  await runtime.database.transact({ roots: ['instance'] }, (tx) => tx.facts.pin('moved', '17'))
  const parts = { spend: async () => undefined, restart: () => undefined }
  return createMovedOut({ ...runtime, ...changed }, parts)
}

test('a moved service that opens again gives out no file, and does not say that it is closed', async () => {
  const moved = await createMoved()
  expect(await moved.begin(caller)).toEqual({ movedAt: 17 })
  const asked = moved.file(caller, passphrase).catch((refused) => refused)
  await moved.back(caller)
  expect(await asked).toMatchObject(notBegun)
  expect(await moved.file(caller, passphrase).catch((refused) => refused)).toMatchObject(notBegun)
  expect(await moved.begin(caller).catch((refused) => refused)).toMatchObject(notBegun)
  expect(await moved.back(caller).catch((refused) => refused)).toMatchObject(notBegun)
})

test('a file that is under way breaks off when the service opens again', async () => {
  const moved = await createMoved()
  const { stream } = await moved.file(caller, passphrase)
  await moved.back(caller)
  const [read] = await Promise.allSettled([new Response(stream).bytes()])
  expect(read.status).toBe('rejected')
})

test('a service is not closed where its copy has no room', async () => {
  const runtime = await openService(async () => ({ bavail: 0, bsize: 4096, blocks: 9 }))
  const merchants = { admission: () => 'let-in' } as unknown as Merchants
  const restart = () => {
    throw new Error('it was closed')
  }
  const out = createMoveOut(runtime, { merchants, restart })
  expect(await out.begin(caller).catch((refused) => refused)).toMatchObject(noRoom)
  expect(await runtime.database.snapshot((tx) => tx.facts.find('moved'))).toBeNull()
})

/** Its disk fails behind each commit, which stands nevertheless. `stored`: effects of the commits. */
function failDisk({ database }: Runtime): { failing: typeof database; stored: (() => void)[] } {
  const stored: (() => void)[] = []
  const failing: Pick<typeof database, 'transact' | 'snapshot'> = {
    snapshot: (query) => database.snapshot(query),
    async transact(plan, operation) {
      await database.transact(plan, (tx) =>
        operation({ ...tx, afterCommit: (effect) => void stored.push(effect) }),
      )
      throw new Error('EIO')
    },
  }
  return { failing: failing as typeof database, stored }
}

test('a service closes when its move is on disk, though its caller was told that the disk failed', async () => {
  const runtime = await openService()
  const { failing, stored } = failDisk(runtime)
  let restarts = 0
  const merchants = { admission: () => 'let-in' } as unknown as Merchants
  const restart = () => void restarts++
  const out = createMoveOut({ ...runtime, database: failing }, { merchants, restart })
  await expect(out.begin(caller)).rejects.toThrow('EIO')
  expect([restarts, stored.length]).toEqual([0, 1])
  stored[0]?.()
  expect(restarts).toBe(1)
})

test('a moved service opens again when that is on disk, and gives out no file before', async () => {
  const runtime = await openService()
  await runtime.database.transact({ roots: ['instance'] }, (tx) => tx.facts.pin('moved', '17'))
  const { failing, stored } = failDisk(runtime)
  let restarts = 0
  const parts = { spend: async () => undefined, restart: () => void restarts++ }
  const moved = createMovedOut({ ...runtime, database: failing }, parts)
  const { stream } = await moved.file(caller, passphrase)
  await expect(moved.back(caller)).rejects.toThrow('EIO')
  await expect(new Response(stream).bytes()).rejects.toThrow()
  expect([restarts, stored.length]).toEqual([0, 1])
  stored[0]?.()
  expect(restarts).toBe(1)
})

test('a way back that failed can be repeated, and a file leaves only behind a later write', async () => {
  const runtime = await openService()
  await runtime.database.transact({ roots: ['instance'] }, (tx) => tx.facts.pin('moved', '17'))
  const disk = { full: true }
  const full: Pick<typeof runtime.database, 'transact' | 'snapshot'> = {
    snapshot: (query) => runtime.database.snapshot(query),
    transact: (plan, operation) =>
      disk.full ? Promise.reject(new Error('full')) : runtime.database.transact(plan, operation),
  }
  let restarts = 0
  const parts = { spend: async () => undefined, restart: () => void restarts++ }
  const moved = createMovedOut({ ...runtime, database: full as typeof runtime.database }, parts)
  await expect(moved.back(caller)).rejects.toThrow('full')
  await expect(moved.begin(caller)).rejects.toThrow('full')
  await expect(moved.file(caller, passphrase)).rejects.toThrow('full')
  await expect(moved.back(caller)).rejects.toThrow('full')
  disk.full = false
  expect(await moved.begin(caller)).toEqual({ movedAt: 17 })
  const { stream } = await moved.file(caller, passphrase)
  expect((await new Response(stream).bytes()).length).toBeGreaterThan(0)
  disk.full = true
  await expect(moved.back(caller)).rejects.toThrow('full')
  disk.full = false
  await moved.back(caller)
  expect(restarts).toBe(1)
  expect(await moved.file(caller, passphrase).catch((refused) => refused)).toMatchObject(notBegun)
})

test('a moved service says that its copy has no room', async () => {
  const failure = new OperatorError('cannot write', 'disk-full')
  const maintenance = { backup: () => Promise.reject(failure) } as unknown as Maintenance
  const moved = await createMoved({ maintenance })
  expect(await moved.file(caller, passphrase).catch((refused) => refused)).toMatchObject(noRoom)
})

test('a service that went on in PostgreSQL gives out no file, makes no copy, and does not open by its page', async () => {
  const runtime = await openService()
  await closeForMove(runtime.database, 17, 'postgres')
  let copies = 0
  const backup = async () => void copies++
  const maintenance = { backup } as unknown as Maintenance
  const parts = { spend: async () => undefined, restart: () => undefined }
  const moved = createMovedOut({ ...runtime, maintenance }, parts)
  for (const step of [moved.begin(caller), moved.file(caller, passphrase), moved.back(caller)]) {
    expect(await step.catch((refused) => refused)).toMatchObject({ code: 'move-not-allowed' })
  }
  expect(copies).toBe(0)
})
