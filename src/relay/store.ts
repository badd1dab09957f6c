import { bytesOf } from '../base/bytes.ts'
import { openReader } from '../db/open.ts'
import type { Sql } from '../db/sql.ts'
import type { NostrEvent } from '../nostr/event.ts'
import { addressOf, classOf, expirationOf, newer } from '../nostr/kind-class.ts'
import { kinds } from '../nostr/kinds.ts'
import type { EventVersion } from './messages.ts'
import { createQueryStore, indexedTags } from './query-store.ts'

type Deletable = Pick<NostrEvent, 'id' | 'kind' | 'created_at'>
type EventRow = { id: number; event: string; created_at: number }

/** Outcome of storing an event. */
export type Stored = 'stored' | 'duplicate' | 'older' | 'deleted'

export type EventStore = ReturnType<typeof createEventStore>

/** Store of the embedded relay's events and deletions. */
export function createEventStore(sql: Sql) {
  const find = sql.query<EventRow, [Uint8Array]>(
    'SELECT id, event, created_at FROM events WHERE event_id = ?',
  )
  const exists = sql.query<{ id: number }, [Uint8Array]>('SELECT id FROM events WHERE event_id = ?')
  const atAddress = sql.query<EventRow, [Uint8Array, number, string]>(
    `SELECT id, event, created_at FROM events
     WHERE pubkey = ?1 AND kind = ?2 AND ${sql.longTexts.is('d', '?3')}`,
  )
  // Without RETURNING, which doubles the cost of the insert. Only events with indexed tags need the row id.
  const insert = sql.query<
    null,
    [Uint8Array, Uint8Array, number, number, string | null, number | null, string]
  >(
    `INSERT INTO events (event_id, pubkey, kind, created_at, d, expires_at, event)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertTag = sql.query<null, [string, string, number, number]>(
    `INSERT INTO tags (letter, value, created_at, id) VALUES (?, ?, ?, ?)
     ON CONFLICT (letter, value, created_at, id) DO NOTHING`,
  )
  const remove = sql.query<null, [number]>('DELETE FROM events WHERE id = ?')
  const findDeletion = sql.query<{ upto: number }, [Uint8Array, string]>(
    `SELECT upto FROM deletions WHERE pubkey = ?1 AND ${sql.longTexts.is('target', '?2')}`,
  )
  const insertDeletion = sql.query<null, [Uint8Array, string, number]>(
    `INSERT INTO deletions (pubkey, target, upto) VALUES (?, ?, ?)
     ON CONFLICT (pubkey, ${sql.longTexts.indexed('target')}) DO UPDATE SET upto = excluded.upto
     WHERE excluded.upto > deletions.upto`,
  )
  const expired = sql.query<{ id: number }, [number, number]>(
    'SELECT id FROM events WHERE expires_at <= ? ORDER BY expires_at LIMIT ?',
  )

  const deleted = async (event: Deletable, pubkey: Uint8Array, d: string | null) => {
    // A deletion of a deletion has no effect (NIP-09).
    if (event.kind === kinds.deletion) return false
    if (await findDeletion.get(pubkey, event.id)) return true
    if (d === null) return false
    const address = await findDeletion.get(pubkey, `${event.kind}:${d}`)
    return address !== null && address.upto >= event.created_at
  }

  const deleteById = async (request: NostrEvent, pubkey: Uint8Array, id: string) => {
    const row = await find.get(bytesOf(id))
    const event = row && (JSON.parse(row.event) as NostrEvent)
    if (event?.kind === kinds.deletion) return
    // The deletion is kept also for an unknown event, which may arrive later. It counts if the author is the same.
    insertDeletion.run(pubkey, id, request.created_at)
    if (row && event?.pubkey === request.pubkey) remove.run(row.id)
  }

  const deleteByAddress = async (request: NostrEvent, pubkey: Uint8Array, text: string) => {
    const [, kindText = '', author, d = ''] = /^(\d{1,5}):([0-9a-f]{64}):(.*)$/s.exec(text) ?? []
    const kindClass = classOf(Number(kindText))
    const replaced = kindClass === 'addressable' || (kindClass === 'replaceable' && d === '')
    if (kindText === '' || author !== request.pubkey || !replaced) return
    insertDeletion.run(pubkey, `${Number(kindText)}:${d}`, request.created_at)
    const row = await atAddress.get(pubkey, Number(kindText), d)
    if (row && row.created_at <= request.created_at) remove.run(row.id)
  }

  return {
    ...createQueryStore(sql),

    /** Store an event that is not ephemeral, by the rules of NIP-01 (replacement) and NIP-09 (deletion). */
    async insert(event: NostrEvent): Promise<Stored> {
      const id = bytesOf(event.id)
      if (await exists.get(id)) return 'duplicate'
      const pubkey = bytesOf(event.pubkey)
      const d = addressOf(event)
      if (await deleted(event, pubkey, d)) return 'deleted'
      if (d !== null) {
        const current = await atAddress.get(pubkey, event.kind, d)
        if (current) {
          // The stored one wins by NIP-01's rule, so that relays agree whatever the order of arrival was.
          if (newer(JSON.parse(current.event) as NostrEvent, event)) return 'older'
          remove.run(current.id)
        }
      }
      const text = JSON.stringify(event)
      const { kind, created_at } = event
      insert.run(id, pubkey, kind, created_at, d, expirationOf(event), text)
      const indexed = indexedTags(event)
      const row = indexed.length > 0 ? await exists.get(id) : null
      for (const [letter, value] of row ? indexed : []) {
        insertTag.run(letter, value, created_at, row?.id ?? 0)
      }
      return 'stored'
    },

    /** True if its author deleted the event, or a newer version replaced it. */
    async superseded(event: EventVersion): Promise<boolean> {
      const { kind, d } = event
      const pubkey = bytesOf(event.pubkey)
      if (await deleted(event, pubkey, d)) return true
      const current = d === null ? null : await atAddress.get(pubkey, kind, d)
      if (!current) return false
      if (current.created_at !== event.created_at) return current.created_at > event.created_at
      return newer(JSON.parse(current.event) as NostrEvent, event)
    },

    /** Execute a deletion request (NIP-09). It deletes events of its author only, and never deletions. */
    async delete(request: NostrEvent): Promise<void> {
      const pubkey = bytesOf(request.pubkey)
      for (const [name, value = ''] of request.tags) {
        if (name === 'e' && /^[0-9a-f]{64}$/.test(value)) await deleteById(request, pubkey, value)
        if (name === 'a') await deleteByAddress(request, pubkey, value)
      }
    },

    /** Delete up to `rowsMax` expired events (NIP-40). Returns their number. */
    async prune(now: number, rowsMax: number): Promise<number> {
      const rows = await expired.all(now, rowsMax)
      for (const { id } of rows) remove.run(id)
      return rows.length
    },
  }
}

/** Open the store for reading, on its own connection, which sees committed events only. */
export function openEventReader(path: string) {
  const { sql, close } = openReader(path)
  return { events: createEventStore(sql), close }
}
