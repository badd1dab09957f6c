import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/app/config.ts'
import { realStatFs } from '../../src/app/disk.ts'
import { createMovedOut } from '../../src/app/moved-out.ts'
import { openRuntime } from '../../src/app/runtime.ts'
import { createLog } from '../../src/base/log.ts'

const passphrase = 'uno dos tres cuatro cinco seis siete ocho'
const caller = { pubkey: 'ab'.repeat(32), beganAt: 0, until: 0, spend: undefined }
const notBegun = { code: 'move-not-begun' }

const made: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const remove of made.splice(0).reverse()) await remove()
})

/** The way out of a service of one merchant that was moved. */
async function createMoved() {
  const directory = mkdtempSync(join(tmpdir(), 'cuponera-moved-'))
  made.push(() => rmSync(directory, { recursive: true, force: true }))
  const env = { DATA_DIR: join(directory, 'd') }
  const { config } = readConfig(new Map(), env, false)
  const opened = new AsyncDisposableStack()
  made.push(() => opened.disposeAsync())
  const log = createLog('error', 'json')
  const runtime = await openRuntime(config, log, { statFs: realStatFs, opened })
  await runtime.database.transact({ roots: ['instance', 'roster'] }, async (tx) => {
    await tx.merchants.put({ ...caller, label: '', owner: true, createdAt: 1, expiresAt: null })
    await tx.facts.pin('moved', '17')
  })
  const parts = { spend: async () => undefined, restart: () => undefined }
  return createMovedOut(runtime, parts)
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
