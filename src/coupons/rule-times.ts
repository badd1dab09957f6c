import { clientLimits } from '../base/limits-client.ts'
import type { RuleTimes } from './rules.ts'

const daySeconds = 86_400
const zoneShape = /^[A-Za-z][\w+-]*(\/[\w+-]+)*$/

/** One formatter per zone, because a new one takes forty times as long as its use. */
const clocks = new Map<string, Intl.DateTimeFormat>()

/** Read the name of a time zone, which this runtime may not know. Null if it cannot be one. */
export function parseZoneName(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > clientLimits.timeZoneCharsMax) return null
  return zoneShape.test(value) ? value : null
}

/** Read the name of a time zone, in the letters of the IANA database. Null if the runtime does not know it. */
export function parseTimeZone(value: unknown): string | null {
  const timeZone = parseZoneName(value)
  if (timeZone === null) return null
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone }).resolvedOptions().timeZone
  } catch (unknown) {
    if (unknown instanceof RangeError) return null
    throw unknown
  }
}

/**
 * The first moment from `from` on, in Unix seconds, at which one of the windows is open. Null if there is none in
 * `clientLimits.ruleDaysSearched` days.
 */
export function nextOpening({ timeZone, windows }: RuleTimes, from: number): number | null {
  const spans = windows.map(spanOf)
  const offsetAt = (at: number) => localAt(timeZone, at) - at
  for (let day = 0; day < clientLimits.ruleDaysSearched; day++) {
    const start = from + day * daySeconds
    const end = start + daySeconds
    const [before, after] = [offsetAt(start), offsetAt(end)]
    const change = before === after ? end : changeOf(offsetAt, start, end)
    const opening =
      openingIn(spans, { start, end: change, offset: before }) ??
      openingIn(spans, { start: change, end, offset: after })
    if (opening !== null) return opening
  }
  return null
}

/** The second between `start` and `end` at which the offset of a zone changes. */
function changeOf(offsetAt: (at: number) => number, start: number, end: number): number {
  const before = offsetAt(start)
  let [low, high] = [start, end]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle) === before) low = middle
    else high = middle
  }
  return high
}

/** A window in seconds of the local day. `to` is on the next day if it is above a day. */
type Span = { days: readonly number[]; from: number; to: number }

function spanOf({ days, from, to }: RuleTimes['windows'][number]): Span {
  const [opens, closes] = [secondsOf(from), secondsOf(to)]
  return { days, from: opens, to: closes <= opens ? closes + daySeconds : closes }
}

function secondsOf(clock: string): number {
  const [hours = '', minutes = ''] = clock.split(':')
  return Number(hours) * 3600 + Number(minutes) * 60
}

/** A stretch of time in which the offset of a zone stays the same. `end` is not in it. */
type Stretch = { start: number; end: number; offset: number }

function openingIn(spans: readonly Span[], { start, end, offset }: Stretch): number | null {
  if (start >= end) return null
  const local = start + offset
  // A window that began on the day before may still be open.
  const firstDay = Math.floor(local / daySeconds) - 1
  const lastDay = Math.floor((end - 1 + offset) / daySeconds)
  let first: number | null = null
  for (let day = firstDay; day <= lastDay; day++) {
    for (const { days, from, to } of spans) {
      if (!days.includes(weekdayOf(day))) continue
      const opens = Math.max(day * daySeconds + from, local) - offset
      const closes = day * daySeconds + to - offset
      if (opens < closes && opens < end && (first === null || opens < first)) first = opens
    }
  }
  return first
}

/** ISO weekday of a day since 1970, which began on a Thursday. */
function weekdayOf(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1
}

/** The clock of a zone at a moment, in seconds, as if it were UTC. */
export function localAt(timeZone: string, at: number): number {
  const numbers = clockOf(timeZone)
    .format(at * 1000)
    .match(/\d+/g)
  const [month, day, year, hour, minute, second] = (numbers ?? []).map(Number)
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second) / 1000
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone)
  if (known) return known
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  if (clocks.size >= clientLimits.timeZonesCachedMax) clocks.clear()
  clocks.set(timeZone, clock)
  return clock
}
