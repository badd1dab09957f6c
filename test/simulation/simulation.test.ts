import { expect, test } from 'bun:test'
import { chooseSeed } from '../fuzz/random.ts'
import { found } from './found.ts'
import { scriptOf } from './script.ts'
import { shrink } from './shrink.ts'
import { run } from './world.ts'

const seeds = 40
const first = chooseSeed()

test(`a simulated world agrees with plain maps, SEED=${first} and ${seeds - 1} after it`, async () => {
  let operations = 0
  for (let seed = first; seed < first + seeds; seed++) {
    operations += (await run(scriptOf(seed, 120))).operations
  }
  expect(operations).toBeGreaterThan(seeds * 40)
})

test('the same seed is the same world', async () => {
  const script = scriptOf(first, 120)
  const { trace, log } = await run(script)
  expect(await run(script)).toMatchObject({ trace, log })
})

for (const [at, script] of found.entries()) {
  test(`script ${at + 1} that failed once runs`, async () => {
    await run(script)
  })
}

test('a script that fails shrinks to the steps that are needed', async () => {
  const script = scriptOf(7, 60)
  script.steps.splice(40, 0, { do: 'no such step', at: 0, n: [0, 0, 0], turns: 3 })
  const shorter = await shrink(script)
  expect(shorter.steps).toEqual([{ do: 'no such step', at: 0, n: [0, 0, 0], turns: null }])
})
