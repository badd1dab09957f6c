/** The limits of a poster as a merchant types them, and what becomes of them. */
import { expect, test } from 'bun:test'
import type { Definition, Poster } from '../../src/client/models.ts'
import { pretendBrowser } from '../support/fake-browser.ts'

pretendBrowser()
const { emptyPoster, limitsIn, posterDraftOf, stateOf } = await import(
  '../../src/ui/panel/poster-draft.ts'
)

/** Noon on this device's clock, so that no time zone moves the day. */
const now = new Date(2026, 10, 22, 12).getTime() / 1000
const second = (...clock: [number, number, number, number?, number?, number?]) =>
  new Date(...clock).getTime() / 1000

const poster: Poster = {
  ...{ id: 'x', couponId: 'y', label: null, perPerson: 1, perDay: null, total: null },
  ...{ timeZone: 'UTC', startsAt: null, endsAt: null, paused: false, taken: 0, takenToday: 0 },
  ...{ createdAt: 1, updatedAt: 1 },
}
const coupon = { archivedAt: null, expiresAt: null, maxUses: null, minted: 0 } as Definition

test('a new poster has a total, and the limits that were typed', () => {
  expect(limitsIn(emptyPoster, null, now).found).toEqual({
    ...{ label: null, perPerson: 1, perDay: null, total: 100, startsAt: null, endsAt: null },
  })
  const draft = {
    ...{ label: ' Vidriera ', perPerson: '2', perDay: '1.000', total: '' },
    ...{ starts: '2026-11-23', ends: '2026-11-30' },
  }
  expect(limitsIn(draft, null, now).found).toEqual({
    ...{ label: 'Vidriera', perPerson: 2, perDay: 1000, total: null },
    startsAt: second(2026, 10, 23),
    endsAt: second(2026, 10, 30, 23, 59, 59),
  })
})

test('a poster that was opened and saved again keeps its times to the second', () => {
  const limited = { ...poster, total: 5, startsAt: now - 7, endsAt: now + 7 }
  const { label, perPerson, perDay, total, startsAt, endsAt } = limited
  expect(limitsIn(posterDraftOf(limited), limited, now).found).toEqual({
    ...{ label, perPerson, perDay, total, startsAt, endsAt },
  })
  // Also one that is over: its limits can be changed.
  const over = { ...limited, endsAt: now - 5 }
  expect(limitsIn(posterDraftOf(over), over, now).found?.endsAt).toBe(now - 5)
})

test.each([
  ['total', '0'],
  ['total', '1,5'],
  ['perDay', 'x'],
  ['perDay', '1000001'],
  ['perPerson', '101'],
  ['label', 'x'.repeat(81)],
  ['label', '\u202ex'],
  ['ends', '2026-11-21'],
  ['starts', 'x'],
] as const)('a draft with %s %p is not sent', (field, text) => {
  const { found, wrongs } = limitsIn({ ...emptyPoster, [field]: text }, null, now)
  expect([found, Object.keys(wrongs)]).toEqual([null, [field]])
})

test('a total below the number that was taken is not sent, but one that stood so stays', () => {
  const before = { ...poster, total: 5, taken: 3 }
  const total = (text: string, of: Poster) =>
    limitsIn({ ...posterDraftOf(of), total: text }, of, now).wrongs
  expect(total('2', before)).toEqual({ total: 'taken' })
  expect(total('3', before)).toEqual({})
  expect(total('', before)).toEqual({})
  expect(total('2', { ...before, total: 2 })).toEqual({})
})

test('a poster that would end before it starts is not sent', () => {
  const draft = { ...emptyPoster, starts: '2026-12-02', ends: '2026-12-01' }
  expect(limitsIn(draft, null, now).wrongs).toEqual({ ends: 'day' })
})

test.each<[string, Partial<Poster>, Partial<Definition>]>([
  ['open', { total: 2, taken: 1, perDay: 2, takenToday: 1, startsAt: now, endsAt: now + 1 }, {}],
  ['ended', { endsAt: now, paused: true }, {}],
  ['archived', { endsAt: now }, { archivedAt: 5 }],
  ['expired', { endsAt: now }, { expiresAt: now }],
  ['paused', { paused: true, startsAt: now + 9 }, {}],
  ['not-started', { startsAt: now + 1, total: 1, taken: 1 }, {}],
  ['exhausted', { total: 1, taken: 1, perDay: 1, takenToday: 1 }, {}],
  ['exhausted', {}, { maxUses: 3, minted: 3 }],
  ['today-exhausted', { perDay: 1, takenToday: 1 }, {}],
])('the panel says %s: %p %p', (state, parts, terms) => {
  expect<string>(stateOf({ ...poster, ...parts }, { ...coupon, ...terms }, now)).toBe(state)
})
