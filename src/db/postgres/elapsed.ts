import { uptime } from 'node:os'

/** A moment by clocks of this machine that are never set. */
export type Moment = { steadyMs: number; upSeconds: number }

export function thisMoment(): Moment {
  return { steadyMs: performance.now(), upSeconds: uptime() }
}

/**
 * Milliseconds since then, those included for which the machine was suspended: on Linux `performance.now` leaves them
 * out, and the rest of the world goes on.
 */
export function msSince(then: Moment, now = thisMoment()): number {
  // The other clock has whole seconds, rounded in whatever way.
  const upMs = (now.upSeconds - then.upSeconds - 1) * 1000
  return Math.max(now.steadyMs - then.steadyMs, upMs)
}
