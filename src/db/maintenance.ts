import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { type BackupReport, partialOf, removePartial } from './backup.ts'
import type { CheckReport } from './check-report.ts'
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

/**
 * Checks, backups and arrivals of a running server, one at a time. Each runs in its own thread, but for the check of a
 * database on a server (`url`), where that server does the work.
 */
export function createMaintenance(source: string, url: string | null): Maintenance {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let giveUp: (() => void) | null = null
  let stopped = false

  async function enqueue<T>(run: Running<T>): Promise<T> {
    if (waiting >= limits.maintenanceJobsMax) {
      throw new OperatorError('too many checks and backups are waiting: try again later')
    }
    waiting++
    const before = last
    const { promise: turn, resolve: done } = Promise.withResolvers<void>()
    last = turn
    try {
      await before
      if (stopped) throw stopping()
      return await run((stop) => {
        giveUp = stop
      })
    } finally {
      giveUp = null
      waiting--
      done()
    }
  }

  return {
    check: () =>
      enqueue<CheckReport>(
        url === null ? inWorker({ kind: 'check', source }) : (started) => checkServer(url, started),
      ),
    async backup(target, force) {
      const partial = partialOf(target)
      try {
        return await enqueue<BackupReport>(
          inWorker({ kind: 'backup', source, target, partial, force }),
        )
      } finally {
        removePartial(partial)
      }
    },
    arrival: (job) => enqueue<Arrived>(inWorker({ kind: 'arrival', ...job })),
    stop() {
      stopped = true
      giveUp?.()
    },
  }
}

/** A job. `started` gets a function that aborts it. */
type Running<T> = (started: (stop: () => void) => void) => Promise<T>

function stopping(): OperatorError {
  return new OperatorError('the server is stopping', 'stopping')
}

async function checkServer(url: string, started: Parameters<Running<unknown>>[0]) {
  const { checkPostgres } = await import('./postgres/check.ts')
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = new AbortController()
  started(() => {
    stop.abort()
    reject(stopping())
  })
  // Pauses leave the processor to the service.
  const pause = (tookMs: number) => Bun.sleep(tookMs / 4)
  return Promise.race([checkPostgres(url, pause, stop.signal), promise])
}

/** Run a job in a thread. */
function inWorker<T>(job: Job): Running<T> {
  return async (started) => (await runInWorker(job, started)) as T
}

async function runInWorker(job: Job, started: (stop: () => void) => void): Promise<unknown> {
  const worker = new Worker(new URL('./maintenance-worker.ts', import.meta.url))
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
  worker.onmessage = ({ data }: MessageEvent<Outcome>) => resolve(data)
  worker.onerror = ({ message }) => reject(new Error(`the maintenance worker failed: ${message}`))
  started(() => reject(stopping()))
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
