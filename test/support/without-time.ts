/**
 * The passage of time changes no limit: buckets do not refill, and a half-sent body has an hour. So a test may use up a
 * budget on a machine of any speed. A process of the program loads it with `--preload`, or is built with it (programs.ts).
 */
import { Buckets } from '../../src/base/buckets.ts'
import { limits } from '../../src/base/limits.ts'

const { take, wait, charge } = Buckets.prototype

Object.assign(Buckets.prototype, {
  take(this: Buckets, key: string, _at: number, cost?: number) {
    return take.call(this, key, 0, cost)
  },
  wait(this: Buckets, key: string) {
    return wait.call(this, key, 0)
  },
  charge(this: Buckets, key: string, _at: number, cost: number) {
    charge.call(this, key, 0, cost)
  },
})
// A connection that says nothing is closed at the latest that Bun knows.
Object.assign(limits, { bodyReadSeconds: 3600, idleSeconds: 255 })
