import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../src/base/refusal.ts'
import type { StoredDefinition } from '../../src/coupons/definition-store.ts'
import { localDay, secondsToNextDay } from '../../src/posters/day.ts'
import {
  changedPoster,
  dayOfTake,
  type Poster,
  parseNewPoster,
  parsePosterChanges,
  posterState,
} from '../../src/posters/poster.ts'

const shop = 'America/Argentina/Buenos_Aires'
/** 2026-11-22 at midnight in UTC, when the shop still has two hours and three of the day before. */
const midnight = Date.UTC(2026, 10, 22) / 1000
const day = midnight / 86_400

const poster: Poster = {
  ...{ rowId: 1, id: 'x', couponId: 'y', owner: 'z', label: null, perPerson: 1, perDay: null },
  ...{ total: null, timeZone: 'UTC', startsAt: null, endsAt: null, paused: false, taken: 0 },
  ...{ takenDay: 0, takenThatDay: 0, createdAt: 1, updatedAt: 1, deletedAt: null },
}
const definition = { archivedAt: null, expiresAt: null, maxUses: null, minted: 0 }

function fieldOf(run: () => unknown): string | null {
  try {
    run()
    return null
  } catch (refused) {
    if (!(refused instanceof Refusal)) throw refused
    return `${refused.code} ${refused.detail.field ?? ''}`.trim()
  }
}

describe('a day', () => {
  test('begins at midnight of its time zone', () => {
    expect(localDay(midnight, 'UTC')).toBe(day)
    expect(localDay(midnight, shop)).toBe(day - 1)
    expect(localDay(midnight + 3 * 3600, shop)).toBe(day)
    expect(localDay(midnight + 3 * 3600 - 1, shop)).toBe(day - 1)
    expect(secondsToNextDay(midnight, shop)).toBe(3 * 3600)
    expect(secondsToNextDay(midnight, 'UTC')).toBe(24 * 3600)
  })

  test('has 23 and 25 hours where the clocks change', () => {
    const spring = Date.UTC(2026, 2, 28, 23) / 1000
    const autumn = Date.UTC(2026, 9, 24, 22) / 1000
    expect(secondsToNextDay(spring, 'Europe/Berlin')).toBe(23 * 3600)
    expect(secondsToNextDay(autumn, 'Europe/Berlin')).toBe(25 * 3600)
  })

  test('needs a time zone that exists', () => {
    const zoned = (timeZone: unknown) => parseNewPoster({ timeZone }, midnight).timeZone
    expect(zoned(null)).toBe('UTC')
    expect(zoned(shop)).toMatch(/Buenos_Aires$/)
    for (const wrong of [
      5,
      '',
      'Mars/Base',
      '+03:00',
      'x'.repeat(65),
      'UTC\n',
      `a${'/a'.repeat(31)}`,
    ]) {
      expect(fieldOf(() => zoned(wrong))).toBe('field-invalid timeZone')
    }
  })

  test('of a take never goes back', () => {
    expect(dayOfTake({ ...poster, takenDay: day + 1 }, midnight)).toBe(day + 1)
    expect(dayOfTake({ ...poster, takenDay: day - 1 }, midnight)).toBe(day)
  })
})

describe('the fields of a poster', () => {
  test('have defaults', () => {
    expect(parseNewPoster({}, midnight)).toEqual({
      ...{ label: null, perPerson: 1, perDay: null, total: null },
      ...{ startsAt: null, endsAt: null, timeZone: 'UTC' },
    })
  })

  const wrong: [field: string, value: unknown][] = [
    ...[0, 101, 1.5, '1'].map((value): [string, unknown] => ['perPerson', value]),
    ...[0, 1_000_001].map((value): [string, unknown] => ['perDay', value]),
    ...[0, 1_000_001].map((value): [string, unknown] => ['total', value]),
    ...[0, 253_402_300_800].map((value): [string, unknown] => ['startsAt', value]),
    ['label', 'x'.repeat(81)],
    ['label', '\u202e'],
  ]
  test.each(wrong)('refuse %s: %p', (field, value) => {
    expect(fieldOf(() => parseNewPoster({ [field]: value }, midnight))).toBe(
      `field-invalid ${field}`,
    )
    expect(fieldOf(() => parsePosterChanges({ [field]: value }))).toBe(`field-invalid ${field}`)
  })

  test('refuse an end that lies behind, or before the start', () => {
    const over = { endsAt: midnight }
    expect(fieldOf(() => parseNewPoster(over, midnight))).toBe('expiry-past endsAt')
    const twisted = { startsAt: midnight + 9, endsAt: midnight + 9 }
    expect(fieldOf(() => parseNewPoster(twisted, midnight))).toBe('field-invalid endsAt')
    const edit = () => changedPoster({ ...poster, endsAt: 5 }, { startsAt: 5 }, midnight)
    expect(fieldOf(edit)).toBe('field-invalid endsAt')
  })

  test('change alone, and null clears', () => {
    expect(fieldOf(() => parsePosterChanges({ timeZone: shop }))).toBe('nothing-to-change')
    expect(fieldOf(() => parsePosterChanges({ paused: null }))).toBe('field-invalid paused')
    expect(parsePosterChanges({ total: null, perPerson: null, paused: true })).toEqual({
      ...{ total: null, perPerson: 1, paused: true },
    })
  })
})

test.each<[string, Partial<Poster>, Partial<typeof definition> | { archivedAt: number }]>([
  ['open', {}, {}],
  ['open', { startsAt: midnight, endsAt: midnight + 1, total: 2, taken: 1, perDay: 1 }, {}],
  ['paused', { paused: true, total: 1, taken: 1 }, {}],
  ['not-started', { startsAt: midnight + 1 }, {}],
  ['ended', { endsAt: midnight, paused: true }, {}],
  ['ended', {}, { archivedAt: 5 }],
  ['ended', {}, { expiresAt: midnight } as object],
  ['exhausted', { total: 2, taken: 2 }, {}],
  ['exhausted', {}, { maxUses: 3, minted: 3 } as object],
  ['today-exhausted', { perDay: 2, takenDay: day, takenThatDay: 2, taken: 9 }, {}],
  ['open', { perDay: 2, takenDay: day - 1, takenThatDay: 2, taken: 9 }, {}],
])('the page says %s: %p %p', (state, parts, terms) => {
  const of = { ...definition, ...terms } as StoredDefinition
  expect<string>(posterState({ ...poster, ...parts }, of, midnight)).toBe(state)
})
