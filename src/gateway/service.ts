import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/database.ts'
import type { Topic } from '../db/news.ts'
import type { VerifyHash } from '../nostr/delegation.ts'
import type { NostrEvent, VerifyEventSoon } from '../nostr/event.ts'
import type { Filter } from '../nostr/filter.ts'
import type { MemberStore } from '../relay/member-store.ts'
import type { EventVersion } from '../relay/messages.ts'
import type { WriteQuotas } from '../relay/quotas.ts'
import type { OutboxStore } from './outbox-store.ts'
import type { QueryAnswer, QueryOptions } from './relays-conversation.ts'

type GatewayStores = { outbox: OutboxStore; members: MemberStore }

/** Refuses `rate-limited`. */
type Accepting = {
  // A method, because it writes to stores of the transaction that this folder does not know.
  accept(tx: GatewayStores): Promise<void>
}

/** The dependencies of the operations of this folder. */
export type Gateway = {
  database: Database<GatewayStores>
  now: Clock
  verify: VerifyEventSoon
  verifyHash: VerifyHash
  /** Addresses of the relays outside, as configured and normalised. */
  outside: readonly string[]
  /**
   * The address of the embedded relay for a request to the origin `asked`, null when unknown. The function
   * is null without an embedded relay.
   */
  embeddedUrl: ((asked: string | null) => string | null) | null
  /** The parts of other features in the transaction that queues an event. Called once for each request. */
  accepting: (event: NostrEvent) => Accepting
  /** True when the embedded relay stores events of this key. */
  keeps: (tx: GatewayStores, pubkey: string) => Promise<boolean>
  quotas: WriteQuotas
  /** Refuses `disk-low`. */
  requireDisk: () => void
  /** The reason why a relay cannot be reached now, or null. */
  trouble: (relay: string) => string | null
  /** Find events in the embedded relay for a client address; null without one. Refuses `rate-limited`. */
  local: ((filter: Filter, asker: string) => Promise<NostrEvent[]>) | null
  /** True for each event that was deleted or replaced, as far as known here. Refuses `overloaded`. */
  superseded: (versions: EventVersion[]) => Promise<boolean[]>
  /**
   * Query every relay outside. Connected relays have equal shares of the bytes of a fetch. Refuses
   * `overloaded` when too many fetches run.
   */
  askOutside: (
    filters: readonly Filter[],
    options: Pick<QueryOptions, 'signal' | 'most'>,
  ) => Promise<QueryAnswer>[]
}

/** The state of a relay, for the operator. */
export type RelayStatus = {
  /** Its address, or `embedded`. */
  url: string
  /** Unix seconds, or null. */
  connectedAt: number | null
  pending: number
  /** Counts since the start. */
  delivered: number
  refused: number
  expired: number
  lastError: string | null
  /** Milliseconds from the last answered event to its answer. */
  latency: number | null
}

/** Deliveries to these relays were queued. */
export const deliveriesDue: Topic<readonly string[]> = { name: 'deliveries.due' }

/** The name of the embedded relay among a delivery's relays. */
export const embeddedRelay = 'embedded'
