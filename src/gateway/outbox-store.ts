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
/** An event that a relay is to be given. */
export type DueDelivery = {
  outboxId: number
  /** The event as JSON: not every relay needs it in any other form. */
  text: string
  attempts: number
  acceptedAt: number
  giveUpAt: number
  priority: Priority
}
/** What came of an attempt. */
export type Outcome = {
  outboxId: number
  state: DeliveryState
  /** How many attempts this was: none for an answer that came late. */
  attempts: number
  /** When to try again, for what is still pending. */
  nextAt: number
  error: string | null
  /** The connection ended while it was under way. */
  poison: boolean
}

/** Deliveries that wait for an answer. */
type UnderWay = { has(outboxId: number): boolean; keys(): Iterable<number>; size: number }
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

/** Events on their way to relays; on one connection. */
export function createOutboxStore(sql: Sql) {
  // Without RETURNING, which costs as much as the rest.
  const insert = sql.query<null, [Uint8Array, string, number, number, number]>(
    `INSERT INTO outbox (event_id, event, bytes, accepted_at, give_up_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (event_id) DO NOTHING`,
  )
  const addLoad = sql.query<null, [number, number]>(
    'UPDATE outbox_load SET events = events + ?, bytes = bytes + ? WHERE id = 1',
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
  // All at once: most attempts come to this, and one by one they cost twice as much.
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
        WHERE relay = ?1 AND state = 'pending' AND priority = ?4 AND next_at > ?2 LIMIT ?3)`,
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
       (SELECT id FROM outbox WHERE done_at < ? ORDER BY done_at LIMIT ?)`,
  )
  const load = sql.query<{ events: number; bytes: number }, []>(
    'SELECT events, bytes FROM outbox_load WHERE id = 1',
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

  /** Let go of those of these events that nothing waits for any more. */
  const finish = async (ids: readonly number[], now: number) => {
    const rows = await finishRows.all(now, JSON.stringify(ids))
    if (rows.length === 0) return
    addLoad.run(
      -rows.length,
      rows.reduce((sum, row) => sum - row.bytes, 0),
    )
  }

  /** Relays that something waits for, each found by the one before it. */
  const waitedFor = async (): Promise<string[]> => {
    const relays: string[] = []
    let row = await nextRelay.get('')
    for (; row; row = await nextRelay.get(row.relay)) relays.push(row.relay)
    return relays
  }

  return {
    /** The relays among these that neither have this event nor are about to be given it. */
    async missing(eventId: string, relays: readonly string[]): Promise<string[]> {
      const row = await findId.get(bytesOf(eventId))
      if (!row) return [...relays]
      const settled = (await deliveries.all(row.id)).filter(({ state }) =>
        /pending|delivered/.test(state),
      )
      const known = new Set(settled.map(({ relay }) => relay))
      return relays.filter((relay) => !known.has(relay))
    },

    /** Take a new event in for these relays; false, and nothing is changed, when it was taken before. */
    insert: insertNew,

    /**
     * Take an event in for these relays. Whatever became of it there before, they are to be given it
     * now; where it waits already it goes on waiting.
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

    /** What became of an event at each relay, or null when it was never taken. */
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
     * Due deliveries that have room, by priority, the longest due first, without those under way. A
     * poison event goes alone: when nothing else is due, or when it is its turn.
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

    /** When something is due for a relay next, Unix seconds; null when nothing waits. */
    async nextDue(relay: string): Promise<number | null> {
      let next: number | null = null
      for (const priority of inOrder) {
        const at = (await nextDue.get(relay, priorities[priority]))?.next_at ?? null
        if (at !== null && (next === null || at < next)) next = at
      }
      return next
    },

    /** When something is to be given up next, for whatever relay. */
    async nextGiveUp(): Promise<number | null> {
      return (await nextGiveUp.get())?.give_up_at ?? null
    },

    /** Write down what came of attempts at a relay, and let go of events that are done. */
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

    /** Make up to `rowsMax` waiting deliveries of a relay due now, poison events apart; how many. */
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

    /** Give these up at a relay as far as they are overdue; how many they were. */
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

    /** Some of what waits for one relay other than these; null when nothing does. */
    async left(relays: readonly string[], rowsMax: number): Promise<Left | null> {
      const relay = (await waitedFor()).find((name) => !relays.includes(name))
      if (relay === undefined) return null
      const rows = await left.all(relay, rowsMax)
      return { relay, ids: rows.map((row) => row.outbox_id) }
    },

    /** Give up what waits for a relay that is no longer in the settings. */
    async retire({ relay, ids }: Left, now: number): Promise<void> {
      for (const id of ids) retire.run(id, relay)
      await finish(ids, now)
    },

    /** Forget up to `rowsMax` events that were done before `before`. */
    async prune(rowsMax: number, before: number): Promise<number> {
      return await prune.changes(before, rowsMax)
    },

    /** How much waits, over all relays. */
    async load(): Promise<{ events: number; bytes: number }> {
      return (await load.get()) ?? { events: 0, bytes: 0 }
    },

    /** How many events wait for each relay; those without any are left out. */
    async waiting(): Promise<Map<string, number>> {
      const waiting = new Map<string, number>()
      for (const relay of await waitedFor()) waiting.set(relay, (await count.get(relay))?.n ?? 0)
      return waiting
    },
  }
}
