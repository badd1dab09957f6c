import { bytesOf } from '../base/bytes.ts'
import type { Sql } from '../db/sql.ts'
import type { NostrEvent } from '../nostr/event.ts'

export type AnnouncementStore = ReturnType<typeof createAnnouncementStore>

/** Store of the current announcement of each merchant. */
export function createAnnouncementStore(sql: Sql) {
  const find = sql.query<{ event: string }, [Uint8Array]>(
    'SELECT event FROM announcements WHERE owner = ?',
  )
  // The condition of the upsert decides, so that parallel writes cannot bring an older event back.
  const put = sql.query<null, [Uint8Array, Uint8Array, number, string]>(
    `INSERT INTO announcements (owner, event_id, created_at, event) VALUES (?, ?, ?, ?)
     ON CONFLICT (owner) DO UPDATE SET event_id = excluded.event_id,
       created_at = excluded.created_at, event = excluded.event
     WHERE excluded.created_at > announcements.created_at
       OR (excluded.created_at = announcements.created_at
         AND excluded.event_id < announcements.event_id)`,
  )
  const page = sql.query<{ event: string }, [Uint8Array, number]>(
    'SELECT event FROM announcements WHERE owner > ? ORDER BY owner LIMIT ?',
  )
  const remove = sql.query<null, [Uint8Array]>('DELETE FROM announcements WHERE owner = ?')

  return {
    async find(owner: string): Promise<NostrEvent | null> {
      const row = await find.get(bytesOf(owner))
      return row && (JSON.parse(row.event) as NostrEvent)
    },

    /** Up to `most` announcements, by owner, of the owners that follow `afterOwner`. */
    async page(afterOwner: string, most: number): Promise<NostrEvent[]> {
      const rows = await page.all(bytesOf(afterOwner), most)
      return rows.map(({ event }) => JSON.parse(event) as NostrEvent)
    },

    /** Store it, unless the stored one wins (NIP-01: the newer; at the same second the lower id). */
    async put(event: NostrEvent): Promise<boolean> {
      const owner = bytesOf(event.pubkey)
      const id = bytesOf(event.id)
      return (await put.changes(owner, id, event.created_at, JSON.stringify(event))) === 1
    },

    /** Delete it. False if there was none. */
    async remove(owner: string): Promise<boolean> {
      return (await remove.changes(bytesOf(owner))) === 1
    },
  }
}
