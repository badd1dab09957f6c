import { describe, expect, test } from 'bun:test'
import { parseText } from '../../src/coupons/text.ts'
import { refusalOf } from '../support/refused.ts'

const rule = { field: 'name', charsMin: 1, charsMax: 3 }

describe('text passes as it was sent', () => {
  for (const text of [
    'a',
    'abc',
    '🧉🧉🧉',
    ' a ',
    '\u00a0',
    'e\u0301',
    '👩‍🍳',
    '\u200b',
    '\ufeff',
    '\u202e',
    '\ufffd',
  ]) {
    test(JSON.stringify(text), () => expect(parseText(text, rule)).toBe(text))
  }
  test('when it is empty and may be', () => {
    expect(parseText('', { field: 'description', charsMax: 3 })).toBe('')
  })
  test('when it has newlines and tabs where lines are allowed', () => {
    expect(parseText('\n\t', { ...rule, lines: true })).toBe('\n\t')
  })
})

describe('text is refused', () => {
  const bad: unknown[] = [
    ...[undefined, null, 1, true, {}, ['a'], ''],
    ...['abcd', '🧉🧉🧉🧉', '👩‍🍳a', 'x'.repeat(100_000)],
    ...['\ud800', 'a\udc00', '\udc00\ud800', 'a\ud83e'],
    ...['\u0000', '\n', '\t', '\r', '\u001f', '\u007f', '\u0080', '\u009f'],
  ]
  for (const value of bad) {
    test(JSON.stringify(value)?.slice(0, 40) ?? 'undefined', () => {
      expect(refusalOf(() => parseText(value, rule))).toEqual({
        code: 'field-invalid',
        field: 'name',
      })
    })
  }
  for (const value of ['\r', '\v', '\f', '\u0000', '\u0085', '\u001b']) {
    test(`${JSON.stringify(value)} where lines are allowed`, () => {
      const lines = { ...rule, lines: true }
      expect(refusalOf(() => parseText(value, lines))).toEqual({
        code: 'field-invalid',
        field: 'name',
      })
    })
  }
})
