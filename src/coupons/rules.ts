import type { Static } from '@sinclair/typebox'
import { clientLimits } from '../base/limits-client.ts'
import { Refusal } from '../base/refusal.ts'
import { isPlainText } from '../base/words.ts'
import type { RulesModel } from './models.ts'
import { isNumber, type Money, parseMoney, parseObject } from './money.ts'
import { nextOpening, parseTimeZone } from './rule-times.ts'
import { parseText } from './text.ts'

/** The rules of a coupon in canonical form: at least one key, no nulls, no unknown keys. */
export type Rules = Static<typeof RulesModel>
/** The hours at which a coupon is redeemed. */
export type RuleTimes = NonNullable<Rules['times']>
type Window = RuleTimes['windows'][number]

/**
 * Read rules into their canonical form. Null if they restrict nothing. Refuses `field-invalid`. `parseZone` gives the
 * name of a time zone, or null for a refusal.
 */
export function parseRules(value: unknown, parseZone = parseTimeZone): Rules | null {
  if (value === undefined || value === null) return null
  const fields = parseObject(value, 'rules', 'field-invalid')
  const startsAt = parseStart(fields.startsAt)
  const times = parseTimes(fields.times, parseZone)
  const minimum = parseMinimum(fields.minimum)
  const conditions = parseConditions(fields.conditions)
  const rules = {
    ...(startsAt !== null && { startsAt }),
    ...(times && { times }),
    ...(minimum && { minimum }),
    ...(conditions !== null && { conditions }),
  }
  return Object.keys(rules).length > 0 ? rules : null
}

/** Read the purchase of a claim. Null if it names none. Refuses `field-invalid`. */
export function parsePurchase(value: unknown): Money | null {
  return value === undefined || value === null
    ? null
    : parseMoney(value, 'purchase', 'field-invalid')
}

type Ruled = { rules: Rules | null; expiresAt: number | null }

/**
 * Check that a coupon may be redeemed at `now`. Refuses `not-now`, with the seconds until it may, and
 * `minimum-not-met`. A purchase that nobody named is not checked.
 */
export function requireRules({ rules, expiresAt }: Ruled, purchase: Money | null, now: number) {
  if (!rules) return
  const usableAt = nextUsable({ rules, expiresAt }, now)
  if (usableAt !== now) {
    throw new Refusal('not-now', usableAt === null ? {} : { retryAfter: usableAt - now })
  }
  const { minimum } = rules
  if (!minimum || !purchase) return
  if (purchase.currency !== minimum.currency || purchase.amount < minimum.amount) {
    throw new Refusal('minimum-not-met')
  }
}

/**
 * The first moment from `now` on, in Unix seconds, that start and hours allow. Null if there is none before the
 * expiry.
 */
export function nextUsable({ rules, expiresAt }: Ruled, now: number): number | null {
  const { startsAt = 0, times } = rules ?? {}
  const begun = Math.max(now, startsAt)
  const usableAt = times ? nextOpening(times, begun) : begun
  return usableAt === null || (expiresAt !== null && usableAt >= expiresAt) ? null : usableAt
}

function parseStart(value: unknown): number | null {
  if (value === undefined || value === null) return null
  if (!isNumber(value) || !Number.isInteger(value)) refuse('startsAt')
  if (value < 1 || value > clientLimits.timestampMax) refuse('startsAt')
  return value
}

function parseTimes(value: unknown, parseZone: typeof parseTimeZone): RuleTimes | null {
  if (value === undefined || value === null) return null
  const { timeZone: named, windows } = parseObject(value, 'rules.times', 'field-invalid')
  const timeZone = parseZone(named) ?? refuse('times.timeZone')
  if (!Array.isArray(windows)) refuse('times.windows')
  if (windows.length < 1 || windows.length > clientLimits.ruleWindowsMax) refuse('times.windows')
  return { timeZone, windows: windows.map((one, at) => parseWindow(one, `times.windows.${at}`)) }
}

function parseWindow(value: unknown, path: string): Window {
  const { days, from, to } = parseObject(value, `rules.${path}`, 'field-invalid')
  if (!Array.isArray(days) || days.length < 1 || days.length > 7) refuse(`${path}.days`)
  if (!days.every((day) => isNumber(day) && Number.isInteger(day) && day >= 1 && day <= 7)) {
    refuse(`${path}.days`)
  }
  const distinct = [...new Set<number>(days)].sort((one, other) => one - other)
  return {
    days: distinct,
    from: parseClock(from, `${path}.from`),
    to: parseClock(to, `${path}.to`),
  }
}

function parseClock(value: unknown, path: string): string {
  return typeof value === 'string' && /^([01]\d|2[0-3]):[0-5]\d$/.test(value) ? value : refuse(path)
}

function parseMinimum(value: unknown): Money | null {
  return value === undefined || value === null
    ? null
    : parseMoney(value, 'rules.minimum', 'field-invalid')
}

function parseConditions(value: unknown): string | null {
  if (value === undefined || value === null) return null
  const field = 'rules.conditions'
  const text = parseText(value, { field, charsMax: clientLimits.conditionsCharsMax, lines: true })
  if (!isPlainText(text)) refuse('conditions')
  return text.trim() === '' ? null : text
}

function refuse(path: string): never {
  throw new Refusal('field-invalid', { field: `rules.${path}` })
}
