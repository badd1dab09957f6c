import { expect, test } from 'bun:test'
import { limitView, parseBound, parseLimit } from '../../src/wallet/cards/limits.ts'

test.each([
  [0, 0n],
  [5, 5n],
  [Number.MAX_SAFE_INTEGER, 9_007_199_254_740_991n],
  ['0', 0n],
  ['9007199254740993', 9_007_199_254_740_993n],
  ['1000000000000000000', 1_000_000_000_000_000_000n],
])('%p is an amount', (value, amount) => {
  expect(parseBound(value)).toBe(amount)
})

test.each([
  -1,
  1.5,
  2 ** 53,
  Number.NaN,
  '',
  '-1',
  '1.0',
  '1e3',
  ' 1',
  '1000000000000000001',
  null,
  {},
])('%p is none', (value) => {
  expect(parseBound(value)).toBeNull()
})

test('a limit is returned as it was sent', () => {
  const limit = { name: 'Por día', description: '', token: 'PESO', amount: 5000, delta: 86_400 }
  const parsed = parseLimit(limit)
  expect(parsed).toEqual({ ...limit, amount: 5000n })
  expect(parsed && limitView(parsed)).toEqual(limit)
})

test.each([
  [{ name: 5 }],
  [{ name: 'x'.repeat(81) }],
  [{ description: 'x'.repeat(501) }],
  [{ token: '' }],
  [{ token: 'a b' }],
  [{ token: 'T'.repeat(33) }],
  [{ amount: -1 }],
  [{ delta: 86_400_000_000 }],
  [{ delta: undefined }],
])('a limit with %p is none', (wrong) => {
  const limit = { name: 'x', description: '', token: 'PESO', amount: 1, delta: 0 }
  expect(parseLimit({ ...limit, ...wrong })).toBeNull()
})
