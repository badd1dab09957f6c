import { describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { parseChanges, parseNewDefinition } from '../../src/coupons/definition.ts'
import {
  parsePurchase,
  parseRules,
  type Rules,
  type RuleTimes,
  requireRules,
} from '../../src/coupons/rules.ts'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { refusalOf } from '../support/refused.ts'

const workdays = { days: [1, 2, 3, 4, 5], from: '15:00', to: '18:00' }
const times = { timeZone: 'America/Argentina/Buenos_Aires', windows: [workdays] }
const minimum = { amount: 10_000, currency: 'ARS' } as const
const conditions = 'Sólo en efectivo.\nNo se suma a otras promociones.'
const full: Rules = { startsAt: 1_900_000_000, times, minimum, conditions }

const at = (text: string) => Date.parse(text) / 1000

describe('rules', () => {
  test('are read as they stand, without unknown keys and nulls, each part alone too', () => {
    expect(parseRules(full)).toEqual(full)
    expect(parseRules({ ...full, x: 1, minimum: { ...minimum, y: 2 } })).toEqual(full)
    for (const [name, value] of Object.entries(full)) {
      expect(parseRules({ startsAt: null, times: null, minimum: null, [name]: value })).toEqual({
        [name]: value,
      } as Rules)
    }
  })

  test('that restrict nothing are none', () => {
    for (const none of [undefined, null, {}, { startsAt: null }, { conditions: ' \n' }]) {
      expect(parseRules(none)).toBeNull()
    }
    expect(parseRules({ times: null, minimum: null, conditions: '', x: 1 })).toBeNull()
  })

  test('have weekdays once, in their order, and a time zone in the letters of its database', () => {
    const sent = {
      timeZone: 'america/argentina/BUENOS_AIRES',
      windows: [{ ...workdays, days: [7, 1, 7] }],
    }
    expect(parseRules({ times: sent })?.times).toEqual({
      timeZone: 'America/Argentina/Buenos_Aires',
      windows: [{ ...workdays, days: [1, 7] }],
    })
  })

  const inWindow = (change: object) => ({ times: { ...times, windows: [workdays, change] } })
  const bad: [sent: unknown, field: string][] = [
    ...[1, 'x', [], true].map((value): [unknown, string] => [value, 'rules']),
    ...[0, -1, 1.5, '1', 253_402_300_800, {}].map((value): [unknown, string] => [
      { startsAt: value },
      'rules.startsAt',
    ]),
    [{ times: 'x' }, 'rules.times'],
    ...[undefined, null, '', 3, '+03:00', 'Nope/Zone', 'Europe/Madrid ', 'x'.repeat(65)].map(
      (timeZone): [unknown, string] => [{ times: { ...times, timeZone } }, 'rules.times.timeZone'],
    ),
    ...[undefined, null, {}, [], Array.from({ length: 15 }, () => workdays)].map(
      (windows): [unknown, string] => [{ times: { ...times, windows } }, 'rules.times.windows'],
    ),
    [inWindow([]), 'rules.times.windows.1'],
    ...[undefined, [], [0], [8], [1.5], ['1'], [1, 2, 3, 4, 5, 6, 7, 1], {}].map(
      (days): [unknown, string] => [inWindow({ ...workdays, days }), 'rules.times.windows.1.days'],
    ),
    ...[undefined, '', '24:00', '9:00', '09:60', '09:00\n', 900].flatMap(
      (clock): [unknown, string][] => [
        [inWindow({ ...workdays, from: clock }), 'rules.times.windows.1.from'],
        [inWindow({ ...workdays, to: clock }), 'rules.times.windows.1.to'],
      ],
    ),
    [{ minimum: 5 }, 'rules.minimum'],
    ...[0, -1, 0.001, '5', 1e13, Number.NaN].map((amount): [unknown, string] => [
      { minimum: { ...minimum, amount } },
      'rules.minimum.amount',
    ]),
    [{ minimum: { amount: 1.5, currency: 'SAT' } }, 'rules.minimum.amount'],
    [{ minimum: { amount: 1, currency: 'EUR' } }, 'rules.minimum.currency'],
    ...['x'.repeat(501), 5, 'a\u0000', '\ud800', 'a\u202eb'].map((text): [unknown, string] => [
      { conditions: text },
      'rules.conditions',
    ]),
  ]
  for (const [sent, field] of bad) {
    test(`${JSON.stringify(sent).slice(0, 110)} is refused`, () => {
      expect(refusalOf(() => parseRules(sent))).toEqual({ code: 'field-invalid', field })
    })
  }

  test('may have the longest text and the most windows', () => {
    const text = '🧉'.repeat(limits.conditionsCharsMax)
    expect(parseRules({ conditions: text })).toEqual({ conditions: text })
    const windows = Array.from({ length: limits.ruleWindowsMax }, () => workdays)
    expect(parseRules({ times: { ...times, windows } })?.times?.windows).toHaveLength(14)
  })

  test('start before the coupon expires', () => {
    const now = at('2026-11-22T12:00:00Z')
    const create = (startsAt: number, expiresAt: number) => () =>
      parseNewDefinition(
        {
          name: 'Café',
          benefit: { type: 'percent', percent: 10 },
          expiresAt,
          rules: { startsAt },
        },
        now,
      )
    expect(create(now + 9, now + 10)().rules).toEqual({ startsAt: now + 9 })
    expect(refusalOf(create(now + 10, now + 10))).toEqual({
      code: 'field-invalid',
      field: 'rules.startsAt',
    })
  })

  test('are a change of their own, and null clears them', () => {
    expect(parseChanges({ rules: null })).toEqual({ rules: null })
    expect(parseChanges({ rules: { conditions } })).toEqual({ rules: { conditions } })
    expect(refusalOf(() => parseChanges({ rules: 1 }))).toEqual({
      code: 'field-invalid',
      field: 'rules',
    })
  })
})

describe('a purchase', () => {
  test('is an amount in a currency, or none', () => {
    expect([undefined, null].map(parsePurchase)).toEqual([null, null])
    expect(parsePurchase({ amount: 12.5, currency: 'USD', x: 1 })).toEqual({
      amount: 12.5,
      currency: 'USD',
    })
    const bad: [unknown, string][] = [
      [5, 'purchase'],
      [[], 'purchase'],
      [{ amount: 1 }, 'purchase.currency'],
      [{ amount: '1', currency: 'ARS' }, 'purchase.amount'],
      [{ amount: 0, currency: 'ARS' }, 'purchase.amount'],
    ]
    for (const [sent, field] of bad) {
      expect(refusalOf(() => parsePurchase(sent))).toEqual({ code: 'field-invalid', field })
    }
  })

  const ask = (purchase: Parameters<typeof requireRules>[1]) =>
    refusalOf(() => requireRules({ rules: { minimum }, expiresAt: null }, purchase, 1))?.code
  test('reaches the minimum in its currency, and is not asked for', () => {
    expect(ask(null)).toBeUndefined()
    expect(ask({ amount: 10_000, currency: 'ARS' })).toBeUndefined()
    expect(ask({ amount: 9999.99, currency: 'ARS' })).toBe('minimum-not-met')
    expect(ask({ amount: 20_000, currency: 'USD' })).toBe('minimum-not-met')
  })
})

/** Seconds to wait, null when it may be redeemed now, undefined when no moment is in sight. */
function wait(rules: Rules | null, now: number, expiresAt: number | null = null) {
  try {
    requireRules({ rules, expiresAt }, null, now)
    return null
  } catch (refused) {
    if (!(refused instanceof Refusal)) throw refused
    expect(refused.code).toBe('not-now')
    return refused.detail.retryAfter
  }
}

describe('the wait for a redemption', () => {
  // 23 November 2026 is a Monday; Buenos Aires is three hours behind UTC.
  const monday = (clock: string) => at(`2026-11-23T${clock}:00-03:00`)

  test('is none without rules, and ends with the start', () => {
    expect(wait(null, 5)).toBeNull()
    expect(wait({ conditions }, 5)).toBeNull()
    expect(wait({ startsAt: 100 }, 60)).toBe(40)
    expect(wait({ startsAt: 100 }, 100)).toBeNull()
  })

  test('ends with the next window, today, on Monday, or after the start', () => {
    expect(wait({ times }, monday('14:59'))).toBe(60)
    expect(wait({ times }, monday('15:00'))).toBeNull()
    expect(wait({ times }, monday('18:00') - 1)).toBeNull()
    expect(wait({ times }, monday('18:00'))).toBe(21 * 3600)
    const friday = monday('18:00') + 4 * 86_400
    expect(wait({ times }, friday)).toBe(2 * 86_400 + 21 * 3600)
    const startsAt = monday('16:30') + 7 * 86_400
    expect(wait({ times, startsAt }, monday('16:00'))).toBe(startsAt - monday('16:00'))
    expect(wait({ times, startsAt: startsAt + 2 * 3600 }, monday('16:00'))).toBe(8 * 86_400 - 3600)
  })

  test('has no end when the coupon expires first', () => {
    expect(wait({ times }, monday('14:00'), monday('15:00'))).toBeUndefined()
    expect(wait({ times }, monday('14:00'), monday('15:00') + 1)).toBe(3600)
  })

  test('ends past midnight for a window that belongs to the day before', () => {
    const late = { ...times, windows: [{ days: [1], from: '22:00', to: '02:00' }] }
    expect(wait({ times: late }, monday('21:00'))).toBe(3600)
    expect(wait({ times: late }, monday('23:59'))).toBeNull()
    expect(wait({ times: late }, monday('01:59') + 86_400)).toBeNull()
    expect(wait({ times: late }, monday('02:00') + 86_400)).toBe(6 * 86_400 + 20 * 3600)
    expect(wait({ times: late }, monday('01:00'))).toBe(21 * 3600)
  })

  test('is none on a whole day from midnight to midnight', () => {
    const all = { ...times, windows: [{ days: [1], from: '00:00', to: '00:00' }] }
    expect(wait({ times: all }, monday('00:00') - 1)).toBe(1)
    expect(wait({ times: all }, monday('00:00'))).toBeNull()
    expect(wait({ times: all }, monday('00:00') + 86_399)).toBeNull()
    expect(wait({ times: all }, monday('00:00') + 86_400)).toBe(6 * 86_400)
  })

  test('follows the clock of New York when it skips an hour and when it repeats one', () => {
    const york = (from: string, to: string): RuleTimes => ({
      timeZone: 'America/New_York',
      windows: [{ days: [7], from, to }],
    })
    // On 14 March 2027 the clock goes from 02:00 to 03:00, at 07:00 UTC.
    const skipped = at('2027-03-14T07:00:00Z')
    expect(wait({ times: york('02:30', '04:00') }, skipped - 60)).toBe(60)
    const gone = wait({ times: york('02:00', '03:00') }, skipped - 60) ?? 0
    expect(skipped - 60 + gone).toBe(at('2027-03-21T06:00:00Z'))
    // On 1 November 2026 it goes from 02:00 back to 01:00, at 06:00 UTC.
    const repeated = at('2026-11-01T06:00:00Z')
    const early = york('01:00', '01:30')
    expect(wait({ times: early }, repeated - 31 * 60)).toBeNull()
    expect(wait({ times: early }, repeated - 30 * 60)).toBe(30 * 60)
    expect(wait({ times: early }, repeated)).toBeNull()
  })

  /** The reading of the clock of a zone, by another way than the program's. */
  const open = ({ timeZone, windows }: RuleTimes, now: number): boolean => {
    const parts = new Map(
      clockOf(timeZone)
        .formatToParts(now * 1000)
        .map(({ type, value }) => [type, value]),
    )
    const names = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
    const today = names.indexOf(parts.get('weekday') ?? '') + 1
    const yesterday = today === 1 ? 7 : today - 1
    const clock = `${parts.get('hour')}:${parts.get('minute')}`
    return windows.some(({ days, from, to }) =>
      from < to
        ? days.includes(today) && from <= clock && clock < to
        : (days.includes(today) && from <= clock) || (days.includes(yesterday) && clock < to),
    )
  }
  const clocks = new Map<string, Intl.DateTimeFormat>()
  const clockOf = (timeZone: string) => {
    const clock =
      clocks.get(timeZone) ??
      new Intl.DateTimeFormat('en-GB', {
        timeZone,
        weekday: 'short',
        hour: '2-digit',
        minute: '2-digit',
        hourCycle: 'h23',
      })
    clocks.set(timeZone, clock)
    return clock
  }

  const zones = [
    'America/Argentina/Buenos_Aires',
    'America/New_York',
    'America/St_Johns',
    'America/Santiago',
    'Europe/Madrid',
    'Africa/Casablanca',
    'Asia/Kolkata',
    'Asia/Kathmandu',
    'Asia/Tehran',
    'Australia/Adelaide',
    'Australia/Lord_Howe',
    'Pacific/Chatham',
    'Pacific/Apia',
    'Pacific/Kiritimati',
    'UTC',
  ]
  const seed = chooseSeed()
  test(`is exact to the minute in any zone, at changes of the clock too (seed ${seed})`, () => {
    const random = new Random(seed)
    const clock = () =>
      `${String(random.below(24)).padStart(2, '0')}:${random.pick(['00', '15', '30', '59'])}`
    const start = at('2026-01-01T00:00:00Z')
    let waits = 0
    for (let round = 0; round < 400; round++) {
      const windows = Array.from({ length: 1 + random.below(3) }, () => ({
        days: [...new Set([1 + random.below(7), 1 + random.below(7)])],
        from: clock(),
        to: clock(),
      }))
      const timeZone = random.pick(zones)
      const ruled = { timeZone, windows }
      const now = start + random.below(2 * 366 * 1440) * 60
      const seconds = wait({ times: ruled }, now)
      if (seconds === null) {
        expect(open(ruled, now)).toBe(true)
        continue
      }
      waits++
      const opening = now + (seconds ?? Number.NaN)
      expect({ ruled, now, opens: open(ruled, opening) }).toMatchObject({ opens: true })
      expect({ ruled, now, early: open(ruled, opening - 60) }).toMatchObject({ early: false })
      expect(wait({ times: ruled }, opening)).toBeNull()
      expect(wait({ times: ruled }, opening - 60)).toBe(60)
      for (let moment = now; moment < opening; moment += 13 * 60) {
        expect({ ruled, now, moment, open: open(ruled, moment) }).toMatchObject({ open: false })
      }
    }
    expect(waits).toBeGreaterThan(100)
  })

  test('is found around every change of the clock of two years', () => {
    for (const timeZone of zones) {
      const offset = (day: number) => {
        const noon = new Date(day * 86_400_000)
        return new Date(noon.toLocaleString('en-US', { timeZone })).getTime() - noon.getTime()
      }
      const first = at('2026-01-01T00:00:00Z') / 86_400
      for (let day = first; day < first + 730; day++) {
        if (offset(day) === offset(day + 1)) continue
        for (const [from, to] of [
          ['00:00', '01:00'],
          ['01:30', '02:30'],
          ['02:00', '03:00'],
          ['23:30', '00:30'],
        ] as const) {
          const ruled = { timeZone, windows: [{ days: [1, 2, 3, 4, 5, 6, 7], from, to }] }
          for (let now = day * 86_400; now < (day + 1) * 86_400; now += 900) {
            const seconds = wait({ times: ruled }, now)
            expect({ timeZone, from, now, open: open(ruled, now) }).toMatchObject({
              open: seconds === null,
            })
            if (seconds !== null) expect(open(ruled, now + (seconds ?? 0))).toBe(true)
            if (seconds) expect(open(ruled, now + seconds - 60)).toBe(false)
          }
        }
      }
    }
  })
})
