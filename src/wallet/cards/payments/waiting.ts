import type { JobTime } from '../../../db/jobs.ts'
import type { Topic } from '../../../db/news.ts'

/** The id of the start event that a ledger elsewhere has answered. */
export const paymentAnswered: Topic<string> = { name: 'payment.answered' }

/** Requests that wait for the answer of a ledger elsewhere. */
export type Waiting = {
  /** Resolves when a ledger has answered that start event, or after so many seconds. */
  answered(startId: string, seconds: number): Promise<void>
  /** A ledger's answer to that start event is on disk. */
  tell(startId: string): void
  /** True from the stop of the service on: no request waits any more. */
  stopped(): boolean
  stop(): void
}

export function createWaiting(after: JobTime['after']): Waiting {
  const waiting = new Map<string, Set<() => void>>()
  let stopped = false
  const tell = (startId: string) => {
    for (const go of waiting.get(startId) ?? []) go()
  }
  return {
    tell,
    answered(startId, seconds) {
      return new Promise((resolve) => {
        const others = waiting.get(startId) ?? new Set()
        const go = () => {
          cancel()
          others.delete(go)
          if (others.size === 0) waiting.delete(startId)
          resolve()
        }
        const cancel = after(seconds, go)
        waiting.set(startId, others.add(go))
      })
    },
    stopped: () => stopped,
    stop() {
      stopped = true
      for (const startId of [...waiting.keys()]) tell(startId)
    },
  }
}
