import { describe, expect, test } from 'bun:test'
import { definitionView, parseChanges, parseNewDefinition } from '../../src/coupons/definition.ts'
import { refusalOf } from '../support/refused.ts'

const now = 1_800_000_000
const benefit = { type: 'percent', percent: 10 }
const least = { name: 'Café', benefit }

describe('a new definition', () => {
  test('needs a name and a benefit, and has defaults for the rest', () => {
    expect(parseNewDefinition(least, now)).toEqual({
      name: 'Café',
      description: '',
      image: null,
      benefit: { type: 'percent', percent: 10 },
      maxUses: null,
      expiresAt: null,
      rules: null,
      picture: null,
    })
  })

  const good: [field: string, sent: unknown, read: unknown][] = [
    ['name', '🧉'.repeat(80), '🧉'.repeat(80)],
    ['name', ' a ', ' a '],
    ['description', null, ''],
    ['description', 'a\n\tb', 'a\n\tb'],
    ['description', ' ', ' '],
    ['image', null, null],
    ['image', 'https://a.example', 'https://a.example'],
    ['image', 'https://a.example:8443/x?y#z', 'https://a.example:8443/x?y#z'],
    ['image', `https://a.example/${'x'.repeat(482)}`, `https://a.example/${'x'.repeat(482)}`],
    ['maxUses', null, null],
    ['maxUses', 1, 1],
    ['maxUses', 1_000_000, 1_000_000],
    ['expiresAt', null, null],
    ['expiresAt', now + 1, now + 1],
    ['expiresAt', 253_402_300_799, 253_402_300_799],
  ]
  for (const [field, sent, read] of good) {
    test(`${field} ${JSON.stringify(sent).slice(0, 40)} passes`, () => {
      expect(parseNewDefinition({ ...least, [field]: sent }, now)).toHaveProperty(field, read)
    })
  }

  const bad: [field: string, sent: unknown, code: string, named?: string][] = [
    ...[undefined, null, '', ' ', '\u3000', 1, 'x'.repeat(81), 'a\n', '\ud800'].map(
      (value) => ['name', value, 'field-invalid'] as [string, unknown, string],
    ),
    ...[1, [], 'x'.repeat(501), 'a\r\n', '\udfff'].map(
      (value) => ['description', value, 'field-invalid'] as [string, unknown, string],
    ),
    ...[
      '',
      1,
      'http://a.example',
      'a.example',
      'https:',
      'https://a@a.example',
      'https://:b@a.example',
      'https://a.example/ b',
      'https://a.example/\u2003',
      `https://a.example/${'x'.repeat(483)}`,
    ].map((value) => ['image', value, 'field-invalid'] as [string, unknown, string]),
    ...[0, -1, 0.5, 1_000_001, '1', Number.NaN, true].map(
      (value) => ['maxUses', value, 'field-invalid'] as [string, unknown, string],
    ),
    ...[0, -1, now + 0.5, 253_402_300_800, `${now + 1}`, {}].map(
      (value) => ['expiresAt', value, 'field-invalid'] as [string, unknown, string],
    ),
    ...[1, now - 1, now].map(
      (value) => ['expiresAt', value, 'expiry-past'] as [string, unknown, string],
    ),
    ['benefit', undefined, 'benefit-invalid'],
    ['benefit', { type: 'x' }, 'benefit-invalid', 'benefit.type'],
  ]
  for (const [field, sent, code, named] of bad) {
    test(`${field} ${(JSON.stringify(sent) ?? 'undefined').slice(0, 40)} is ${code}`, () => {
      const refused = refusalOf(() => parseNewDefinition({ ...least, [field]: sent }, now))
      expect(refused as unknown).toEqual({ code, field: named ?? field })
    })
  }
})

describe('changes', () => {
  test('contain the given fields and no others', () => {
    expect(parseChanges({ name: 'Té', x: 1 })).toEqual({ name: 'Té' })
    expect(parseChanges({ archived: false })).toEqual({ archived: false })
    expect(
      parseChanges({ description: null, image: null, maxUses: null, expiresAt: null }),
    ).toEqual({
      description: '',
      image: null,
      maxUses: null,
      expiresAt: null,
    })
  })

  test('may have an expiry in the past', () => {
    expect(parseChanges({ expiresAt: 1 })).toEqual({ expiresAt: 1 })
  })

  test('are refused when they are empty', () => {
    for (const fields of [{}, { id: 'x' }, { name: undefined }]) {
      expect(refusalOf(() => parseChanges(fields))).toEqual({ code: 'nothing-to-change' })
    }
  })

  test('are refused with an invalid value', () => {
    for (const [field, value] of [
      ['name', null],
      ['archived', null],
      ['archived', 1],
      ['maxUses', 0],
    ] as const) {
      expect(refusalOf(() => parseChanges({ [field]: value }))).toEqual({
        code: 'field-invalid',
        field,
      })
    }
    expect(refusalOf(() => parseChanges({ benefit: null }))).toEqual({
      code: 'benefit-invalid',
      field: 'benefit',
    })
  })
})

test('the view has exactly the fields of the protocol, without the owner', () => {
  const stored = {
    ...parseNewDefinition(least, now),
    ...{ id: 'x', owner: 'y', minted: 1, claimed: 2, archivedAt: null, createdAt: 3, updatedAt: 4 },
    rowId: 7,
  }
  expect(Object.keys(definitionView(stored))).toEqual([
    ...['id', 'name', 'description', 'image', 'benefit', 'maxUses', 'minted', 'claimed'],
    ...['expiresAt', 'archivedAt', 'createdAt', 'updatedAt'],
  ])
})
