import { limits } from '../base/limits.ts'
import type { Job, SweepParts } from '../db/jobs.ts'
import type { OutboxStore } from './outbox-store.ts'

/** Delete publications whose deliveries ended long ago. */
export function startOutboxSweep(parts: SweepParts<{ outbox: OutboxStore }>): Job {
  const { jobs, database, now, failed } = parts
  return jobs.sweep({
    lease: 'outbox.sweep',
    failed,
    async step() {
      const before = now() - limits.outboxKeptSeconds
      return (
        (await database.transact({ roots: ['instance'] }, (tx) =>
          tx.outbox.prune(limits.sweepRowsMax, before),
        )) > 0
      )
    },
  })
}
