import { expect, test } from 'bun:test'
import { msSince, thisMoment } from '../../src/db/postgres/elapsed.ts'

test('the time for which a machine was suspended counts, and a rounded second does not', () => {
  const then = { steadyMs: 5000, upSeconds: 100 }
  const at = (steadyMs: number, upSeconds: number) => msSince(then, { steadyMs, upSeconds })
  expect([at(5000, 100), at(5400, 101), at(7500, 102)]).toEqual([0, 400, 2500])
  // An hour of which only a tenth of a second was awake.
  expect(at(5100, 3700)).toBe(3_599_000)
})

test('a moment is of now', () => {
  expect(msSince(thisMoment())).toBeWithin(0, 60_000)
})
