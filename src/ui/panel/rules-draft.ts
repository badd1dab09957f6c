import { asObject } from '../../base/json.ts'
import { Refusal } from '../../base/refusal.ts'
import { readRules } from '../../client/voucher-rules.ts'
import type { Rules } from '../../coupons/rules.ts'
import { parseAmount, typed } from '../words/amount.ts'
import { dayOf, startOf } from './days.ts'

type Minimum = NonNullable<Rules['minimum']>

/** Weekdays with their hours as typed. Both clocks empty: the whole day. */
export type WindowDraft = { days: readonly number[]; from: string; to: string }

/** The rules of a coupon as typed. */
export type RulesDraft = {
  /** `YYYY-MM-DD` on the clock of this device. */
  starts: string
  /** The stored start. It stays, with its clock time, while `starts` is still the same day. */
  startsAt: number | null
  timeZone: string
  windows: readonly WindowDraft[]
  minimum: string
  currency: Minimum['currency']
  conditions: string
}

export const emptyRules: RulesDraft = {
  starts: '',
  startsAt: null,
  timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
  windows: [],
  minimum: '',
  currency: 'ARS',
  conditions: '',
}

/** A window for a form: the days that most shops are open. */
export const newWindow: WindowDraft = { days: [1, 2, 3, 4, 5], from: '', to: '' }

const wholeDay = '00:00'

/** The draft of existing rules. */
export function typedRules(rules: Rules | null | undefined): RulesDraft {
  const { startsAt = null, times, minimum, conditions = '' } = rules ?? {}
  return {
    ...emptyRules,
    startsAt,
    starts: startsAt === null ? '' : dayOf(startsAt),
    ...(times && { timeZone: times.timeZone, windows: times.windows.map(typedWindow) }),
    ...(minimum && { minimum: typed(minimum.amount), currency: minimum.currency }),
    conditions,
  }
}

function typedWindow({ days, from, to }: WindowDraft): WindowDraft {
  return from === wholeDay && to === wholeDay ? { days, from: '', to: '' } : { days, from, to }
}

/** A draft with its numbers rewritten by `again`, for another language. */
export function retypedRules(draft: RulesDraft, again: (text: string) => string): RulesDraft {
  return { ...draft, minimum: again(draft.minimum) }
}

/** The rules of a draft, or the path of the wrong field, such as `times.windows.0.days`. */
export function rulesOf(draft: RulesDraft): { rules: Rules | null; wrong: string | null } {
  try {
    // The parser of the service itself, so that the two can never disagree.
    return { rules: readRules(sentRules(draft)), wrong: null }
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause
    return { rules: null, wrong: (cause.detail.field ?? 'rules').replace(/^rules\./, '') }
  }
}

function sentRules(draft: RulesDraft): Record<string, unknown> {
  const { starts, startsAt, timeZone, windows, minimum, currency, conditions } = draft
  const same = startsAt !== null && dayOf(startsAt) === starts
  const whole = ({ from, to }: WindowDraft) => from === '' && to === ''
  return {
    startsAt: starts === '' ? null : same ? startsAt : startOf(starts),
    times:
      windows.length === 0
        ? null
        : {
            timeZone,
            windows: windows.map((one) =>
              whole(one) ? { ...one, from: wholeDay, to: wholeDay } : one,
            ),
          },
    minimum: minimum.trim() === '' ? null : { amount: parseAmount(minimum), currency },
    conditions: conditions.trim(),
  }
}

/** True for a whole draft of rules: an older build may have stored another one. */
export function isRulesDraft(value: unknown): value is RulesDraft {
  const { startsAt, windows, currency, ...texts } = asObject(value) ?? {}
  return (
    (['starts', 'timeZone', 'minimum', 'conditions'] as const).every(
      (name) => typeof texts[name] === 'string',
    ) &&
    (startsAt === null || typeof startsAt === 'number') &&
    (currency === 'ARS' || currency === 'USD' || currency === 'SAT') &&
    Array.isArray(windows) &&
    windows.every(isWindow)
  )
}

function isWindow(value: unknown): value is WindowDraft {
  const { days, from, to } = asObject(value) ?? {}
  return (
    typeof from === 'string' &&
    typeof to === 'string' &&
    Array.isArray(days) &&
    days.every((day) => typeof day === 'number')
  )
}
