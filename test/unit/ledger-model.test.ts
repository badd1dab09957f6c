import { afterAll, expect, test } from 'bun:test'
import { runLedger } from '../fuzz/ledger.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import '../support/checked-roots.ts'
import { cleanUp } from '../support/server.ts'

afterAll(cleanUp)

const first = chooseSeed()
for (const seed of [first, first + 1]) {
  test(`random transactions agree with a plain map, SEED=${seed}`, async () => {
    const { operations, settled } = await runLedger(new Random(seed), 3000)
    expect(operations).toBe(3000)
    // A fuzzer that is always refused proves nothing.
    expect(settled).toBeGreaterThan(100)
  })
}
