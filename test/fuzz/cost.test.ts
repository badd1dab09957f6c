import { afterAll, expect, test } from 'bun:test'
import { cleanUp } from '../support/server.ts'
import { fuzzCost } from './cost.ts'
import { chooseSeed, Random } from './random.ts'

afterAll(cleanUp)

const seed = chooseSeed()
test(`no request costs much more than a harmless one of its size, SEED=${seed}`, async () => {
  const { problems, attempts, accepted, notes } = await fuzzCost(new Random(seed), 4000)
  for (const note of notes) console.log(note)
  expect(problems).toEqual([])
  expect(attempts).toBeGreaterThan(4000)
  // A fuzzer that never gets past the first check proves nothing.
  expect(accepted).toBeGreaterThan(500)
}, 300_000)
