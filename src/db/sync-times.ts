import { limits } from '../base/limits.ts'
import { processorWaitMs } from '../base/processor-wait.ts'

/** Clocks in milliseconds: a monotonic one, and the time that this thread waited for a processor. */
type Clocks = { steadyMs(): number; processorWaitMs(): number }

export type EngineTime = Clocks & { after(ms: number, call: () => void): unknown }

export const systemTime: EngineTime = {
  steadyMs: () => performance.now(),
  processorWaitMs,
  after: (ms, call) => setTimeout(call, ms),
}

/**
 * The way of a commit to the disk. COMMIT waits for it; or COMMIT only writes, and then this thread waits for the sync
 * alone, or another one does.
 */
export type Way = 'commit' | 'here' | 'aside'

/** How long syncs take, and what the next commit does about it. */
export class SyncTimes {
  readonly #clocks: Clocks
  /** Milliseconds of the last two syncs. One alone may have been held up by something else. */
  #last: [number, number] = [0, 0]
  /** Commits in a row that waited for a slow disk. Below 0 while other threads are not to be trusted with it. */
  #slow = 0
  /** Syncs in another thread since then. */
  #aside = 0

  constructor(clocks: Clocks) {
    this.#clocks = clocks
  }

  /**
   * The way of the next commit. A COMMIT that takes long may have much to write, so that the sync alone is measured before
   * another thread gets it. Now and then it is measured again, because the end of a sync elsewhere is heard of when
   * this thread comes to it.
   */
  next(): Way {
    if (this.#slow < limits.asideCommits / 2) return 'commit'
    if (this.#slow < limits.asideCommits) return 'here'
    return ++this.#aside % limits.asideMeasured === 0 ? 'here' : 'aside'
  }

  /** True if the next commit should wait for operations that share its sync. */
  get gather(): boolean {
    return Math.min(...this.#last) >= limits.slowSyncMs
  }

  /**
   * The time now, as `synced` needs it. To ask for the wait for a processor costs as much as a small operation, so it is
   * left out while commits are fast by the clock alone.
   */
  now(): number {
    const { steadyMs, processorWaitMs } = this.#clocks
    return this.#last[1] < limits.asideSyncMs ? steadyMs() : steadyMs() - processorWaitMs()
  }

  /** A commit waited for the disk since `began`. */
  synced(way: Way, began: number): void {
    const took = this.now() - began
    if (way !== 'aside') this.#slow = took < limits.asideSyncMs ? 0 : this.#slow + 1
    else if (took >= limits.asidePatienceMs) this.#slow = -limits.asideMeasured
    this.#last = [this.#last[1], took]
  }
}
