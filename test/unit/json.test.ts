import { describe, expect, test } from 'bun:test'
import { parseJson, parseJsonArray, parseJsonObject, readJson } from '../../src/base/json.ts'
import { limits } from '../../src/base/limits.ts'
import { endMs, expectEnd } from '../support/ends.ts'

const { jsonDepthMax, jsonKeysMax, jsonDigitsMax } = limits
const bytesMax = 256 * 1024

const arrays = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
const keys = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":0`)}}`
const digits = (count: number) => `[${'1'.repeat(count)}]`

describe('a text at a bound is read, and a longer one is refused', () => {
  const table: [name: string, at: string, beyond: string, refused: string][] = [
    ['nested arrays', arrays(jsonDepthMax), arrays(jsonDepthMax + 1), 'too-deep'],
    ['nested objects', objects(jsonDepthMax), objects(jsonDepthMax + 1), 'too-deep'],
    ['arrays that never end', '[[]]', '['.repeat(20_000), 'too-deep'],
    ['keys of one object', keys(jsonKeysMax), keys(jsonKeysMax + 1), 'too-many-keys'],
    [
      'keys of many objects',
      `[${'{"a":1},'.repeat(jsonKeysMax - 1)}{"a":1}]`,
      `[${'{"a":1},'.repeat(jsonKeysMax)}{"a":1}]`,
      'too-many-keys',
    ],
    ['digits', digits(jsonDigitsMax), digits(jsonDigitsMax + 1), 'number-too-long'],
    [
      'digits behind the point',
      `[0.${'1'.repeat(jsonDigitsMax - 1)}]`,
      `[0.${'1'.repeat(jsonDigitsMax)}]`,
      'number-too-long',
    ],
    ['digits of an exponent', '[1e400]', `[1e${'0'.repeat(jsonDigitsMax)}]`, 'number-too-long'],
    [
      'bytes',
      ' '.repeat(bytesMax - 2).concat('[]'),
      ' '.repeat(bytesMax - 1).concat('[]'),
      'too-long',
    ],
  ]
  test.each(table)('%s', (_, at, beyond, refused) => {
    for (const form of [(text: string) => text, (text: string) => Buffer.from(text)]) {
      expect(readJson(form(at), bytesMax)).toEqual({ value: JSON.parse(at) })
      expect(readJson(form(beyond), bytesMax)).toEqual({ refused } as never)
    }
  })
})

test.each([
  ['brackets and digits inside of a string', `"${'[{'.repeat(500)}${'7'.repeat(500)}"`],
  ['a string that ends in backslashes', '["a\\\\",[[["\\\\\\"[{"]]]]'],
  ['brackets behind escaped quotes', `["${'\\"['.repeat(500)}"]`],
  ['many numbers, none of them long', `[${'1234567890,'.repeat(2000)}-1.5e-7]`],
  ['many arrays, none of them deep', `[${'[],'.repeat(20_000)}[]]`],
  ['an event with thousands of tags', eventOf(limits.relayTagsMax)],
  ['a request of ten filters with a thousand authors each', JSON.stringify(request())],
  ['keys twice: the last one counts', '{"a":1,"a":2}'],
  ['lone surrogates', '{"\\ud800":"\\udfff"}'],
])('reads %s', (_, text) => {
  const reading = readJson(text, 1024 * 1024)
  expect(reading).toEqual({ value: JSON.parse(text) })
})

test.each([
  ['nothing', ''],
  ['an open string', '["abc'],
  ['an open string with a backslash at its end', '["abc\\'],
  ['two values', '{}{}'],
  ['closing brackets only', ']]]]'],
])('refuses %s as no JSON', (_, text) => {
  expect(readJson(text, bytesMax)).toEqual({ refused: 'not-json' })
})

test('refuses bytes that are no UTF-8 as invalid JSON', () => {
  expect(readJson(Uint8Array.of(0x22, 0xff, 0x22), bytesMax)).toEqual({ refused: 'not-json' })
})

test('a __proto__ key is a plain key and no prototype', () => {
  const value = parseJsonObject('{"__proto__":{"admin":true},"a":1}', bytesMax)
  expect(value !== null && Object.keys(value)).toEqual(['__proto__', 'a'])
  const copy: Record<string, unknown> = { ...value }
  expect([copy.admin, Object.getPrototypeOf(copy) === Object.prototype]).toEqual([undefined, true])
})

test('returns the value, object or array, and null for another type', () => {
  expect([parseJson('1', 9), parseJson('nul', 9)]).toEqual([1, undefined])
  expect(['{"a":1}', '[]', 'null', '1'].map((text) => parseJsonObject(text, 9))).toEqual([
    { a: 1 },
    null,
    null,
    null,
  ])
  expect(['[1]', '{}', 'null', '['].map((text) => parseJsonArray(text, 9))).toEqual([
    [1],
    null,
    null,
    null,
  ])
})

test(
  'a hostile text of megabytes is judged without a second look at any part',
  () =>
    // A quadratic scan of so many would take hours.
    expectEnd(`
      import { readJson } from './src/base/json.ts'
      const length = 8 * 1024 * 1024
      for (const unit of ${JSON.stringify(['\\"', '\\\\', '"', '[]', '"",', '\\\\\\"', '0,', ':'])})
        readJson('["' + unit.repeat(length / unit.length - 1), length)
    `),
  2 * endMs,
)

function eventOf(tags: number): string {
  const one = ['p', 'a'.repeat(32)]
  return JSON.stringify({
    ...{ id: 'a'.repeat(64), pubkey: 'b'.repeat(64), created_at: 1, kind: 3 },
    ...{ tags: Array.from({ length: tags }, () => one), content: '', sig: 'c'.repeat(128) },
  })
}

function request(): unknown {
  const authors = Array.from({ length: limits.filterItemsMax }, () => 'a'.repeat(64))
  const filter = { authors, kinds: [1], '#e': ['x'], '#p': ['y'], since: 1, until: 2, limit: 500 }
  return ['REQ', 'name', ...Array.from({ length: limits.relayFiltersMax }, () => filter)]
}
