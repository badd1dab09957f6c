import { localAt } from '../coupons/rule-times.ts'

const daySeconds = 86_400

/** The calendar day of a moment in a time zone, in days since 1970. */
export function localDay(seconds: number, timeZone: string): number {
  return Math.floor(localAt(timeZone, seconds) / daySeconds)
}

/** Seconds until the next calendar day begins there. A day with a change of clocks has 23 or 25 hours. */
export function secondsToNextDay(seconds: number, timeZone: string): number {
  const today = localDay(seconds, timeZone)
  let [same, next] = [0, 26 * 60 * 60]
  while (next - same > 1) {
    const middle = Math.floor((same + next) / 2)
    if (localDay(seconds + middle, timeZone) > today) next = middle
    else same = middle
  }
  return next
}
