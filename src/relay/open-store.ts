import { systemClock } from '../base/clock.ts'
import { openBackfill, syncedHere } from '../db/backfill.ts'
import type { Database, Leases, News } from '../db/database.ts'
import { storeLog } from '../db/left-log.ts'
import { relaySchema } from '../db/migrations.ts'
import { openDatabase, openReader } from '../db/open.ts'
import { inTurns } from '../db/turns.ts'
import { createMemberStore, type MemberStore } from './member-store.ts'
import type { RelaySettings } from './messages.ts'
import { createEventStore, type EventStore, openEventReader } from './store.ts'

/** The database of the relay's thread: its events, and the members of the service. */
type RelayDatabase = {
  database: Database<{ events: EventStore }> & News & Leases
  /** Reads of committed events. */
  events: Pick<EventStore, 'find' | 'count' | 'superseded'>
  isMember: MemberStore['isMember']
  close(): Promise<void>
}

/** Open the events in a file of their own, or in the database that all nodes share. `failed` is told of its faults. */
export function openRelayDatabase(
  settings: RelaySettings,
  failed: (cause: unknown) => void,
): Promise<RelayDatabase> {
  const { couponsUrl } = settings
  return couponsUrl === null ? openFile(settings, failed) : openShared(couponsUrl, failed)
}

async function openFile(
  { relayPath, couponsPath }: RelaySettings,
  failed: (cause: unknown) => void,
): Promise<RelayDatabase> {
  // A thread of the relay that ended in this process may have left a log behind.
  storeLog(relayPath, 'kept')
  const database = openDatabase({
    path: relayPath,
    now: systemClock,
    schema: relaySchema,
    stores: (sql) => ({ events: createEventStore(sql) }),
    events: {
      committed: () => undefined,
      // Operations tell of themselves. Nobody waits for a fold of the log.
      failed: (cause, operations) => operations === 0 && failed(cause),
    },
    // This thread has nothing but the relay to wait for, and leaves the other ones to the coupons.
    backfill: (path) => syncedHere(openBackfill(path)),
  })
  const reader = openEventReader(relayPath)
  const members = openReader(couponsPath)
  return {
    database,
    events: reader.events,
    isMember: createMemberStore(members.sql).isMember,
    async close() {
      await database.close()
      reader.close()
      members.close()
    },
  }
}

// Loaded only here, so that a service with a file never reads the driver.
async function openShared(url: string, failed: (cause: unknown) => void): Promise<RelayDatabase> {
  const { openBeside } = await import('../db/postgres/open.ts')
  const database = await openBeside({
    url,
    now: systemClock,
    events: { committed: () => undefined, failed },
    stores: (sql) => ({ events: createEventStore(sql), members: createMemberStore(sql) }),
  })
  return {
    database: {
      // Events of one author keep their order.
      transact: inTurns(database),
      snapshot: (query) => database.snapshot(query),
      look: (query) => database.look(query),
      listen: (topic, listener) => database.listen(topic, listener),
      tell: (topic, body) => database.tell(topic, body),
      lease: (name) => database.lease(name),
    },
    events: {
      find: (...asked) => database.snapshot((tx) => tx.events.find(...asked)),
      count: (...asked) => database.snapshot((tx) => tx.events.count(...asked)),
      superseded: (version) => database.snapshot((tx) => tx.events.superseded(version)),
    },
    isMember: (pubkey) => database.snapshot((tx) => tx.members.isMember(pubkey)),
    close: () => database.close(),
  }
}
