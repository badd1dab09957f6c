import type { JobTime } from '../../src/db/jobs.ts'

/** Turns of the event loop without any activity, after which nothing goes on any more. */
const quietTurns = 3
/** More turns than any step takes. */
const turnsMax = 20_000

/**
 * The clock and the event loop of a simulated world. Timers fire when the world lets time pass; everything else runs
 * in turns of the real loop, which begin no work of their own. So the order of all work follows from the seed.
 */
export class Loop {
  /** Seconds since the beginning of the world. They only grow. */
  seconds = 0
  /** Counts whatever happens: a statement, a timer, a message. */
  activity = 0
  readonly #timers: { at: number; call: () => void }[] = []

  /** Call after so many seconds; the result cancels it. */
  after(seconds: number, call: () => void): () => void {
    this.activity++
    if (seconds <= 0) {
      const immediate = setImmediate(call)
      return () => clearImmediate(immediate)
    }
    const timer = { at: this.seconds + seconds, call }
    const behind = this.#timers.findIndex(({ at }) => at > timer.at)
    this.#timers.splice(behind < 0 ? this.#timers.length : behind, 0, timer)
    return () => {
      const at = this.#timers.indexOf(timer)
      if (at >= 0) this.#timers.splice(at, 1)
    }
  }

  /** Let some turns of the loop pass. */
  async turns(count: number): Promise<void> {
    for (let done = 0; done < count; done++) await turn()
  }

  /** Wait until nothing goes on but timers. */
  async quiet(): Promise<void> {
    for (let still = 0, done = 0; still < quietTurns; done++) {
      if (done > turnsMax) throw new Error('the world does not come to rest')
      const before = this.activity
      await turn()
      still = this.activity === before ? still + 1 : 0
    }
  }

  /** Let time pass. Timers fire in their order, each after what the one before began has come to rest. */
  async pass(seconds: number): Promise<void> {
    const end = this.seconds + seconds
    await this.quiet()
    for (let next = this.#timers[0]; next && next.at <= end; next = this.#timers[0]) {
      this.#timers.shift()
      this.seconds = Math.max(this.seconds, next.at)
      this.activity++
      next.call()
      await this.quiet()
    }
    this.seconds = end
  }

  /** The time as the jobs of a process know it. `fires` is false for a process that has ended, or ends here. */
  timeOf(fires: () => boolean): JobTime {
    return {
      seconds: () => this.seconds,
      after: (seconds, call) => this.after(seconds, () => fires() && call()),
    }
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
