import { limits } from '../limits.ts'
import { swap } from './swap.ts'
import type { Transfers } from './transfer-service.ts'

type Resuming = {
  /** Something may be due sooner than the next look. */
  wake(): void
  /** No more attempts; what is under way is left to the next start. */
  stop(): void
}

/**
 * Bring swaps to their end that no request waits for any more: at the start all that a stopped
 * process left, and later each when it is due.
 */
export function startResuming(transfers: Transfers, failed: (cause: unknown) => void): Resuming {
  const { database, now } = transfers
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false
  let busy = false
  let again = false

  const later = (seconds: number) => {
    clearTimeout(timer)
    if (!stopped) timer = setTimeout(look, seconds * 1000)
  }
  const tryDue = async () => {
    for (;;) {
      const due = await database.read((tx) => tx.transfers.due(now(), limits.resumesMax))
      if (due.length === 0 || stopped) break
      await Promise.all(due.map(({ id }) => swap(transfers, id, false)))
    }
    const next = await database.read((tx) => tx.transfers.nextAt())
    return next === null ? limits.resumeNapSeconds : Math.max(1, next - now())
  }
  const look = async () => {
    if (busy) {
      again = true
      return
    }
    busy = true
    again = false
    try {
      const wait = await tryDue()
      later(again ? 0 : Math.min(wait, limits.resumeNapSeconds))
    } catch (cause) {
      if (!stopped) failed(cause)
      later(limits.resumePauseSeconds)
    } finally {
      busy = false
    }
  }
  database
    .transact((tx) => tx.transfers.hurry(now()))
    .then(look, (cause: unknown) => {
      if (!stopped) failed(cause)
      later(limits.resumePauseSeconds)
    })
  return {
    wake: () => void look(),
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
