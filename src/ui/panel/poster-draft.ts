/** The limits of a poster as a merchant types them. */
import { clientLimits } from '../../base/limits-client.ts'
import { isPlainName } from '../../base/words.ts'
import type { Definition, Poster } from '../../client/models.ts'
import type { PosterLimits } from '../../client/posters.ts'
import { parseAmount } from '../words/amount.ts'
import { dayOf, endOf, startOf } from './days.ts'

export type PosterDraft = {
  label: string
  perPerson: string
  perDay: string
  total: string
  /** Days as `YYYY-MM-DD` on the clock of this device. */
  starts: string
  ends: string
}

export type PosterWrongs = Partial<
  Record<keyof PosterDraft, 'number' | 'taken' | 'person' | 'label' | 'day'>
>

/** A new poster begins with a total, because it would give coupons without end. */
export const emptyPoster: PosterDraft = {
  ...{ label: '', perPerson: '1', perDay: '', total: '100', starts: '', ends: '' },
}

export function posterDraftOf(poster: Poster): PosterDraft {
  const number = (value: number | null) => (value === null ? '' : String(value))
  const day = (value: number | null) => (value === null ? '' : dayOf(value))
  return {
    label: poster.label ?? '',
    perPerson: number(poster.perPerson),
    perDay: number(poster.perDay),
    total: number(poster.total),
    starts: day(poster.startsAt),
    ends: day(poster.endsAt),
  }
}

/** The limits in a draft, or its validation errors. `before`: a day that is not changed keeps its clock time. */
export function limitsIn(
  draft: PosterDraft,
  before: Pick<Poster, 'startsAt' | 'endsAt' | 'total' | 'taken'> | null,
  now: number,
): { found: PosterLimits | null; wrongs: PosterWrongs } {
  const wrongs: PosterWrongs = {}
  const whole = (field: 'perDay' | 'total' | 'perPerson', most: number) => {
    const text = draft[field].trim()
    if (text === '') return null
    const value = parseAmount(text)
    if (Number.isInteger(value) && value >= 1 && value <= most) return value
    wrongs[field] = field === 'perPerson' ? 'person' : 'number'
    return null
  }
  const moment = (field: 'starts' | 'ends', kept: number | null, read: (day: string) => number) => {
    const text = draft[field]
    if (text === '') return null
    if (kept !== null && dayOf(kept) === text) return kept
    const value = read(text)
    if (Number.isNaN(value)) wrongs[field] = 'day'
    return value
  }
  const label = draft.label.trim()
  if (label !== '' && ([...label].length > clientLimits.labelCharsMax || !isPlainName(label))) {
    wrongs.label = 'label'
  }
  const found = {
    label: label === '' ? null : label,
    perPerson: whole('perPerson', clientLimits.posterPerPersonMax) ?? 1,
    perDay: whole('perDay', clientLimits.maxUsesMax),
    total: whole('total', clientLimits.maxUsesMax),
    startsAt: moment('starts', before?.startsAt ?? null, startOf),
    endsAt: moment('ends', before?.endsAt ?? null, endOf),
  }
  const { startsAt, endsAt, total } = found
  // The service takes any total, but the counter would say that more than all were taken.
  if (before && total !== null && total !== before.total && total < before.taken) {
    wrongs.total = 'taken'
  }
  const over = endsAt !== null && endsAt !== before?.endsAt && endsAt <= now
  if (over || (startsAt !== null && endsAt !== null && endsAt <= startsAt)) wrongs.ends = 'day'
  return { found: Object.keys(wrongs).length === 0 ? found : null, wrongs }
}

/** The state of a poster. Its visitors are told of all that ended it in the same words. */
export function stateOf(
  poster: Poster,
  { archivedAt, expiresAt, maxUses, minted }: Definition,
  now: number,
) {
  const { startsAt, endsAt, total, perDay, taken, takenToday } = poster
  const over = (at: number | null) => at !== null && at <= now
  if (archivedAt !== null) return 'archived'
  if (over(expiresAt)) return 'expired'
  if (over(endsAt)) return 'ended'
  if (poster.paused) return 'paused'
  if (startsAt !== null && startsAt > now) return 'not-started'
  const used = (most: number | null, count: number) => most !== null && count >= most
  if (used(total, taken) || used(maxUses, minted)) return 'exhausted'
  return used(perDay, takenToday) ? 'today-exhausted' : 'open'
}
