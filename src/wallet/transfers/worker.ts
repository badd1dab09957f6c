import { limits } from '../../base/limits.ts'
import type { Job, Jobs } from '../../db/jobs.ts'
import type { Transfers } from './service.ts'
import { putOff, swap } from './swap.ts'
import type { Intent } from './transfer-store.ts'

type TransferWork = { transfers: Transfers; jobs: Jobs; failed: (cause: unknown) => void }

/**
 * Finish swaps that no request waits for any more: at the start all that a stopped process left, later
 * each when it is due. Services run side by side, so that none waits for a slow one. The stop waits for
 * no service: a swap under way is left to the next start.
 */
export function startTransferWorker({
  transfers,
  jobs,
  failed,
}: TransferWork): Pick<Job, 'wake' | 'stop'> {
  const { database, now } = transfers
  const busy = new Set<string>()
  let begun = false
  let stopped = false

  const resume = async (intent: Intent) => {
    try {
      await swap(transfers, { ...intent, fresh: false })
    } catch (cause) {
      if (stopped) return
      failed(cause)
      // It is postponed, so that the intents behind it have their turn.
      await putOff(transfers, intent, 'it failed')
    }
  }
  const resumeAt = async (service: string) => {
    for (;;) {
      const due = await database.snapshot((tx) =>
        tx.transfers.due(service, now(), limits.resumesMax),
      )
      if (due.length === 0 || stopped) return
      await Promise.all(due.map(resume))
    }
  }
  const begin = (service: string) => {
    busy.add(service)
    resumeAt(service)
      .catch((cause: unknown) => job.fail(cause))
      .finally(() => {
        busy.delete(service)
        job.wake()
      })
  }
  const run = async () => {
    if (!begun) {
      await database.transact({ roots: ['instance'] }, (tx) => tx.transfers.makeAllDue(now()))
    }
    begun = true
    const open = await database.snapshot((tx) => tx.transfers.open())
    const idle = open.filter(({ service }) => !busy.has(service))
    const waits = idle.map(({ service, nextAt }) => {
      const wait = nextAt - now()
      if (wait > 0 || stopped) return Math.max(1, wait)
      begin(service)
      return limits.resumeNapSeconds
    })
    return Math.min(limits.resumeNapSeconds, ...waits)
  }
  const job = jobs.start({
    lease: 'transfers.resume',
    everySeconds: limits.resumeNapSeconds,
    run,
    failed,
  })
  job.wake()
  return {
    wake: job.wake,
    async stop() {
      stopped = true
      // With the lease another node would resume at once what is under way here.
      await job.stop(() => (busy.size === 0 ? Promise.resolve() : null))
    },
  }
}
