import { afterEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/app/config.ts'
import { writeMove } from '../../src/app/move.ts'
import { createMoveIn } from '../../src/app/moving.ts'
import type { Runtime } from '../../src/app/runtime.ts'
import { createLog } from '../../src/base/log.ts'
import { OperatorError, type OperatorErrorKind } from '../../src/base/operator-error.ts'
import { asOperatorError } from '../../src/db/backup.ts'

const made: string[] = []
afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true })
})

/** The way into an unused service whose check of a file ends with `failure`. */
async function createArriving(failure: Error) {
  const dataDir = mkdtempSync(join(tmpdir(), 'cuponera-moving-'))
  made.push(dataDir)
  const { config } = readConfig(new Map(), { DATA_DIR: dataDir }, false)
  const runtime = {
    config,
    log: createLog('error', 'json'),
    requireDisk: () => undefined,
    maintenance: { arrival: () => Promise.reject(failure) },
  }
  const merchants = { admission: () => 'private' }
  const parts = { merchants, restart: () => undefined }
  const moveIn = createMoveIn(runtime as unknown as Runtime, parts as never)
  const { ticket } = await moveIn.open(null, '127.0.0.1')
  moveIn.take(ticket, 0, Buffer.from('a file'))
  return { config, dataDir, ticket, moveIn }
}

const failures: [OperatorErrorKind, object, boolean][] = [
  ['passphrase', { code: 'move-passphrase-wrong' }, true],
  ['failed', { code: 'move-file-damaged' }, false],
  ['not-empty', { code: 'move-not-empty' }, false],
  ['disk-full', { code: 'disk-low', detail: { retryAfter: 60 } }, false],
  ['stopping', { code: 'shutting-down', detail: { retryAfter: 5 } }, false],
]
test.each(failures)('an arrival that fails as "%s" says so', async (kind, refusal, kept) => {
  const { dataDir, moveIn, ticket } = await createArriving(new OperatorError('why', kind))
  const words = 'uno dos tres cuatro cinco seis siete ocho'
  expect(await moveIn.finish(ticket, words).catch((cause) => cause)).toMatchObject(refusal)
  expect(existsSync(join(dataDir, 'arriving.cuponera'))).toBe(kept)
  expect(readdirSync(dataDir)).not.toContain('incoming')
  // Anew, with the same ticket.
  expect(moveIn.take(ticket, 0, Buffer.from('again'))).toEqual({ bytes: 5 })
})

test('a file that cannot be written is a line for the operator', async () => {
  const { config, dataDir } = await createArriving(new Error('not called'))
  const target = join(dataDir, 'not there', 'mudanza.cuponera')
  const [written] = await Promise.allSettled([
    writeMove(config, target, { passphrase: 'x', now: 1 }),
  ])
  expect(written).toMatchObject({ reason: { message: `cannot write ${target}: ENOENT` } })
  const full = Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'write' })
  expect(asOperatorError(full, target)).toMatchObject({ kind: 'disk-full' })
})
