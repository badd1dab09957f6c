/** The bench on its own: a made file that is what it says, a load that runs short, and a peer that is any server. */
import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkDatabase } from '../../src/db/check.ts'
import { noPause } from '../../src/db/check-report.ts'
import { cleanUp, newDirectory } from '../support/server.ts'
import { get } from './kinds.ts'
import { median, medianBounds } from './machine.ts'
import { openMadeFile } from './made-file.ts'
import { endProcesses, rowOrNull, startLoader } from './processes.ts'
import { requireSameEngine } from './same-engine.ts'

afterAll(async () => {
  await endProcesses()
  await cleanUp()
})

test('a made file has no problems', async () => {
  const { directory } = await openMadeFile(newDirectory(), 1000)
  const report = await checkDatabase(join(directory, 'cuponera.db'), noPause)
  expect(report.problems).toEqual([])
  expect(report.rows.vouchers).toBe(1000)
})

test('a ceiling with another engine or another library is refused', () => {
  const program = join(newDirectory(), 'program')
  const library = join(newDirectory(), 'library')
  writeFileSync(library, 'the library')
  const both = { program: 'libsecp256k1 (embedded)', ceiling: 'libsecp256k1 (.native/linux-x64)' }
  writeFileSync(program, 'before the library after')
  expect(() => requireSameEngine([program], both, library)).not.toThrow()
  writeFileSync(program, 'before another library after')
  expect(() => requireSameEngine([program], both, library)).toThrow('another libsecp256k1')
  const pure = { ...both, ceiling: 'noble (pure JavaScript)' }
  expect(() => requireSameEngine([program], pure, library)).toThrow('signs with libsecp256k1')
})

test('the bounds of a median stand where a binomial has 2.5 % on either side', () => {
  const values = (count: number) => Array.from({ length: count }, (_, at) => count - at)
  expect([5, 6, 8, 9, 10, 12, 30, 100].map((count) => medianBounds(values(count)))).toEqual([
    null,
    [1, 6],
    [1, 8],
    [2, 8],
    [2, 9],
    [3, 10],
    [10, 21],
    [40, 61],
  ])
  expect([1, 2, 3].map((count) => median(values(count)))).toEqual([1, 1.5, 2])
})

/** A server that answers in chunks, as a peer may. */
function serveChunks() {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.enqueue(new TextEncoder().encode('{"status":"minted"}'))
            controller.close()
          },
        }),
        { status: 201 },
      ),
  })
}

test('a load whose values ran out runs again with more of them, and a row that fails is only left out', async () => {
  const server = serveChunks()
  const loader = startLoader()
  const counts: number[] = []
  const jobOf = (status: number | 'success', warmSeconds: number) => (count: number) => {
    counts.push(count)
    return {
      url: `http://127.0.0.1:${server.port}`,
      pid: null,
      request: get('/?nonce=$VALUE'),
      values: { from: 'random', count } as const,
      again: warmSeconds === 0,
      status,
      connections: 2,
      warmSeconds,
      seconds: 1,
    }
  }
  try {
    // The values end within the warm-up.
    await expect(loader.runFull(jobOf('success', 3600), 1)).rejects.toThrow(
      '64 values did not last',
    )
    expect(counts).toEqual([1, 2, 4, 8, 16, 32, 64])
    const said: string[] = []
    const row = await rowOrNull(
      'a row',
      (line) => said.push(line),
      () => loader.runFull(jobOf(200, 0), 100),
    )
    expect([row, said.length]).toEqual([null, 1])
    expect((await loader.runFull(jobOf('success', 0), 10)).perSecond).toBeGreaterThan(0)
  } finally {
    await server.stop(true)
  }
})
