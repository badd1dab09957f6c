import type { Lease, Leases } from '../../src/db/database.ts'
import { createJobs, type JobTime } from '../../src/db/jobs.ts'

/** Leases of a node that is alone. */
export const alone: Leases = {
  lease: async () => ({ held: () => true, release: async () => undefined }),
}

/** Jobs on real time, of a node that is alone. */
export const aloneJobs = createJobs(alone)

/** For a job that does not fail in this test. */
export function neverFails(cause: unknown): never {
  throw cause
}

/** Time that stands still until a test lets it pass. */
export function createTime(): JobTime & { pass(seconds: number): Promise<void> } {
  let now = 0
  let calls: { at: number; call: () => void }[] = []
  return {
    seconds: () => now,
    after(seconds, call) {
      const waiting = { at: now + seconds, call }
      calls.push(waiting)
      return () => {
        calls = calls.filter((one) => one !== waiting)
      }
    },
    async pass(seconds) {
      const end = now + seconds
      for (;;) {
        // Work that the last call began ends, or waits for time again.
        await new Promise((resolve) => setImmediate(resolve))
        const [next] = calls.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
        if (!next) break
        calls = calls.filter((one) => one !== next)
        now = next.at
        next.call()
      }
      now = end
    },
  }
}

/** Leases of several nodes. */
export function createLeases() {
  const held = new Map<string, object>()
  const leases = {
    given: [] as string[],
    asked: 0,
    broken: false,
    /** Set, an answer waits for it. */
    answered: null as PromiseWithResolvers<void> | null,
    lose: (name: string) => held.delete(name),
    async lease(name: string): Promise<Lease | null> {
      leases.asked++
      await leases.answered?.promise
      if (leases.broken) throw new Error('no engine')
      if (held.has(name)) return null
      const mine = {}
      held.set(name, mine)
      leases.given.push(name)
      return {
        held: () => held.get(name) === mine,
        async release() {
          if (held.get(name) === mine) held.delete(name)
        },
      }
    },
  }
  return leases
}
