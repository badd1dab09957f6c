import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import type { NostrEvent } from '../nostr/event.ts'
import { createMatcher, type Filter, type TagValues, tagValuesOf } from '../nostr/filter.ts'
import { newer } from '../nostr/kind-class.ts'
import { fitAnswer } from './answer.ts'
import type { Peer } from './messages.ts'
import type { StoredEvent } from './query-store.ts'
import type { EventStore } from './store.ts'
import { createSubscriptionQuota, type SubscriptionSize, sizeOf } from './subscription-quota.ts'

type Options = {
  /** Reads of committed events. */
  events: Pick<EventStore, 'find' | 'count'>
  now: Clock
  /** Charge an address for the rows that its REQ or COUNT read. */
  charge: (address: string, rows: number) => void
  send: (connections: readonly number[], text: string) => void
}

type Subscriber = Peer & { connection: number }

type Subscription = {
  size: SubscriptionSize
  matches: (event: NostrEvent, values: TagValues) => boolean
  /** New events while the stored ones are being read. Null after EOSE. */
  queued: NostrEvent[] | null
  /** Ids of the events that it was sent as stored ones before their commit was told here. Each is told once. */
  early: Set<string> | null
}

/** Create the subscriptions of the embedded relay (NIP-01: REQ, CLOSE, EOSE), and its counts (NIP-45). */
export function createSubscriptions({ events, now, charge, send }: Options) {
  const byConnection = new Map<number, Map<string, Subscription>>()
  const quota = createSubscriptionQuota()
  /** Ids of the events that this relay stores at this moment. A server shows them a moment before it answers the commit. */
  const storing = new Set<string>()

  const reply = ({ connection }: Subscriber, ...message: unknown[]) =>
    send([connection], JSON.stringify(message))

  const subscriptionsOf = ({ connection }: Subscriber) => {
    const found = byConnection.get(connection) ?? new Map<string, Subscription>()
    byConnection.set(connection, found)
    return found
  }

  /** End a subscription. No effect if there is none with that id. */
  const close = (client: Subscriber, name: string): void => {
    const subscription = byConnection.get(client.connection)?.get(name)
    if (subscription) quota.remove(client.address, subscription.size)
    byConnection.get(client.connection)?.delete(name)
  }

  /** Events of several filters, each with its own limit: newest first, without duplicates. */
  const select = async (
    filters: readonly Filter[],
  ): Promise<{ events: StoredEvent[]; rowsRead: number }> => {
    let newest: StoredEvent[] = []
    let rowsRead = 0
    for (const [at, filter] of filters.entries()) {
      const most = Math.min(filter.limit ?? limits.relayLimitMax, limits.relayLimitMax)
      const found = await events.find(filter, now(), most, shareOfRows(filters, at, rowsRead))
      rowsRead += found.rowsRead
      const once = new Map([...newest, ...found.events].map((one) => [one.event.id, one]))
      const sorted = [...once.values()].sort((a, b) => (newer(a.event, b.event) ? -1 : 1))
      newest = fitAnswer(sorted)
    }
    return { events: newest, rowsRead }
  }

  return {
    select,
    close,

    /** End all subscriptions of a connection. */
    closeAll(client: Subscriber): void {
      for (const name of byConnection.get(client.connection)?.keys() ?? []) close(client, name)
      byConnection.delete(client.connection)
    },

    /** Open a subscription (REQ): answer with stored events and EOSE, then with new ones. */
    async open(client: Subscriber, name: string, filters: Filter[]): Promise<void> {
      // NIP-01: a REQ replaces the subscription of the same id, even if the new one is refused.
      close(client, name)
      const own = subscriptionsOf(client)
      const size = sizeOf(filters)
      const fits =
        client.inside === true ||
        (own.size < limits.relaySubscriptionsMax && quota.fits(client.address, size))
      if (!fits) return reply(client, 'CLOSED', name, 'rate-limited: too many subscriptions')
      // A filter with `search` matches nothing here (NIP-50 is not supported), so it costs nothing either.
      const matchers = filters.filter(({ search }) => search === undefined).map(createMatcher)
      const matches: Subscription['matches'] = (event, values) =>
        matchers.some((matcher) => matcher(event, values))
      // The subscription begins before the read, and new events are queued. So no event is missed or sent twice.
      const queued: NostrEvent[] = []
      const subscription: Subscription = { size, matches, queued, early: null }
      own.set(name, subscription)
      quota.add(client.address, size)
      const current = () => byConnection.get(client.connection)?.get(name) === subscription
      const found = await select(filters).catch((cause: unknown) => {
        if (current()) close(client, name)
        throw cause
      })
      charge(client.address, found.rowsRead)
      if (!current()) return
      for (const { text } of found.events) send([client.connection], eventMessage(name, text))
      reply(client, 'EOSE', name)
      subscription.queued = null
      const sent = new Set(found.events.map(({ event }) => event.id))
      for (const event of queued) {
        if (sent.has(event.id)) continue
        send([client.connection], eventMessage(name, JSON.stringify(event)))
      }
      const early = [...sent].filter((id) => storing.has(id))
      if (early.length > 0) subscription.early = new Set(early)
    },

    /** Store an event, which is told before this resolves. */
    async whileStored<T>(id: string, store: () => Promise<T>): Promise<T> {
      storing.add(id)
      try {
        return await store()
      } finally {
        storing.delete(id)
      }
    },

    /** Answer a COUNT (NIP-45). Several filters count an event once. */
    async count(client: Subscriber, name: string, filters: Filter[]): Promise<void> {
      const ids = new Set<string>()
      let rowsRead = 0
      let truncated = false
      for (const [at, filter] of filters.entries()) {
        const found = await events.count(filter, now(), shareOfRows(filters, at, rowsRead))
        for (const id of found.ids) ids.add(id)
        rowsRead += found.rowsRead
        truncated ||= found.truncated
      }
      charge(client.address, rowsRead)
      reply(client, 'COUNT', name, { count: ids.size, ...(truncated && { approximate: true }) })
    },

    /** Send an event to all matching subscriptions. Those with the same id share one text. */
    pass(event: NostrEvent): void {
      const listeners = new Map<string, number[]>()
      const values = tagValuesOf(event)
      for (const [connection, subscriptions] of byConnection) {
        for (const [name, { matches, queued, early }] of subscriptions) {
          if (early?.delete(event.id) || !matches(event, values)) continue
          if (queued) {
            // Above the bound the newest events are dropped, as they are when a connection is lost.
            if (queued.length < limits.relayWaitingMax) queued.push(event)
            continue
          }
          const others = listeners.get(name)
          if (others) others.push(connection)
          else listeners.set(name, [connection])
        }
      }
      if (listeners.size === 0) return
      const text = JSON.stringify(event)
      for (const [name, connections] of listeners) send(connections, eventMessage(name, text))
    },
  }
}

/** Rows that filter number `at` may read: its equal part of the remaining rows. */
function shareOfRows(filters: readonly Filter[], at: number, rowsRead: number): number {
  return Math.max(1, Math.ceil((limits.relayRowsReadMax - rowsRead) / (filters.length - at)))
}

function eventMessage(name: string, text: string): string {
  return `["EVENT",${JSON.stringify(name)},${text}]`
}
