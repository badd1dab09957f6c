import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { type BackupReport, partialOf, removePartial } from './backup.ts'
import type { CheckReport } from './check.ts'
import type { Job, Outcome } from './maintenance-worker.ts'
import type { ArrivalJob, Arrived } from './restore.ts'

export type Maintenance = {
  /** Throws OperatorError if too many jobs wait, and of the kind `stopping` after `stop`. */
  check(): Promise<CheckReport>
  /** `target` is an absolute path. Throws OperatorError if it cannot be written. */
  backup(target: string, force: boolean): Promise<BackupReport>
  /** As `prepareArrival`. */
  arrival(job: ArrivalJob): Promise<Arrived>
  /** Abort the running job and the waiting ones. */
  stop(): void
}

/** Checks, backups and arrivals of a running server: one job at a time, each in its own thread. */
export function createMaintenance(source: string): Maintenance {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let giveUp: (() => void) | null = null
  let stopped = false

  async function enqueue<T>(job: Job): Promise<T> {
    if (waiting >= limits.maintenanceJobsMax) {
      throw new OperatorError('too many checks and backups are waiting: try again later')
    }
    waiting++
    const before = last
    const { promise: turn, resolve: done } = Promise.withResolvers<void>()
    last = turn
    try {
      await before
      if (stopped) throw new OperatorError('the server is stopping', 'stopping')
      return (await runInWorker(job, (stop) => {
        giveUp = stop
      })) as T
    } finally {
      giveUp = null
      waiting--
      done()
    }
  }

  return {
    check: () => enqueue<CheckReport>({ kind: 'check', source }),
    async backup(target, force) {
      const partial = partialOf(target)
      try {
        return await enqueue<BackupReport>({ kind: 'backup', source, target, partial, force })
      } finally {
        removePartial(partial)
      }
    },
    arrival: (job) => enqueue<Arrived>({ kind: 'arrival', ...job }),
    stop() {
      stopped = true
      giveUp?.()
    },
  }
}

/** Run a job in a thread. `started` gets a function that aborts it. */
async function runInWorker(job: Job, started: (stop: () => void) => void): Promise<unknown> {
  const worker = new Worker(new URL('./maintenance-worker.ts', import.meta.url))
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
  worker.onmessage = ({ data }: MessageEvent<Outcome>) => resolve(data)
  worker.onerror = ({ message }) => reject(new Error(`the maintenance worker failed: ${message}`))
  started(() => reject(new OperatorError('the server is stopping', 'stopping')))
  worker.postMessage(job)
  try {
    const outcome = await promise
    if ('done' in outcome) return outcome.done
    if ('refused' in outcome) {
      throw new OperatorError(outcome.refused.message, outcome.refused.kind)
    }
    const { message, code } = outcome.failed
    throw Object.assign(new Error(message), { code })
  } finally {
    worker.terminate()
  }
}
