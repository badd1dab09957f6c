/** A short run of `npm run disk-faults`: each workload with faults at some of its calls. */
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { testOfFile } from '../support/database.ts'
import { cleanUp } from '../support/server.ts'
import { whyNoDevice } from './disk-device.ts'
import { workloads } from './disk-faults.ts'

afterAll(cleanUp)

const unable = whyNoDevice()

/** To be sure of a contradiction takes up to `patienceSeconds`. */
const contradictionMs = 180_000

/** Step between the calls that fail, and the least number of faults: a workload that meets none proves nothing. */
const runs: [name: string, every: number, least: number][] = [
  ['service', 7, 20],
  ['slow-service', 48, 3],
  ['checkpoint', 6, 5],
  ['fold', 1, 1],
  ['start', 90, 3],
  ['stop', 6, 1],
  ['command', 190, 4],
  ['log', 1, 4],
]

testOfFile.each(runs)(
  'a disk that fails during a %s contradicts no answer, and the operator gets a line',
  async (name, every, least) => {
    if (unable !== null) return console.log(`left out: faults of a disk (${unable})`)
    const report = await workloads[name]?.({ every })
    expect(report?.problems).toEqual([])
    expect(report?.faults).toBeGreaterThanOrEqual(least)
  },
  contradictionMs,
)

/** The command that runs a program as the first process of a container would run. */
const alone = ['unshare', '--map-root-user', '--pid', '--fork', '--mount-proc']
const aloneRuns = Bun.which('unshare') !== null && Bun.spawnSync([...alone, 'true']).success

test('a service that has to end does so as the first process of a container, too', () => {
  if (!aloneRuns) return console.log('left out: the end of the first process (no unshare)')
  const fold = JSON.stringify(join(import.meta.dir, '../../src/db/fold.ts'))
  const run = `const { endProcess } = await import(${fold})
    console.log(process.pid)
    try {
      endProcess({ code: 'SQLITE_IOERR_FSYNC', message: 'x' })
    } finally {
      console.log('it goes on')
    }`
  const child = Bun.spawnSync([...alone, process.execPath, '-e', run])
  expect(child.stdout.toString()).toBe('1\n')
  expect(child.stderr.toString()).toContain('cuponera: the disk failed (SQLITE_IOERR_FSYNC): x')
  expect(child.success).toBe(false)
})

test('the command says that a compiler is missing, and fails', async () => {
  const program = join(import.meta.dir, 'disk-faults.ts')
  const child = Bun.spawn([process.execPath, program], { env: { PATH: '/nonexistent' } })
  expect(await new Response(child.stdout).text()).toMatch(/no C compiler|only on Linux/)
  expect(await child.exited).toBe(2)
})
