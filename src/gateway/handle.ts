import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import type { Database } from '../db/database.ts'
import type { Job, Jobs } from '../db/jobs.ts'
import type { RelayAccess } from './access.ts'
import { type ReconcileParts, reconcile } from './announcements.ts'
import { startCourier } from './courier.ts'
import { retryDelay } from './outbox.ts'
import type { OutboxStore } from './outbox-store.ts'
import type { RelayStatus } from './service.ts'

/** A relay with its background work: its courier, and the checks of announcements. */
export type RelayHandle = {
  relay: string
  access: RelayAccess
  /** A delivery to it is due. */
  wake(): void
  /** `pending`: the number of deliveries that wait for it. */
  status(pending: number): RelayStatus
  stop(): Promise<void>
}

type HandleParts = {
  database: Database<{ outbox: OutboxStore }>
  jobs: Jobs
  announcements: ReconcileParts
  now: Clock
  /** A monotonic clock in milliseconds. */
  steady: () => number
  failed: (cause: unknown) => void
}

/** Start the courier of a relay and its checks of announcements. */
export function startHandle(access: RelayAccess, parts: HandleParts): RelayHandle {
  const { steady } = parts
  const ended = { delivered: 0, refused: 0, expired: 0 }
  let lastError: string | null = null
  let latency: number | null = null
  const deliver: RelayAccess['deliver'] = async (text, late) => {
    const started = steady()
    const answer = await access.deliver(text, late)
    if (answer) latency = Math.round(steady() - started)
    if (!answer?.accepted) lastError = answer?.message ?? 'no answer'
    return answer
  }
  const courier = startCourier(
    { ...access, deliver },
    {
      ...parts,
      ended(state, deliveries) {
        ended[state] += deliveries
      },
    },
  )
  const check = startCheck(access, parts)
  access.onConnected(() => {
    courier.makeDue()
    check.wake()
  })
  return {
    relay: access.relay,
    access,
    wake: courier.wake,
    status(pending) {
      const connectedAt = access.connectedAt()
      const lost = access.connectionError()
      return {
        url: access.relay,
        connectedAt,
        pending,
        ...ended,
        // Without a connection the connection's error comes first, else that of the last delivery.
        lastError: connectedAt === null ? (lost ?? lastError) : (lastError ?? lost),
        latency,
      }
    },
    async stop() {
      await Promise.all([courier.stop(), check.stop()])
    },
  }
}

/** Check the announcements on a relay every hour, and after no answer with the backoff of a delivery. */
function startCheck(access: RelayAccess, { jobs, announcements, now, failed }: HandleParts): Job {
  let failures = 0
  let failingSince = 0
  return jobs.start({
    everySeconds: limits.announcementCheckSeconds,
    lease: `announcements ${access.relay}`,
    failed,
    async run() {
      if (!access.ready()) return undefined
      if (await reconcile(announcements, access.relay, access.query)) {
        failures = 0
        return undefined
      }
      if (failures === 0) failingSince = now()
      return retryDelay(failures++, now() - failingSince, Math.random())
    },
  })
}
