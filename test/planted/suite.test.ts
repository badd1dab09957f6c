/** A run counts as a catch only if a test of it failed, for a reason that it tells. */
import { describe, expect, test } from 'bun:test'
import { verdictOfCampaign, verdictOfTests } from './suite.ts'

const failure = `test/unit/a.test.ts:
12 |   expect(row).toEqual({ claimed: 1 })
error: expect(received).toEqual(expected)

  {
-   "claimed": 1,
+   "claimed": 0,
  }

- Expected  - 1
+ Received  + 1

      at <anonymous> (test/unit/a.test.ts:12:5)
(fail) a claim counts [3.21ms]

 2 pass
 1 fail
`

describe('tests', () => {
  const verdict = (output: string, code = 1, late = false) => verdictOfTests({ output, code, late })

  test('a failed test catches, with its reason', () => {
    expect(verdict(failure)).toEqual({
      kind: 'caught',
      test: 'a claim counts',
      reason: 'error: expect(received).toEqual(expected) - "claimed": 1, + "claimed": 0,',
    })
    const values = 'error: expect(received).toBe(expected)\n\nExpected: 201\nReceived: 503\n'
    expect(verdict(`${values}(fail) a refresh`)).toMatchObject({
      reason: 'error: expect(received).toBe(expected) Expected: 201 Received: 503',
    })
  })

  test('a suite without a failure passes if a test ran', () => {
    expect(verdict(' 3 pass\n 1 skip\n 0 fail\n', 0)).toEqual({ kind: 'passed' })
    expect(verdict(' 0 pass\n 4 skip\n 0 fail\n', 0)).toMatchObject({ kind: 'nothing' })
  })

  const nothing: Record<string, [string, boolean?]> = {
    'the end after the time of a suite': [failure, true],
    'a test that timed out': [
      'error: x\n(fail) waits [60001.00ms]\n  ^ this test timed out after 60000ms.\n',
    ],
    'a file that does not load': [
      '# Unhandled error between tests\nerror: Cannot find module "./b.ts"\n 0 pass\n 1 fail\n',
    ],
    'a hook that failed': ['error: no server\n(fail) (unnamed) [1.00ms]\n'],
    'an edit that is no program': ['ReferenceError: now is not defined\n(fail) a claim counts\n'],
    'a connection that the harness lost': [
      'TypeError: ECONNRESET: The socket connection was closed unexpectedly.\n(fail) a cut\n',
    ],
    'a failure without a reason': ['(fail) a claim counts\n'],
    'no test with that name': ['error: regex "x" matched 0 tests\n'],
  }
  for (const [name, [output, late = false]] of Object.entries(nothing)) {
    test(`${name} catches nothing`, () => {
      expect(verdict(output, 1, late)).toMatchObject({ kind: 'nothing' })
    })
  }
})

describe('campaigns', () => {
  const verdict = (output: string, code = 1, late = false) =>
    verdictOfCampaign({ output, code, late })

  test('a seed that failed catches, with its complaint', () => {
    expect(verdict('SEED=22 failed: Mismatch: a k1 twice\n')).toEqual({
      kind: 'caught',
      test: 'seed 22',
      reason: 'Mismatch: a k1 twice',
    })
    expect(verdict('SEED=8 differs: POST /api: 200 and 409\nmore\n')).toMatchObject({
      test: 'seed 8',
      reason: 'POST /api: 200 and 409',
    })
  })

  test('only a comparison passes, and an end without a seed catches nothing', () => {
    expect(verdict('9 operations, 1 s: no difference\n', 0)).toEqual({ kind: 'passed' })
    expect(verdict('', 0)).toMatchObject({ kind: 'nothing' })
    expect(verdict('error: this machine has no PostgreSQL\n')).toMatchObject({ kind: 'nothing' })
    expect(verdict('SEED=1 failed: x\n', 143, true)).toMatchObject({ kind: 'nothing' })
    expect(verdict('SEED=1 failed: ReferenceError: a is not defined\n')).toMatchObject({
      kind: 'nothing',
    })
  })
})
