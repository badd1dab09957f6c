import { bytesOf } from '../base/bytes.ts'
import { limits } from '../base/limits.ts'
import type { Sql } from '../db/sql.ts'
import type { NostrEvent } from '../nostr/event.ts'

type DeliveryState = 'pending' | 'delivered' | 'refused' | 'expired'
export type Delivery = {
  relay: string
  state: DeliveryState
  attempts: number
  lastError: string | null
}
/** An event that is due for a relay. */
export type DueDelivery = {
  outboxId: number
  /** The event as JSON. The embedded relay needs no other form. */
  text: string
  attempts: number
  acceptedAt: number
  giveUpAt: number
  priority: Priority
}
/** The outcome of an attempt. */
export type Outcome = {
  outboxId: number
  state: DeliveryState
  /** 1, or 0 for a late answer: it belongs to an attempt that was counted. */
  attempts: number
  /** Unix seconds of the next attempt, while the delivery is pending. */
  nextAt: number
  error: string | null
  /** The connection ended during the attempt. */
  poison: boolean
}

/** Deliveries that wait for an answer. */
export type UnderWay = { has(outboxId: number): boolean; keys(): Iterable<number>; size: number }
/**
 * Free places, and how many of them `later` may take; `held`: deliveries sent in the last second hold
 * the others; `poison`: it is the turn of a poison event.
 */
export type Room = { places: number; later: number; held: boolean; poison: boolean }
/** Row ids of events that wait for a relay. */
type Left = { relay: string; ids: readonly number[] }
type Entry = { now: number; giveUpAt: number; priority: Priority }
type DueRow = {
  id: number
  event: string
  attempts: number
  accepted_at: number
  give_up_at: number
}

/**
 * The order of deliveries to a relay: the service's own events; events within their author's quota;
 * events above it, and those that failed before; poison events, at which the connection ended.
 */
const priorities = { own: 0, others: 1, later: 2, poison: 3 } as const
export type Priority = keyof typeof priorities
const inOrder = Object.keys(priorities) as Priority[]

export type OutboxStore = ReturnType<typeof createOutboxStore>

/** Events and their deliveries to relays. */
export function createOutboxStore(sql: Sql) {
  // Without RETURNING: it would double the cost.
  const insert = sql.query<null, [Uint8Array, string, number, number, number]>(
    `INSERT INTO outbox (event_id, event, bytes, accepted_at, give_up_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (event_id) DO NOTHING`,
  )
  const addLoad = sql.query<null, [number, number]>(
    sql.counters.addToExisting('outbox_load', {
      keys: { id: '1' },
      by: { events: '?1', bytes: '?2' },
    }),
  )
  const insertDelivery = sql.query<null, [Uint8Array, string, number, number]>(
    `INSERT INTO deliveries (outbox_id, relay, next_at, priority)
     VALUES ((SELECT id FROM outbox WHERE event_id = ?), ?, ?, ?)
     ON CONFLICT (outbox_id, relay) DO UPDATE
       SET state = 'pending', attempts = 0, last_error = NULL, next_at = excluded.next_at,
         priority = excluded.priority
     WHERE deliveries.state <> 'pending'`,
  )
  const reopen = sql.query<null, [string, number, number, number]>(
    `UPDATE outbox SET event = ?, accepted_at = ?, give_up_at = ?, done_at = NULL
     WHERE id = ? AND done_at IS NOT NULL`,
  )
  const findId = sql.query<{ id: number }, [Uint8Array]>('SELECT id FROM outbox WHERE event_id = ?')
  const deliveries = sql.query<
    { relay: string; state: DeliveryState; attempts: number; last_error: string | null },
    [number]
  >('SELECT relay, state, attempts, last_error FROM deliveries WHERE outbox_id = ? ORDER BY relay')
  const due = sql.query<DueRow, [string, number, number, string, number]>(
    `SELECT o.id, o.event, d.attempts, o.accepted_at, o.give_up_at
     FROM deliveries d JOIN outbox o ON o.id = d.outbox_id
     WHERE d.relay = ? AND d.state = 'pending' AND d.priority = ? AND d.next_at <= ?
       AND o.done_at IS NULL AND d.outbox_id NOT IN ${sql.integersIn('?')}
     ORDER BY d.next_at, d.outbox_id LIMIT ?`,
  )
  const nextDue = sql.query<{ next_at: number | null }, [string, number]>(
    `SELECT min(next_at) AS next_at FROM deliveries
     WHERE relay = ? AND state = 'pending' AND priority = ?`,
  )
  const nextGiveUp = sql.query<{ give_up_at: number | null }, []>(
    'SELECT min(give_up_at) AS give_up_at FROM outbox WHERE done_at IS NULL',
  )
  const record = sql.query<
    null,
    [DeliveryState, number, number, string | null, number, string, number]
  >(
    `UPDATE deliveries
     SET state = ?1, attempts = attempts + ?2, next_at = ?3, last_error = ?4,
       priority = CASE WHEN ?7 = 1 THEN 3 WHEN priority <> 0 AND ?2 > 0 THEN 2 ELSE priority END
     WHERE outbox_id = ?5 AND relay = ?6
       AND (state = 'pending' OR (state = 'expired' AND ?1 = 'delivered'))`,
  )
  // One statement for all of them: most attempts succeed, and one by one they cost twice as much.
  const deliver = sql.query<null, [string, string]>(
    `UPDATE deliveries SET state = 'delivered', attempts = attempts + 1, last_error = NULL
     WHERE relay = ? AND outbox_id IN ${sql.integersIn('?')}
       AND state IN ('pending', 'expired')`,
  )
  const finishRows = sql.query<{ bytes: number }, [number, string]>(
    `UPDATE outbox SET event = NULL, done_at = ?1
     WHERE id IN ${sql.integersIn('?2')} AND done_at IS NULL AND NOT EXISTS
       (SELECT 1 FROM deliveries WHERE outbox_id = outbox.id AND state = 'pending')
     RETURNING bytes`,
  )
  const makeDue = sql.query<null, [string, number, number, number]>(
    `UPDATE deliveries SET next_at = ?2 WHERE (outbox_id, relay) IN
       (SELECT outbox_id, relay FROM deliveries
        WHERE relay = ?1 AND state = 'pending' AND priority = ?4 AND next_at > ?2 LIMIT ?3)
       AND state = 'pending' AND priority = ?4 AND next_at > ?2`,
  )
  const overdue = sql.query<{ id: number }, [string, number, number]>(
    `SELECT o.id FROM outbox o JOIN deliveries d ON d.outbox_id = o.id AND d.relay = ?1
     WHERE o.done_at IS NULL AND o.give_up_at <= ?2 AND d.state = 'pending'
     ORDER BY o.give_up_at LIMIT ?3`,
  )
  const expire = sql.query<null, [number, string, number]>(
    `UPDATE deliveries SET state = 'expired'
     WHERE outbox_id = ?1 AND relay = ?2 AND state = 'pending'
       AND EXISTS (SELECT 1 FROM outbox WHERE id = ?1 AND give_up_at <= ?3)`,
  )
  const recall = sql.query<null, [string, number]>(
    "UPDATE deliveries SET state = 'expired', last_error = ? WHERE outbox_id = ? AND state = 'pending'",
  )
  const nextRelay = sql.query<{ relay: string }, [string]>(
    "SELECT relay FROM deliveries WHERE state = 'pending' AND relay > ? ORDER BY relay LIMIT 1",
  )
  const left = sql.query<{ outbox_id: number }, [string, number]>(
    "SELECT outbox_id FROM deliveries WHERE relay = ? AND state = 'pending' LIMIT ?",
  )
  const retire = sql.query<null, [number, string]>(
    `UPDATE deliveries SET state = 'expired', last_error = 'no longer in RELAYS'
     WHERE outbox_id = ? AND relay = ? AND state = 'pending'`,
  )
  const prune = sql.query<null, [number, number]>(
    `DELETE FROM outbox WHERE id IN
       (SELECT id FROM outbox WHERE done_at < ? ORDER BY done_at LIMIT ?) AND done_at IS NOT NULL`,
  )
  const load = sql.query<{ events: number; bytes: number }, []>(
    `SELECT CAST(coalesce(sum(events), 0) AS BIGINT) AS events,
       CAST(coalesce(sum(bytes), 0) AS BIGINT) AS bytes
     FROM ${sql.counters.rows('outbox_load')} WHERE id = 1`,
  )
  const count = sql.query<{ n: number }, [string]>(
    "SELECT count(*) AS n FROM deliveries WHERE relay = ? AND state = 'pending'",
  )

  const insertNew = async (event: NostrEvent, relays: readonly string[], entry: Entry) => {
    const text = JSON.stringify(event)
    const size = Buffer.byteLength(text)
    const id = bytesOf(event.id)
    if ((await insert.changes(id, text, size, entry.now, entry.giveUpAt)) === 0) return false
    addLoad.run(1, size)
    addDeliveries(id, relays, entry)
    return true
  }

  const addDeliveries = (
    eventId: Uint8Array,
    relays: readonly string[],
    { now, priority }: Entry,
  ) => {
    for (const relay of relays) insertDelivery.run(eventId, relay, now, priorities[priority])
  }

  /** Mark events as done that have no pending delivery, and delete their text. */
  const finish = async (ids: readonly number[], now: number) => {
    const rows = await finishRows.all(now, JSON.stringify(ids))
    if (rows.length === 0) return
    addLoad.run(
      -rows.length,
      rows.reduce((sum, row) => sum - row.bytes, 0),
    )
  }

  /** Names of relays with pending deliveries. Each is found from the one before it in the index. */
  const waitedFor = async (): Promise<string[]> => {
    const relays: string[] = []
    let row = await nextRelay.get('')
    for (; row; row = await nextRelay.get(row.relay)) relays.push(row.relay)
    return relays
  }

  return {
    /** Those of these relays that neither have this event nor have it pending. */
    async missing(eventId: string, relays: readonly string[]): Promise<string[]> {
      const row = await findId.get(bytesOf(eventId))
      if (!row) return [...relays]
      const settled = (await deliveries.all(row.id)).filter(({ state }) =>
        /pending|delivered/.test(state),
      )
      const known = new Set(settled.map(({ relay }) => relay))
      return relays.filter((relay) => !known.has(relay))
    },

    /** Insert a new event for these relays. False, with nothing changed, when it is known. */
    insert: insertNew,

    /**
     * Add deliveries of an event to these relays. A delivery that has ended begins anew; a pending one
     * stays as it is.
     */
    async add(event: NostrEvent, relays: readonly string[], entry: Entry): Promise<void> {
      if (await insertNew(event, relays, entry)) return
      const id = (await findId.get(bytesOf(event.id)))?.id
      if (id === undefined) throw new Error('the event was not inserted')
      const text = JSON.stringify(event)
      const { now, giveUpAt } = entry
      if ((await reopen.changes(text, now, giveUpAt, id)) > 0)
        addLoad.run(1, Buffer.byteLength(text))
      addDeliveries(bytesOf(event.id), relays, entry)
    },

    /** The deliveries of an event, or null when it is unknown. */
    async find(eventId: string): Promise<Delivery[] | null> {
      const row = await findId.get(bytesOf(eventId))
      if (!row) return null
      return (await deliveries.all(row.id)).map(({ relay, state, attempts, last_error }) => ({
        relay,
        state,
        attempts,
        lastError: last_error,
      }))
    },

    /**
     * Due deliveries that have room, without those under way, by priority and then by due time. A poison
     * event goes alone: when nothing else is due, or at its turn.
     */
    async due(relay: string, now: number, room: Room, underWay: UnderWay): Promise<DueDelivery[]> {
      const busy = JSON.stringify([...underWay.keys()])
      const take = async (priority: Priority, most: number): Promise<DueDelivery[]> => {
        if (most <= 0) return []
        const rows = await due.all(relay, priorities[priority], now, busy, most)
        return rows.map((row) => ({
          outboxId: row.id,
          text: row.event,
          attempts: row.attempts,
          acceptedAt: row.accepted_at,
          giveUpAt: row.give_up_at,
          priority,
        }))
      }
      const first = room.poison ? await take('poison', 1) : []
      if (first.length > 0) return room.held ? [] : first
      const found = await take('own', room.places)
      found.push(...(await take('others', room.places - found.length)))
      found.push(...(await take('later', Math.min(room.places - found.length, room.later))))
      return found.length > 0 || room.held ? found : take('poison', 1)
    },

    /** Unix seconds of the next due delivery to a relay; null without one. */
    async nextDue(relay: string): Promise<number | null> {
      let next: number | null = null
      for (const priority of inOrder) {
        const at = (await nextDue.get(relay, priorities[priority]))?.next_at ?? null
        if (at !== null && (next === null || at < next)) next = at
      }
      return next
    },

    /** Unix seconds at which the next event is given up; null without one. */
    async nextGiveUp(): Promise<number | null> {
      return (await nextGiveUp.get())?.give_up_at ?? null
    },

    /** Record the outcomes of attempts at a relay, and finish events that are done. */
    async record(relay: string, outcomes: readonly Outcome[], now: number): Promise<void> {
      const idsOf = (some: readonly Outcome[]) => some.map(({ outboxId }) => outboxId)
      const plain = ({ state, attempts }: Outcome) => state === 'delivered' && attempts === 1
      deliver.run(relay, JSON.stringify(idsOf(outcomes.filter(plain))))
      for (const outcome of outcomes.filter((one) => !plain(one))) {
        const { outboxId, state, attempts, nextAt, error, poison } = outcome
        const said = error?.slice(0, limits.relayErrorCharsMax) ?? null
        record.run(state, attempts, nextAt, said, outboxId, relay, Number(poison))
      }
      await finish(idsOf(outcomes.filter(({ state }) => state !== 'pending')), now)
    },

    /** Make up to `rowsMax` pending deliveries to a relay due now, without poison events. Returns their number. */
    async makeDue(relay: string, now: number, rowsMax: number): Promise<number> {
      let made = 0
      for (const priority of inOrder.slice(0, -1)) {
        made += await makeDue.changes(relay, now, rowsMax - made, priorities[priority])
      }
      return made
    },

    /** Row ids of events that have waited too long for a relay, without those under way. */
    async overdue(
      relay: string,
      now: number,
      rowsMax: number,
      underWay: UnderWay,
    ): Promise<number[]> {
      const rows = await overdue.all(relay, now, rowsMax + underWay.size)
      return rows.flatMap(({ id }) => (underWay.has(id) ? [] : id)).slice(0, rowsMax)
    },

    /** Expire those of these deliveries to a relay that are overdue. Returns their number. */
    async expire(relay: string, ids: readonly number[], now: number): Promise<number> {
      let expired = 0
      for (const id of ids) expired += await expire.changes(id, relay, now)
      await finish(ids, now)
      return expired
    },

    /** Stop delivering an event that its author took back. */
    async recall(eventId: string, why: string, now: number): Promise<void> {
      const row = await findId.get(bytesOf(eventId))
      if (!row) return
      recall.run(why, row.id)
      await finish([row.id], now)
    },

    /** Some deliveries to one relay that is not among these; null without one. */
    async left(relays: readonly string[], rowsMax: number): Promise<Left | null> {
      const relay = (await waitedFor()).find((name) => !relays.includes(name))
      if (relay === undefined) return null
      const rows = await left.all(relay, rowsMax)
      return { relay, ids: rows.map((row) => row.outbox_id) }
    },

    /** Expire deliveries to a relay that is no longer in the settings. */
    async retire({ relay, ids }: Left, now: number): Promise<void> {
      for (const id of ids) retire.run(id, relay)
      await finish(ids, now)
    },

    /** Delete up to `rowsMax` events that were done before `before`. */
    async prune(rowsMax: number, before: number): Promise<number> {
      return await prune.changes(before, rowsMax)
    },

    /** The number and bytes of events with pending deliveries. */
    async load(): Promise<{ events: number; bytes: number }> {
      return (await load.get()) ?? { events: 0, bytes: 0 }
    },

    /** The number of pending deliveries by relay. Relays without any are left out. */
    async waiting(): Promise<Map<string, number>> {
      const waiting = new Map<string, number>()
      for (const relay of await waitedFor()) waiting.set(relay, (await count.get(relay))?.n ?? 0)
      return waiting
    },
  }
}
