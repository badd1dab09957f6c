import { expect, test } from 'bun:test'
import { fuzzParser, parsers } from './parsers.ts'
import { chooseSeed, Random } from './random.ts'

const seed = chooseSeed()
test.each(Object.keys(parsers))(`%s throws nothing but a refusal, SEED=${seed}`, async (name) => {
  const { accepted } = await fuzzParser(name, new Random(seed), 2000)
  // A fuzzer that never gets past the first check proves nothing.
  expect(accepted).toBeGreaterThan(10)
})
