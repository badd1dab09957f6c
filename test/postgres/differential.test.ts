/** The same requests on both engines, in a process of its own: it sets the time and all random numbers. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { chooseSeed } from '../fuzz/random.ts'

const seed = chooseSeed()
const program = join(import.meta.dir, '../differential/main.ts')

test(`both engines give the same answers, SEED=${seed}`, async () => {
  // A script that differs is told at once: to shorten it takes longer than a test has.
  const args = ['2', '--found', '--seed', String(seed), '--steps', '90', '--as-it-is']
  const child = Bun.spawn([process.execPath, program, ...args], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = await Promise.all(
    [child.stdout, child.stderr].map((stream) => new Response(stream).text()),
  )
  expect({ code: await child.exited, texts }).toEqual({
    code: 0,
    texts: [expect.stringMatching(/^\d\d+ requests in .* s: no difference\n$/), ''],
  })
}, 240_000)
