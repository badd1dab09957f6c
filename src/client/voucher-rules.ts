import { Refusal } from '../base/refusal.ts'
import { parseRules, type Rules } from '../coupons/rules.ts'

/** The rules in an answer, a stored coupon or a signed voucher. Empty where there are none that can be read. */
export function rulesIn({ rules }: { rules?: unknown }): { rules?: Rules } {
  try {
    const read = parseRules(rules)
    return read ? { rules: read } : {}
  } catch (cause) {
    if (cause instanceof Refusal) return {}
    throw cause
  }
}
