import { limits } from '../../base/limits.ts'
import type { Transfers } from './service.ts'
import { putOff, swap } from './swap.ts'
import type { Intent } from './transfer-store.ts'

type Resuming = {
  /** Something may be due sooner than the next look. */
  wake(): void
  /** No more attempts; what is under way is left to the next start. */
  stop(): void
}

/**
 * Bring swaps to their end that no request waits for any more: at the start all that a stopped
 * process left, and later each when it is due. Each service has its own turn, so that none waits
 * for another that is slow.
 */
export function startResuming(transfers: Transfers, failed: (cause: unknown) => void): Resuming {
  const { database, now } = transfers
  const busy = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false
  let looking = false
  let again = false

  const later = (seconds: number) => {
    clearTimeout(timer)
    if (!stopped) timer = setTimeout(look, seconds * 1000)
  }
  const orFailed = (cause: unknown) => {
    if (!stopped) failed(cause)
    later(limits.resumePauseSeconds)
  }
  const resume = async (intent: Intent) => {
    try {
      await swap(transfers, intent.id, false)
    } catch (cause) {
      if (stopped) return
      failed(cause)
      // Whatever is wrong with it, those behind it have their turn.
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
  const look = () => {
    again = looking
    if (looking) return
    looking = true
    database
      .snapshot((tx) => tx.transfers.open())
      .then((open) => {
        const idle = open.filter(({ service }) => !busy.has(service))
        const waits = idle.map(({ service, nextAt }) => {
          const wait = nextAt - now()
          if (wait > 0 || stopped) return Math.max(1, wait)
          busy.add(service)
          resumeAt(service)
            .finally(() => busy.delete(service))
            .then(look, orFailed)
          return limits.resumeNapSeconds
        })
        later(Math.min(limits.resumeNapSeconds, ...waits))
      })
      .catch(orFailed)
      .finally(() => {
        looking = false
        if (again) look()
      })
  }
  database.transact({ roots: ['instance'] }, (tx) => tx.transfers.hurry(now())).then(look, orFailed)
  return {
    wake: look,
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
