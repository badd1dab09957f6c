import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { type Lease, type Leases, type Locking, leader, type Upkeep } from './database.ts'

/** Work in the background. It has at most one run at a time. */
export type JobOptions = {
  /**
   * One run; after a wake, or in steps that are small enough for others to pass. Resolves to the seconds
   * until the next run; undefined: `everySeconds`. A rejection is reported and tried again later.
   */
  run: () => Promise<number | undefined>
  /** Longest wait between two runs. Without it the job runs only when it is woken or asked to. */
  everySeconds?: number
  /** Only the node that holds the lease of this name runs the job; without a name every node does. */
  lease?: string
  /** Wakes within this time share one run (debounce). Without it: within one turn of the loop. */
  wakeSeconds?: number
  /** Told of the first failure after a success; those that follow it are the same news. */
  failed: (cause: unknown) => void
}

export type Job = {
  /** Run soon. A wake during a run means one more run; after a failure it does not cut the wait short. */
  wake(): void
  /** Report a failure found outside of a run. The job rests as it does after a run that failed. */
  fail(cause: unknown): void
  /**
   * No more runs. Resolves when the run under way has ended and the lease is given back: after `last`, the work that
   * outlasts its run. Null: it is not waited for, and the lease ends with the database.
   */
  stop(last?: () => Promise<unknown> | null): Promise<void>
}

/** Starts jobs; handed to the workers of the features. */
export type Jobs = {
  /** Start a job. Its first run waits for its interval or for a wake. */
  start(options: JobOptions): Job
  /**
   * Start a job of the leader that marks or deletes rows: at once, and then every minute or `everySeconds`. Each run is one step;
   * while a step resolves to true, more is left and the next one follows soon.
   */
  sweep(options: Pick<JobOptions, 'failed'> & Upkeep): Job
  /** Call once after so many seconds, on the time of the jobs. The result cancels it. */
  after: JobTime['after']
}

/** Old rows of a feature, deleted by a job that `app/sweeps.ts` starts. */
export type RowSweep<Tx> = {
  /** Delete up to `sweepRowsMax` rows. Resolves to true when more may be left. `now` is Unix seconds. */
  prune(tx: Tx & Locking, now: number): Promise<boolean>
}

/** Time as jobs know it; a test hands in its own. */
export type JobTime = {
  /** Seconds of a clock that is never set. */
  seconds(): number
  /** Call once after so many seconds; after 0 in the next turn of the loop. The result cancels it. */
  after(seconds: number, call: () => void): () => void
}

/** The longest wait that a timer of the platform can count. */
const timerSecondsMax = 2 ** 31 / 1000 - 1

export const systemTime: JobTime = {
  seconds: () => performance.now() / 1000,
  after(seconds, call) {
    if (seconds <= 0) {
      const immediate = setImmediate(call)
      return () => clearImmediate(immediate)
    }
    const timer = setTimeout(call, Math.min(seconds, timerSecondsMax) * 1000)
    // Background work keeps no process alive: a start that fails ends at once.
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** The loop behind every background worker of one node. */
export function createJobs(leases: Leases, time = systemTime): Jobs {
  const start = (options: JobOptions) => startJob(options, leases, time)
  return {
    start,
    after: time.after,
    sweep({ step, failed, everySeconds = limits.housekeepingSeconds }) {
      const run = async () => ((await step()) ? 0 : undefined)
      const job = start({ failed, run, everySeconds, lease: leader })
      job.wake()
      return job
    },
  }
}

function isOutage(cause: unknown): boolean {
  return cause instanceof Refusal && cause.code === 'unavailable'
}

function startJob(options: JobOptions, leases: Leases, time: JobTime): Job {
  const { everySeconds = Number.POSITIVE_INFINITY, wakeSeconds = 0 } = options
  let running: Promise<void> | null = null
  let wokenInRun = false
  let runsSoon = false
  /** Reported, and not yet over. */
  let failing = false
  /** Failures of the work itself, one after the other. */
  let failures = 0
  let restsUntil = Number.NEGATIVE_INFINITY
  let dueAt = Number.POSITIVE_INFINITY
  let stopped = false
  let lease: Lease | null = null
  let cancel = (): void => undefined

  const schedule = (seconds: number) => {
    cancel()
    dueAt = time.seconds() + seconds
    if (!stopped && seconds < Number.POSITIVE_INFINITY) cancel = time.after(seconds, begin)
  }
  /** Seconds until a rest from now on ends. An outage of the database says nothing of the work, and is short. */
  const rest = (cause: unknown, outage = isOutage(cause)): number => {
    if (!failing) options.failed(cause)
    failing = true
    const wait = outage
      ? limits.jobOutageSeconds
      : Math.min(limits.jobRetrySeconds * 2 ** failures++, limits.jobRetrySecondsMax)
    restsUntil = time.seconds() + wait
    return wait
  }
  const succeed = () => {
    failing = false
    failures = 0
  }
  const holdsLease = async (name: string) => {
    if (!lease?.held()) lease = await leases.lease(name)
    return lease !== null
  }
  /** Seconds until the next run. */
  const runOnce = async (): Promise<number> => {
    try {
      if (options.lease !== undefined && !(await holdsLease(options.lease))) {
        succeed()
        // A wake does not ask for the lease again: another node has it and does the work.
        const wait = Math.min(everySeconds, limits.leaseLookSeconds)
        restsUntil = time.seconds() + wait
        return wait
      }
    } catch (cause) {
      return rest(cause, true)
    }
    try {
      if (stopped) return everySeconds
      const wait = (await options.run()) ?? everySeconds
      succeed()
      return Math.min(Math.max(wait, limits.jobPauseSeconds), everySeconds)
    } catch (cause) {
      return rest(cause)
    }
  }
  const begin = () => {
    runsSoon = wokenInRun = false
    // A timer may fire a moment early: a wake from here on is one during a run, not during a rest.
    restsUntil = Number.NEGATIVE_INFINITY
    running = runOnce().then((seconds) => {
      running = null
      const resting = restsUntil - time.seconds()
      schedule(resting > 0 ? resting : seconds)
      if (wokenInRun) wake()
    })
  }
  function wake(): void {
    if (stopped || runsSoon) return
    if (running !== null) {
      wokenInRun = true
      return
    }
    if (time.seconds() < restsUntil) return
    runsSoon = true
    schedule(Math.min(wakeSeconds, Math.max(dueAt - time.seconds(), 0)))
  }

  schedule(everySeconds)
  return {
    wake,
    fail(cause) {
      if (stopped || time.seconds() < restsUntil) return
      const wait = rest(cause)
      runsSoon = false
      // A run under way may outlast the rest.
      if (running !== null) wokenInRun = true
      else schedule(wait)
    },
    async stop(last) {
      stopped = true
      cancel()
      await running
      const ended = last?.()
      if (ended === null) return
      await ended
      await lease?.release()
      lease = null
    },
  }
}
