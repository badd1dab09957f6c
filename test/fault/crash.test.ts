import { afterAll, expect, test } from 'bun:test'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { cleanUp } from '../support/server.ts'
import { crashRounds } from './crash.ts'

afterAll(cleanUp)

const seed = chooseSeed()
test(`every answer stays true after the server was killed under load, SEED=${seed}`, async () => {
  const report = await crashRounds(2, new Random(seed))
  expect(report.problems).toEqual([])
  expect(report.acknowledged).toBeGreaterThan(100)
})
