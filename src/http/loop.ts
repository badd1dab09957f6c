import { limits } from '../base/limits.ts'
import type { Log } from '../base/log.ts'

/** Measures stalls of the main thread and names the route behind them. */
export type LoopMonitor = {
  /** Work for this route begins, or goes on after a wait. */
  enter(route: string): void
  /** Its answer is ready. */
  leave(route: string): void
  /** To be called every `loopTickMs`. A late call shows a stall. */
  tick(): void
  /** Seconds of the longest stall in the last one to two minutes. */
  longestSeconds(): number
}

/** A monitor of the thread that calls it. `steadyMs` reads a monotonic clock in milliseconds. */
export function createLoopMonitor(log: Log, steadyMs: () => number): LoopMonitor {
  let due = steadyMs() + limits.loopTickMs
  let markedAt = steadyMs()
  /** The route that marked last and has not left. */
  let inside: string | null = null
  /** The longest time between two marks since the last tick, and the route that had it. */
  let widest = 0
  let widestRoute: string | null = null
  let minute = { since: steadyMs(), longest: 0, before: 0 }
  let loggedAt = Number.NEGATIVE_INFINITY

  const measure = (now: number, route: string | null) => {
    if (now - markedAt <= widest) return
    widest = now - markedAt
    widestRoute = route
  }

  const record = (stall: number, now: number) => {
    if (now - minute.since > limits.loopWindowSeconds * 1000) {
      minute = { since: now, longest: 0, before: minute.longest }
    }
    minute.longest = Math.max(minute.longest, stall)
    if (stall <= limits.loopStallMs || now - loggedAt < limits.loopLogSeconds * 1000) return
    loggedAt = now
    log.warn('loop.stalled', { route: widestRoute ?? 'none', ms: Math.round(stall) })
  }

  return {
    enter(route) {
      const now = steadyMs()
      measure(now, inside)
      markedAt = now
      inside = route
    },
    leave(route) {
      const now = steadyMs()
      // Time that ends with an answer was the work of this route, even if another one was entered after it.
      measure(now, route)
      markedAt = now
      inside = null
    },
    tick() {
      const now = steadyMs()
      measure(now, inside)
      const late = now - due
      // A tick in time shows that there was no stall. The time between its marks was idle.
      const worked = late > limits.loopTickMs && widestRoute !== null
      record(Math.max(late, worked ? widest : 0), now)
      markedAt = now
      widest = 0
      widestRoute = null
      due = now + limits.loopTickMs
    },
    longestSeconds: () => Math.max(minute.longest, minute.before) / 1000,
  }
}

/** Watch this thread until `stop`. */
export function startLoopMonitor(log: Log): LoopMonitor & { stop(): void } {
  const monitor = createLoopMonitor(log, () => performance.now())
  const timer = setInterval(monitor.tick, limits.loopTickMs)
  timer.unref()
  return { ...monitor, stop: () => clearInterval(timer) }
}
