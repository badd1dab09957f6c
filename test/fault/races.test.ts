import { afterAll, expect, test } from 'bun:test'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { cleanUp } from '../support/server.ts'
import { races, runRaces } from './races.ts'

afterAll(cleanUp)

const seed = chooseSeed()
const sentences = Object.keys(races)

test(`races between processes end as promised: ${sentences.join('; ')}, SEED=${seed}`, async () => {
  expect(await runRaces({ rounds: 2 * sentences.length, random: new Random(seed) })).toEqual([])
})
