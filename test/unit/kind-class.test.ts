import { expect, test } from 'bun:test'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { addressOf, classOf, expirationOf, newer } from '../../src/nostr/kind-class.ts'

const event = (kind: number, tags: string[][] = []) => ({ kind, tags }) as NostrEvent

test('kinds have the class of their range in NIP-01', () => {
  const classes = {
    regular: [1, 2, 4, 5, 44, 1000, 1112, 9735, 9999, 40_000, 65_535],
    replaceable: [0, 3, 10_000, 10_002, 19_999],
    ephemeral: [20_000, 20_402, 22_242, 24_133, 29_999],
    addressable: [30_000, 30_078, 39_999],
  }
  for (const [name, kinds] of Object.entries(classes)) {
    expect(kinds.map(classOf)).toEqual(kinds.map(() => name as never))
  }
})

test('an addressable event is identified by its first d tag, a replaceable one by its kind', () => {
  expect(addressOf(event(1, [['d', 'a']]))).toBeNull()
  expect(addressOf(event(20_001, [['d', 'a']]))).toBeNull()
  expect(addressOf(event(10_002, [['d', 'a']]))).toBe('')
  expect(
    addressOf(
      event(30_078, [
        ['e', 'x'],
        ['d', 'a'],
        ['d', 'b'],
      ]),
    ),
  ).toBe('a')
  expect(addressOf(event(30_078, [['d']]))).toBe('')
  expect(addressOf(event(30_078))).toBe('')
})

test('the newer event replaces the older, at the same second the one with the lower id', () => {
  const at = (created_at: number, id: string) => ({ created_at, id })
  expect(newer(at(2, 'b'), at(1, 'a'))).toBe(true)
  expect(newer(at(1, 'a'), at(2, 'b'))).toBe(false)
  expect(newer(at(1, 'a'), at(1, 'b'))).toBe(true)
  expect(newer(at(1, 'b'), at(1, 'a'))).toBe(false)
  expect(newer(at(1, 'a'), at(1, 'a'))).toBe(false)
})

test('an expiration is a whole number of seconds', () => {
  const table: [string[][], number | null][] = [
    [[['expiration', '1700000000']], 1_700_000_000],
    [[['expiration', '0']], 0],
    [
      [
        ['expiration', '5'],
        ['expiration', '6'],
      ],
      5,
    ],
    [[['expiration', '']], null],
    [[['expiration', '1.5']], null],
    [[['expiration', '-1']], null],
    [[['expiration', '1e9']], null],
    [[['expiration', '9'.repeat(16)]], null],
    [[['expiration']], null],
    [[], null],
  ]
  for (const [tags, expected] of table) expect(expirationOf(event(1, tags))).toBe(expected)
})
