import { afterAll, afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Config } from '../../src/app/config.ts'
import { startControl } from '../../src/app/control.ts'
import type { Runtime } from '../../src/app/runtime.ts'
import type { Log } from '../../src/base/log.ts'
import { connect } from '../../src/cli/control.ts'
import { cleanUp, newDirectory } from '../support/server.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})
afterAll(cleanUp)

/** The control socket of a service whose disk is slow. `synced`: when it has all that a check or a backup reads. */
function open(synced: Promise<void>) {
  const dataDir = newDirectory()
  const steps: string[] = []
  const told = (event: string) => void steps.push(event)
  const log: Log = { debug: () => undefined, info: () => undefined, warn: told, error: told }
  const config = { dataDir, databaseUrl: null } as Config
  const report = { problems: [], found: 0, seconds: 0, rows: {}, bytes: 1 }
  const done = (step: string) => async () => {
    steps.push(step)
    return report
  }
  const settled = async () => {
    await synced
    steps.push('settled')
  }
  const runtime = {
    ...{ config, log, metrics: { checked: () => undefined }, steady: () => 0 },
    database: { cleanStart: true, settled, checked: () => undefined },
    maintenance: { check: done('check'), backup: done('backup'), stop: () => undefined },
  } as unknown as Runtime
  const nobody = async () => []
  const control = startControl(runtime, {
    ...{ address: '', transfers: nobody, relays: nobody, commands: {} },
  })
  stops.push(() => control.stop())
  const ask = async (command: 'check' | 'backup') => {
    const answer = await connect(config).ask('POST', command, { file: join(dataDir, 'b.db') })
    steps.push('answer')
    return answer
  }
  return { ask, steps }
}

test.each(['check', 'backup'] as const)(
  'a %s tells what it read when it is on disk',
  async (command) => {
    const synced = Promise.withResolvers<void>()
    const { ask, steps } = open(synced.promise)
    const answer = ask(command)
    while (steps.length === 0) await Bun.sleep(1)
    synced.resolve()
    await answer
    expect(steps).toEqual([command, 'settled', 'answer'])
  },
)

test('a disk that fails refuses a check, and a backup stands with a line', async () => {
  const synced = Promise.reject(new Error('EIO'))
  synced.catch(() => undefined)
  const { ask, steps } = open(synced)
  await expect(ask('check')).rejects.toThrow('it failed')
  await ask('backup')
  expect(steps).toEqual(['check', 'control.failed', 'backup', 'backup.unsettled', 'answer'])
})
