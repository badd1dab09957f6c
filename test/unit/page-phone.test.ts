/** Numbers for WhatsApp: as people in Argentina write them, and as it wants them. */
import { describe, expect, test } from 'bun:test'
import { parsePhone } from '../../src/ui/hand/phone.ts'

describe('a number of Buenos Aires', () => {
  test.each([
    ...['11 2345-6789', '1123456789', '(011) 2345-6789', '011 15 2345-6789', '11 15 2345 6789'],
    ...['15 2345-6789', '15-2345-6789', '+54 9 11 2345-6789', '+5491123456789', '+54 11 2345-6789'],
    ...['0054 9 11 2345 6789', '5491123456789', '541123456789', '+54 9 11 15 2345-6789'],
    ...[
      '+54 011 15 2345-6789',
      '54 11 15 2345 6789',
      '9 11 2345-6789',
      '+54\u00a09\u00a011\u00a02345\u20116789',
    ],
    ...['11.2345.6789', '１１ ２３４５ ６７８９', '\u202a+54 9 11 2345-6789\u202c'],
  ])('%s', (typed) => {
    expect(parsePhone(typed)).toEqual({ digits: '5491123456789', text: '+54 9 11 2345-6789' })
  })
})

test.each([
  ['0351 15 234-5678', '5493512345678', '+54 9 351 234-5678'],
  ['351 2345678', '5493512345678', '+54 9 351 234-5678'],
  ['+54 9 351 234 5678', '5493512345678', '+54 9 351 234-5678'],
  // Area codes of four digits, one of which begins as one of three does not.
  ['02966 15 42-1234', '5492966421234', '+54 9 2966 42-1234'],
  ['2966421234', '5492966421234', '+54 9 2966 42-1234'],
  ['3541 15-421234', '5493541421234', '+54 9 3541 42-1234'],
  // A number that has 15 where another has its prefix.
  ['351 1534567', '5493511534567', '+54 9 351 153-4567'],
  ['11 1512-3456', '5491115123456', '+54 9 11 1512-3456'],
])('%s becomes %s', (typed, digits, text) => {
  expect(parsePhone(typed)).toEqual({ digits, text })
})

test.each([
  ['+598 99 123 456', '59899123456'],
  ['00 598 99 123456', '59899123456'],
  ['+1 (415) 555-0100', '14155550100'],
  ['+55 11 91234-5678', '5511912345678'],
])('%s of another country stays as it is', (typed, digits) => {
  expect(parsePhone(typed)).toEqual({ digits, text: `+${digits}` })
})

test.each([
  ['2345-6789', 'area'],
  ['15 234-5678', 'area'],
  ['421234', 'area'],
  ['', 'wrong'],
  ['12345', 'wrong'],
  ['juana', 'wrong'],
  ['11 2345-678x', 'wrong'],
  ['11 2345-67890', 'wrong'],
  ['4123456789', 'wrong'],
  ['+54 9 11 2345-67890', 'wrong'],
  ['+0 123 456 789', 'wrong'],
  ['+1234567', 'wrong'],
  ['+1234567890123456', 'wrong'],
  ['1'.repeat(5000), 'wrong'],
  ['++5491123456789', 'wrong'],
  ['https://wa.me/5491123456789', 'wrong'],
] as const)('%s gives no number: %s', (typed, trouble) => {
  expect(parsePhone(typed)).toBe(trouble)
})
