import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'

/** The clock of the server, which all nodes have in common, beside that of this node. */
export class ServerClock {
  readonly #now: Clock
  readonly #look: () => Promise<void>
  /** The clock of the server (Unix seconds) when our steady clock began. */
  #beganAt = Number.NaN
  #lookedAt = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | null = null

  /** `look` reads the clock of the server, and `seen` is told it. */
  constructor(now: Clock, look: () => Promise<void>) {
    this.#now = now
    this.#look = look
  }

  /** The clock of the server at this moment, in Unix seconds. */
  seen(clock: number): void {
    this.#lookedAt = performance.now() / 1000
    this.#beganAt = clock - this.#lookedAt
  }

  /** Seconds that it is ahead of ours. Null before the first look. */
  get ahead(): number | null {
    const ahead = this.#beganAt + performance.now() / 1000 - this.#now()
    return Number.isNaN(ahead) ? null : ahead
  }

  /**
   * True while our clock and that of the server, which goes on between two looks at it, are apart: one of them is
   * behind, and the other nodes have the server's.
   */
  get apart(): boolean {
    return Math.abs(this.ahead ?? 0) > limits.clockBackSeconds
  }

  /**
   * Refuse `clock-behind` while the clocks are apart. Either may have been set, so they are looked at again: many
   * operations at once, one look.
   */
  async requireTogether(): Promise<void> {
    if (!this.apart) return
    if (performance.now() / 1000 - this.#lookedAt > limits.leaseBeatSeconds) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = null
      })
      await this.#looking
    }
    if (this.apart) throw new Refusal('clock-behind', { retryAfter: 30 })
  }
}
