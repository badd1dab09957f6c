import type { Static } from '@sinclair/typebox'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { StoredDefinition } from '../coupons/definition-store.ts'
import { parseTimeZone } from '../coupons/rule-times.ts'
import { parseLabel } from '../coupons/text.ts'
import { expired } from '../coupons/voucher.ts'
import { localDay } from './day.ts'
import type { PosterModel, PosterStateModel } from './models.ts'

/** Limits of a poster that its merchant chooses. Null where there is none. Times in Unix seconds. */
type PosterLimits = {
  label: string | null
  /** Vouchers for one key. */
  perPerson: number
  /** Vouchers in one day of the time zone. */
  perDay: number | null
  total: number | null
  startsAt: number | null
  /** From this second on it gives nothing. */
  endsAt: number | null
}

/** Fields of a new poster. */
export type NewPoster = PosterLimits & { timeZone: string }

/** A poster in the store. */
export type Poster = NewPoster & {
  rowId: number
  id: string
  couponId: string
  owner: string
  paused: boolean
  /** Vouchers taken in all. */
  taken: number
  /** The day of the newest take (`localDay`), and the takes of that day. */
  takenDay: number
  takenThatDay: number
  createdAt: number
  updatedAt: number
  deletedAt: number | null
}

/** Fields of an edit. Absent ones do not change. */
type PosterChanges = Partial<PosterLimits> & { paused?: boolean }

/** The state of a poster, as its page says it. */
type PosterState = Static<typeof PosterStateModel>

type Fields = Record<string, unknown>

const limitFields = ['label', 'perPerson', 'perDay', 'total', 'startsAt', 'endsAt'] as const

/** Read a new poster. Refuses `field-invalid`, `expiry-past`. */
export function parseNewPoster(fields: Fields, now: number): NewPoster {
  const limited = parsePosterLimits(fields)
  requireOrder(limited)
  if (limited.endsAt !== null && limited.endsAt <= now) {
    throw new Refusal('expiry-past', { field: 'endsAt' })
  }
  return { ...limited, timeZone: parseZone(fields.timeZone) }
}

/** Read an edit. Absent fields stay, null clears. Refuses `nothing-to-change`, `field-invalid`. */
export function parsePosterChanges(fields: Fields): PosterChanges {
  const parsed = parsePosterLimits(fields)
  const named = limitFields.filter((name) => fields[name] !== undefined)
  const changes: PosterChanges = Object.fromEntries(named.map((name) => [name, parsed[name]]))
  if (fields.paused !== undefined) {
    if (typeof fields.paused !== 'boolean') throw new Refusal('field-invalid', { field: 'paused' })
    changes.paused = fields.paused
  }
  if (Object.keys(changes).length === 0) throw new Refusal('nothing-to-change')
  return changes
}

/** The poster after an edit. Refuses `field-invalid`. */
export function changedPoster(poster: Poster, changes: PosterChanges, now: number): Poster {
  const edited = { ...poster, ...changes, updatedAt: now }
  requireOrder(edited)
  return edited
}

/** The poster as its merchant sees it. */
export function posterView(poster: Poster, now: number): Static<typeof PosterModel> {
  const { id, couponId, label, perPerson, perDay, total, timeZone, startsAt, endsAt } = poster
  return {
    ...{ id, couponId, label, perPerson, perDay, total, timeZone, startsAt, endsAt },
    paused: poster.paused,
    taken: poster.taken,
    takenToday: takenToday(poster, now),
    createdAt: poster.createdAt,
    updatedAt: poster.updatedAt,
  }
}

/** The day that a take now counts for. It never goes back, also when a clock was put right. */
export function dayOfTake({ takenDay, timeZone }: Poster, now: number): number {
  return Math.max(takenDay, localDay(now, timeZone))
}

/** The state that visitors are told. An archived, expired or used up definition ends its posters, too. */
export function posterState(
  poster: Poster,
  definition: StoredDefinition,
  now: number,
): PosterState {
  const { startsAt, endsAt, total, perDay } = poster
  const over = endsAt !== null && endsAt <= now
  if (over || definition.archivedAt !== null || expired(definition, now)) return 'ended'
  if (poster.paused) return 'paused'
  if (startsAt !== null && startsAt > now) return 'not-started'
  const { maxUses, minted } = definition
  if (total !== null && poster.taken >= total) return 'exhausted'
  if (maxUses !== null && minted >= maxUses) return 'exhausted'
  if (perDay !== null && takenToday(poster, now) >= perDay) return 'today-exhausted'
  return 'open'
}

function takenToday(poster: Poster, now: number): number {
  return dayOfTake(poster, now) === poster.takenDay ? poster.takenThatDay : 0
}

function parsePosterLimits(fields: Fields): PosterLimits {
  const { posterPerPersonMax, maxUsesMax, timestampMax } = limits
  return {
    label: parseLabel(fields.label as string | null | undefined) ?? null,
    perPerson: parseWhole(fields, 'perPerson', posterPerPersonMax) ?? 1,
    perDay: parseWhole(fields, 'perDay', maxUsesMax),
    total: parseWhole(fields, 'total', maxUsesMax),
    startsAt: parseWhole(fields, 'startsAt', timestampMax),
    endsAt: parseWhole(fields, 'endsAt', timestampMax),
  }
}

function parseZone(value: unknown): string {
  if (value === undefined || value === null) return 'UTC'
  const timeZone = parseTimeZone(value)
  if (timeZone === null) throw new Refusal('field-invalid', { field: 'timeZone' })
  return timeZone
}

function parseWhole(fields: Fields, field: string, most: number): number | null {
  const value = fields[field]
  if (value === undefined || value === null) return null
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > most) {
    throw new Refusal('field-invalid', { field })
  }
  return value
}

function requireOrder({ startsAt, endsAt }: Pick<PosterLimits, 'startsAt' | 'endsAt'>): void {
  if (startsAt !== null && endsAt !== null && endsAt <= startsAt) {
    throw new Refusal('field-invalid', { field: 'endsAt' })
  }
}
