import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { codeOf, saltBytes, sameCode } from '../../src/merchants/code.ts'

const storeKey = new Uint8Array(32).fill(7)
const saltOf = (seed: number) =>
  createHash('sha256').update(String(seed)).digest().subarray(0, saltBytes)

test('a setup code has three groups of four symbols, and is derived from salt and key', () => {
  const code = codeOf(storeKey, saltOf(1))
  expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$/)
  expect(codeOf(storeKey, saltOf(1))).toBe(code)
  expect(codeOf(storeKey, saltOf(2))).not.toBe(code)
  expect(codeOf(new Uint8Array(32), saltOf(1))).not.toBe(code)
})

test('each of its twelve symbols is one of thirty-two', () => {
  const codes = Array.from({ length: 2000 }, (_, seed) => codeOf(storeKey, saltOf(seed)))
  const plain = codes.map((code) => code.replaceAll('-', ''))
  for (let at = 0; at < 12; at++) {
    expect(new Set(plain.map((code) => code[at])).size).toBe(32)
  }
})

describe('a typed code matches', () => {
  const same: [how: string, typed: string][] = [
    ['as it is shown', '01AB-CDEF-GHJK'],
    ['in small letters', '01ab-cdef-ghjk'],
    ['without dashes', '01ABCDEFGHJK'],
    ['with spaces', ' 01AB CDEF\tGHJK '],
    ['with the dashes of a phone', '01AB–CDEF—GHJK'],
    ['with O for 0 and I for 1', 'OIAB-CDEF-GHJK'],
    ['with small o for 0 and small l for 1', 'olab-cdef-ghjk'],
  ]
  test.each(same)('%s', (_, typed) => expect(sameCode(typed, '01AB-CDEF-GHJK')).toBe(true))
})

describe('a typed code does not match', () => {
  const other: [what: string, typed: string][] = [
    ['nothing', ''],
    ['white space', '   '],
    ['part of it', '01AB-CDEF'],
    ['more than it', '01AB-CDEF-GHJK-M'],
    ['another', '01AB-CDEF-GHJM'],
    ['one with U', '01AB-CDEF-GHJU'],
    ['one with a letter that only grows into the right length', '01AB-CDEF-GHß'],
    ['a pattern', '............'],
  ]
  test.each(other)('%s', (_, typed) => expect(sameCode(typed, '01AB-CDEF-GHJK')).toBe(false))
})
