import { expect, test } from 'bun:test'
import { chooseSeed } from '../fuzz/random.ts'
import { kindOfComplaint } from '../support/shorten.ts'
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

for (const [at, { found: complaint, ...script }] of found.entries()) {
  test(`script ${at + 1} runs, which once told: ${complaint}`, async () => {
    await run(script)
  })
}

test('a script that fails shrinks to the steps that are needed', async () => {
  const script = scriptOf(7, 60)
  script.steps.splice(40, 0, { do: 'no such step', at: 0, n: [0, 0, 0], turns: 3 })
  const shorter = await shrink(script)
  expect(shorter.steps).toEqual([{ do: 'no such step', at: 0, n: [0, 0, 0], turns: null }])
})

test('a script shrinks to the steps of its own complaint, whatever else fails in it', async () => {
  const script = scriptOf(7, 60)
  script.steps.splice(20, 0, { do: 'no such step', at: 0, n: [0, 0, 0], turns: 3 })
  script.steps.push({ do: 'nor that one', at: 0, n: [0, 0, 0], turns: 3 })
  const { steps } = await shrink(script)
  expect(steps.map((step) => step.do)).toEqual(['no such step'])
})

test('the kind of a complaint has no values in it', () => {
  expect(kindOfComplaint(new Error('the batches: [["4f"]], but must be []\nmore'))).toBe(
    'Error: the batches:',
  )
  const [one, two] = ['a 3 of 71', 'a 12 of 0'].map((text) => kindOfComplaint(text))
  expect(one).toBe(two)
  expect(kindOfComplaint('refused as k1-used')).not.toBe(kindOfComplaint('refused as tap-used'))
})
