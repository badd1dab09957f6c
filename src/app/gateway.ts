import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import { Refusal } from '../base/refusal.ts'
import type { AfterCommit, Database, Locking } from '../db/database.ts'
import type { Jobs } from '../db/jobs.ts'
import { notice, reconcile } from '../gateway/announcements.ts'
import {
  type Courier,
  type Destination,
  retireOthers,
  retryDelay,
  startCourier,
} from '../gateway/outbox.ts'
import { enqueue } from '../gateway/publish.ts'
import { openRelayLink, type RelayLink } from '../gateway/relays.ts'
import type { Answered, Subscription } from '../gateway/relays-conversation.ts'
import { createNameCheck } from '../gateway/relays-names.ts'
import { embeddedRelay, type Gateway, type RelayStatus } from '../gateway/service.ts'
import type { VerifyHash } from '../nostr/delegation.ts'
import { type NostrEvent, parseEvent, type Signer, type VerifyEvent } from '../nostr/event.ts'
import { type Filter, filterView } from '../nostr/filter.ts'
import { kinds } from '../nostr/kinds.ts'
import type { RelayHost } from '../relay/host.ts'
import { createWriteQuotas } from '../relay/quotas.ts'
import type { Stores } from './stores.ts'

type GatewayParts = {
  /** `embedded` and addresses, as configured. */
  relays: readonly string[]
  embedded: RelayHost | null
  /** Where the embedded relay is reached, by whoever reached us at `asked`; null when nobody knows. */
  embeddedUrl: (asked: string | null) => string | null
  /** Origins of this service, for announcements found on relays. */
  origins: () => readonly string[]
  /** Anyone may write to the embedded relay. */
  open: () => boolean
  /** False: `RATE_LIMIT=off`. */
  rateLimit: boolean
  /** Refuses `disk-low`. */
  requireDisk: () => void
  database: Database<Stores>
  signer: Signer
  verify: VerifyEvent
  verifyHash: VerifyHash
  /** Called before the transaction that accepts an event. Refuses `rate-limited`. */
  admit: (event: NostrEvent) => Promise<void>
  /** What else an accepted event does here, in the transaction that queues it. */
  accepted: (tx: Stores & AfterCommit & Locking, event: NostrEvent) => Promise<void>
  now: Clock
  /** Milliseconds of a clock that is never set. */
  steady: () => number
  /** Run something again every so many seconds; what is given back ends that. */
  every: (seconds: number, run: () => void) => () => void
  jobs: Jobs
  log: Log
}

export type RunningGateway = {
  gateway: Gateway
  /** Queue an accepted announcement for every relay, in the transaction that stores it. */
  broadcast(tx: Stores & AfterCommit, event: NostrEvent): Promise<void>
  /** Stop delivering an announcement that was withdrawn or replaced. */
  recall(tx: Stores, eventId: string): Promise<void>
  /** Ask every relay for good; what is given back asks all of them anew. */
  subscribe(subscription: Subscription): () => void
  /** Where relays are found, for who looks for events and reached us at `asked`; ours first. */
  addresses(asked: string | null): string[]
  /** The embedded relay's thread has come up. */
  embeddedUp(): void
  /** Every relay, in the order of the settings. */
  status(): Promise<RelayStatus[]>
  stop(): Promise<void>
}

type Delivering = Parameters<Destination['deliver']>

/** One relay as this file keeps it. */
type Way = {
  relay: string
  link: RelayLink | null
  courier: Courier
  /** Ask it for announcements, unless that is under way. */
  check(): void
  retry?: ReturnType<typeof setTimeout>
  ended: { delivered: number; refused: number; expired: number }
  lastError: string | null
  latency: number | null
  connectedAt(): number | null
}

/** Open the way to every relay, and keep delivering what waits for it. */
export function startGateway(parts: GatewayParts): RunningGateway {
  const { database, signer, verify, now, steady, log, embedded } = parts
  const failed = (cause: unknown) => log.warn('outbox.failed', { cause })
  const ways = new Map<string, Way>()
  let stopped = false
  const { origins, relays } = parts
  const announcements = { database, now, verify, manager: signer.pubkey, origins, relays }
  const wake = (relays: readonly string[]) => {
    for (const relay of relays) ways.get(relay)?.courier.wake()
  }
  const wakeAll = () => wake([...ways.keys()])

  const add = (
    to: Destination,
    link: RelayLink | null,
    query: (filters: readonly Filter[]) => Promise<NostrEvent[] | null>,
  ): Way => {
    const ended = { delivered: 0, refused: 0, expired: 0 }
    let checking = false
    let failures = 0
    let failingSince = 0
    /** A check that failed is made again soon, with the patience of a delivery. */
    const checked = (answered: boolean) => {
      checking = false
      clearTimeout(way.retry)
      if (answered) {
        failures = 0
        return
      }
      if (failures === 0) failingSince = now()
      const delay = retryDelay(failures++, now() - failingSince, Math.random())
      if (!stopped) way.retry = setTimeout(way.check, delay * 1000)
    }
    const count = (state: keyof typeof ended, deliveries: number) => {
      ended[state] += deliveries
    }
    const way: Way = {
      relay: to.relay,
      link,
      ended,
      lastError: null,
      latency: null,
      connectedAt: () => link?.connectedAt() ?? null,
      courier: startCourier(
        { ...to, deliver: (text, late) => deliver(way, to, text, late) },
        { database, jobs: parts.jobs, now, failed, ended: count },
      ),
      check() {
        if (checking || !to.ready()) return
        checking = true
        reconcile(announcements, to.relay, query).then(
          (answered) => {
            wakeAll()
            checked(answered)
          },
          (cause: unknown) => {
            failed(cause)
            checked(false)
          },
        )
      },
    }
    ways.set(to.relay, way)
    return way
  }

  const deliver = async (way: Way, to: Destination, ...[text, late]: Delivering) => {
    const started = steady()
    const answer = await to.deliver(text, late)
    if (answer) way.latency = Math.round(steady() - started)
    if (!answer?.accepted) way.lastError = answer?.message ?? 'no answer'
    return answer
  }

  const names = createNameCheck()
  for (const url of parts.relays) {
    if (url === embeddedRelay) continue
    const { host, pathname } = new URL(url)
    const shown = `${host}${pathname}`
    const lost = (why: string) => log.warn('relay.lost', { relay: shown, why })
    const connected = () => {
      log.info('relay.connected', { relay: shown })
      const way = ways.get(url)
      way?.courier.makeDue()
      way?.check()
    }
    const link = openRelayLink({ url, signer, verify, names, now, steady, connected, lost })
    const to = {
      relay: url,
      ready: () => link.connectedAt() !== null,
      deliver: (text: string, late: (answer: Answered) => void) =>
        link.publish(JSON.parse(text) as NostrEvent, late),
      inFlightMax: limits.relayInFlightMax,
    }
    add(to, link, async (filters) => {
      const { events, ended } = await link.query(filters, {
        signal: AbortSignal.timeout(limits.relayAnswerSeconds * 1000),
        most: limits.fetchMax,
        bytesMax: limits.fetchBytesMax,
        ours: true,
      })
      return ended === 'eose' ? events : null
    })
  }

  let upSince: number | null = null
  if (embedded) {
    const to = {
      relay: embeddedRelay,
      ready: embedded.ready,
      deliver: embedded.accept,
      inFlightMax: limits.relayInFlightMax,
    }
    const query = async (filters: readonly Filter[]) =>
      (await Promise.all(filters.map((filter) => embedded.query(filter, null)))).flat()
    add(to, null, query).connectedAt = () => (embedded.ready() ? upSince : null)
  }

  /** What is written to the embedded relay about announcements counts at once. */
  const watch = (relay: RelayHost) => {
    const send = (text: string) => {
      const [type, , value] = JSON.parse(text) as unknown[]
      const event = type === 'EVENT' ? parseEvent(value) : null
      if (event) notice(announcements, event).then(wakeAll, failed)
      return true
    }
    const connection = openInside(relay, 'announcements', send)
    const filter = { kinds: [kinds.announcement, kinds.deletion], limit: 0 }
    relay.message(connection, JSON.stringify(['REQ', 'announcements', filter]))
  }

  /** What the embedded relay has and gets for a subscription; it has checked every event. */
  const feed = (relay: RelayHost, { filters, wanted, event: take }: Subscription): (() => void) => {
    const send = (text: string) => {
      const [type, , value] = JSON.parse(text) as unknown[]
      const event = type === 'EVENT' ? parseEvent(value) : null
      if (event && wanted(event.id)) take(event)
      return true
    }
    const connection = openInside(relay, 'subscription', send)
    const begin = () =>
      relay.message(connection, JSON.stringify(['REQ', 'feed', ...filters().map(filterView)]))
    begin()
    return begin
  }

  const retire = async () => {
    const step = () =>
      database.transact({ roots: ['instance'] }, (tx) => retireOthers(tx, parts.relays, now()))
    while (await step()) await Bun.sleep(1)
  }
  const retiring = retire().catch(failed)
  const endChecks = parts.every(limits.announcementCheckSeconds, () => {
    for (const way of ways.values()) way.check()
  })

  const links = [...ways.values()].flatMap(({ link }) => link ?? [])
  let fetching = 0
  const subscriptions: { subscription: Subscription; again: (() => void)[] }[] = []

  return {
    async broadcast(tx, event) {
      await enqueue(tx.outbox, event, [...ways.keys()], { now: now(), priority: 'own' })
      tx.afterCommit(wakeAll)
    },
    subscribe(subscription) {
      const inside =
        embedded?.ready() && upSince !== null ? feed(embedded, subscription) : () => undefined
      const again = [inside, ...links.map((link) => link.subscribe(subscription))]
      subscriptions.push({ subscription, again })
      return () => {
        for (const ask of again) ask()
      }
    },
    recall: (tx, eventId) => tx.outbox.recall(eventId, 'taken back', now()),
    addresses: (asked) => {
      const inside = embedded && parts.embeddedUrl(asked)
      return [...(inside ? [inside] : []), ...links.map(({ url }) => url)]
    },
    embeddedUp() {
      if (!embedded) return
      upSince = now()
      watch(embedded)
      for (const kept of subscriptions) kept.again[0] = feed(embedded, kept.subscription)
      const way = ways.get(embeddedRelay)
      way?.courier.makeDue()
      way?.check()
    },
    async status() {
      const waiting = await database.snapshot((tx) => tx.outbox.waiting())
      return [...ways.values()].map((way) => ({
        url: way.relay,
        connectedAt: way.connectedAt(),
        pending: waiting.get(way.relay) ?? 0,
        ...way.ended,
        lastError: lastErrorOf(way),
        latency: way.latency,
      }))
    },
    gateway: {
      database,
      now,
      verify,
      verifyHash: parts.verifyHash,
      admit: parts.admit,
      accepted: parts.accepted,
      requireDisk: parts.requireDisk,
      wake,
      outside: links.map(({ url }) => url),
      embeddedUrl: embedded ? parts.embeddedUrl : null,
      keeps: async (tx, pubkey) => parts.open() || tx.members.isMember(pubkey),
      quotas: createWriteQuotas({ rateLimit: parts.rateLimit, seconds: () => steady() / 1000 }),
      trouble: (relay) => {
        const way = ways.get(relay)
        return way?.connectedAt() === null ? (way.link?.lastError() ?? 'not connected') : null
      },
      local: embedded ? embedded.query : null,
      superseded: async (places) => embedded?.superseded(places) ?? places.map(() => false),
      askOutside(filters, options) {
        if (links.length === 0) return []
        if (fetching >= limits.fetchesMax) {
          if (!embedded) throw new Refusal('overloaded', { retryAfter: 1 })
          // Our own store can answer: the relays outside count as silent.
          return links.map(async () => ({ events: [], ended: 'silent' as const }))
        }
        fetching++
        // Equal shares: no relay fills what another needs, and one that is away needs none.
        const connected = links.filter((link) => link.connectedAt() !== null).length
        const bytesMax = Math.floor(limits.fetchBytesMax / Math.max(connected, 1))
        const answers = links.map((link) => link.query(filters, { ...options, bytesMax }))
        void Promise.all(answers).finally(() => fetching--)
        return answers
      },
    },
    async stop() {
      stopped = true
      endChecks()
      for (const { retry } of ways.values()) clearTimeout(retry)
      // Couriers first: what is under way when we hang up is no failure of the relay's.
      const stopping = [...ways.values()].map(({ courier }) => courier.stop())
      for (const link of links) link.close()
      await retiring
      await Promise.all(stopping)
    },
  }
}

/** A connection to the embedded relay from within this process. */
function openInside(relay: RelayHost, name: string, send: (text: string) => boolean): number {
  const nothing = () => undefined
  const carrier = { send, buffered: () => 0, pause: nothing, resume: nothing, close: nothing }
  return relay.open(carrier, { address: name, origins: [], inside: true })
}

/** Of a relay that is connected, what went wrong there counts; else why it is not. */
function lastErrorOf({ link, lastError, connectedAt }: Way): string | null {
  const lost = link?.lastError() ?? null
  return connectedAt() === null ? (lost ?? lastError) : (lastError ?? lost)
}
