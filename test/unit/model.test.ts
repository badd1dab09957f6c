import { afterAll, expect, test } from 'bun:test'
import { runModel } from '../fuzz/model.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import '../support/checked-roots.ts'
import { cleanUp } from '../support/server.ts'

afterAll(cleanUp)

const first = chooseSeed()
for (const seed of [first, first + 1, first + 2]) {
  test(`random operations agree with a plain map, SEED=${seed}`, async () => {
    const { operations } = await runModel(new Random(seed), 150)
    expect(operations).toBeGreaterThan(300)
  })
}
