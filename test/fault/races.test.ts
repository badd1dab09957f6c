import { afterAll, expect, test } from 'bun:test'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { dealt } from '../postgres/races/whole.ts'
import { cleanUp } from '../support/server.ts'
import { races, runRaces } from './races.ts'

afterAll(cleanUp)

const seed = chooseSeed()
const sentences = Object.keys(races)

test(`races between processes end as promised: ${sentences.join('; ')}, SEED=${seed}`, async () => {
  expect(await runRaces({ rounds: 2 * sentences.length, random: new Random(seed) })).toEqual([])
})

test('all parts of the race matrix are the whole, and each is another sample by another seed', () => {
  const pairs = Array.from({ length: 100 }, (_, at) => at)
  const parts = (seed: number) => [1, 2, 3].map((part) => dealt(pairs, { part, parts: 3, seed }))
  const all = parts(seed)
  expect(all.map(({ length }) => length)).toEqual([34, 33, 33])
  expect(all.flat().sort((a, b) => a - b)).toEqual(pairs)
  expect(parts(seed)).toEqual(all)
  expect(parts(seed + 1)).not.toEqual(all)
})
