import { asObject } from '../base/json.ts'
import { Refusal } from '../base/refusal.ts'
import { parseTimeZone, parseZoneName } from '../coupons/rule-times.ts'
import { nextUsable, parseRules } from '../coupons/rules.ts'
import type { Rules } from './described/vouchers.ts'

/**
 * Read rules as `parseRules` does. A time zone that this browser does not know keeps its name: the service knows
 * more zones than an old phone.
 */
export function readRules(value: unknown): Rules | null {
  return parseRules(value, (name) => parseTimeZone(name) ?? parseZoneName(name))
}

/** Rules as a page shows them. `unreadable`: a part of them is not among the others, because this page cannot read it. */
export type ShownRules = Rules & { unreadable?: true }

/**
 * The rules in an answer, a stored coupon or a signed voucher. Empty where there are none. A part that cannot be read
 * leaves the mark `unreadable`, so that a coupon with conditions never looks like one without.
 */
export function rulesIn({ rules }: { rules?: unknown }): { rules?: ShownRules } {
  if (rules === undefined || rules === null) return {}
  const parts = Object.entries(asObject(rules) ?? { rules }).map(([name, value]) =>
    readPart({ [name]: value }),
  )
  const read: ShownRules = Object.assign({}, ...parts)
  return Object.keys(read).length > 0 ? { rules: read } : {}
}

function readPart(part: Record<string, unknown>): ShownRules {
  try {
    const read = readRules(part) ?? {}
    return covers(read, part) ? read : { ...read, unreadable: true }
  } catch (cause) {
    if (cause instanceof Refusal) return { unreadable: true }
    throw cause
  }
}

/** True if everything that is given was read: a newer service may know more keys than this page. */
function covers(read: unknown, given: unknown): boolean {
  if (typeof given !== 'object' || given === null) return true
  if (typeof read !== 'object' || read === null) return false
  const known = new Map(Object.entries(read))
  return Object.entries(given).every(
    ([key, value]) => value === null || (known.has(key) && covers(known.get(key), value)),
  )
}

/** `nextUsable` by the clock of this device. Hours in a time zone that it does not know are left out. */
export function usableFrom(
  { rules, expiresAt }: { rules?: Rules | undefined; expiresAt: number | null },
  now: number,
): number | null {
  const { times, ...others } = rules ?? {}
  const known = times && parseTimeZone(times.timeZone) !== null
  return nextUsable({ rules: known ? { ...others, times } : others, expiresAt }, now)
}
