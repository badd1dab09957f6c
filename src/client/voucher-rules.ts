import { Refusal } from '../base/refusal.ts'
import { parseTimeZone, parseZoneName } from '../coupons/rule-times.ts'
import { nextUsable, parseRules, type Rules } from '../coupons/rules.ts'

/**
 * Read rules as `parseRules` does. A time zone that this browser does not know keeps its name: the service knows
 * more zones than an old phone.
 */
export function readRules(value: unknown): Rules | null {
  return parseRules(value, (name) => parseTimeZone(name) ?? parseZoneName(name))
}

/** The rules in an answer, a stored coupon or a signed voucher. Empty where there are none that can be read. */
export function rulesIn({ rules }: { rules?: unknown }): { rules?: Rules } {
  try {
    const read = readRules(rules)
    return read ? { rules: read } : {}
  } catch (cause) {
    if (cause instanceof Refusal) return {}
    throw cause
  }
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
