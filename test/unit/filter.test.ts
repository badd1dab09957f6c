import { describe, expect, test } from 'bun:test'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { createMatcher, filterView, parseFilter, tagValuesOf } from '../../src/nostr/filter.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { matches } from '../support/matches.ts'

const hex = 'a'.repeat(64)

describe('parseFilter', () => {
  test('accepts every key of NIP-01 and search, and returns them unchanged', () => {
    const filter = {
      ids: [hex],
      authors: [hex, 'b'.repeat(64)],
      kinds: [0, 65_535],
      since: 0,
      until: 1_700_000_000,
      limit: 5,
      search: 'café',
      '#e': [hex],
      '#D': ['', 'ñ'],
    }
    expect(filterView(parseFilter(filter) ?? { tags: new Map() })).toEqual(filter)
    expect(filterView(parseFilter({}) ?? { limit: 1, tags: new Map() })).toEqual({})
  })

  const wrong: [string, unknown][] = [
    ['null', null],
    ['a list', []],
    ['a string', '{}'],
    ['an unknown key', { relays: [] }],
    ['a tag of two letters', { '#ab': [] }],
    ['a tag that is no letter', { '#1': [] }],
    ['a bare #', { '#': [] }],
    ['a prefix of an id', { ids: ['ab'] }],
    ['an id in capitals', { ids: [hex.toUpperCase()] }],
    ['an id that is no text', { ids: [1] }],
    ['one id outside a list', { ids: hex }],
    ['a kind as text', { kinds: ['1'] }],
    ['a kind beyond 65535', { kinds: [65_536] }],
    ['a kind with a fraction', { kinds: [1.5] }],
    ['a negative date', { since: -1 }],
    ['a date as text', { until: '5' }],
    ['a limit of null', { limit: null }],
    ['a list over a thousand', { '#t': Array(1001).fill('x') }],
    ['a tag that is no text', { '#t': [5] }],
    ['a search over 256 characters', { search: 'x'.repeat(257) }],
    ['__proto__', JSON.parse('{"__proto__":{"kinds":[1]}}')],
  ]
  for (const [name, value] of wrong)
    test(`refuses ${name}`, () => expect(parseFilter(value)).toBeNull())
})

test('a tag without a value matches no filter, and the empty value matches its own', () => {
  const event = (tags: string[][]) =>
    ({ id: hex, pubkey: hex, kind: 1, created_at: 1, tags }) as NostrEvent
  const filter = parseFilter({ '#t': [''] }) ?? { tags: new Map() }
  for (const match of [createMatcher(filter), (one: NostrEvent) => matches(filter, one)]) {
    expect(match(event([['t']]))).toBe(false)
    expect(match(event([['t', '']]))).toBe(true)
  }
})

const seed = chooseSeed()
test(`a matcher decides as a walk through every list does, for any filter and event (SEED=${seed})`, () => {
  const random = new Random(seed)
  const names = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(64))
  const some = <T>(list: readonly T[]) =>
    Array.from({ length: random.below(3) }, () => random.pick(list))
  let matched = 0
  for (let round = 0; round < 5000; round++) {
    const filter = parseFilter({
      ...(random.chance(0.2) && { ids: some(names) }),
      ...(random.chance(0.3) && { authors: some(names) }),
      ...(random.chance(0.3) && { kinds: some([1, 5, 7]) }),
      ...(random.chance(0.3) && { since: random.below(10) }),
      ...(random.chance(0.3) && { until: random.below(10) }),
      ...(random.chance(0.3) && { '#t': some(['x', 'y', '']) }),
      ...(random.chance(0.1) && { '#e': some(names) }),
    })
    const event = {
      id: random.pick(names),
      pubkey: random.pick(names),
      kind: random.pick([1, 5, 7]),
      created_at: random.below(10),
      tags: some([['t', 'x'], ['t'], ['t', ''], ['e', names[0]], ['tt', 'x'], []]),
    } as NostrEvent
    if (!filter) throw new Error('the filter is not valid')
    const expected = matches(filter, event)
    const matcher = createMatcher(filter)
    expect([matcher(event), matcher(event, tagValuesOf(event))]).toEqual([expected, expected])
    if (expected) matched++
  }
  expect(matched).toBeGreaterThan(500)
})
