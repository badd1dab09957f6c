import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/database.ts'
import type { VerifyHash } from '../nostr/delegation.ts'
import type { NostrEvent, VerifyEvent } from '../nostr/event.ts'
import type { Filter } from '../nostr/filter.ts'
import type { MemberStore } from '../relay/member-store.ts'
import type { EventVersion } from '../relay/messages.ts'
import type { WriteQuotas } from '../relay/quotas.ts'
import type { OutboxStore } from './outbox-store.ts'
import type { QueryAnswer, QueryOptions } from './relays-conversation.ts'

type GatewayStores = { outbox: OutboxStore; members: MemberStore }

/** Everything the operations of this folder need; put together by `app/gateway.ts`. */
export type Gateway = {
  database: Database<GatewayStores>
  now: Clock
  verify: VerifyEvent
  verifyHash: VerifyHash
  /** Addresses of the relays outside, as configured and normalised. */
  outside: readonly string[]
  /**
   * Where the embedded relay is reached by whoever reached us at `asked`, or null when nobody knows; null
   * when it is not in use.
   */
  embeddedUrl: ((asked: string | null) => string | null) | null
  /** Called before the transaction that accepts an event. Refuses `rate-limited`. */
  admit: (event: NostrEvent) => Promise<void>
  /** What else an accepted event does here, in the transaction that queues it. */
  // A method: it writes to stores of the same transaction that this folder does not know.
  accepted(tx: GatewayStores, event: NostrEvent): Promise<void>
  /** True when the embedded relay keeps what this key signs. */
  keeps: (tx: GatewayStores, pubkey: string) => Promise<boolean>
  quotas: WriteQuotas
  /** Refuses `disk-low`. */
  requireDisk: () => void
  /** Wake the couriers of these relays. */
  wake: (relays: readonly string[]) => void
  /** Why a relay cannot be reached now, or null. */
  trouble: (relay: string) => string | null
  /** The embedded relay's events, for an address that asks; null when it is not a source. Refuses `rate-limited`. */
  local: ((filter: Filter, asker: string) => Promise<NostrEvent[]>) | null
  /** Which of these it knows to be deleted or replaced. Refuses `overloaded`. */
  superseded: (versions: EventVersion[]) => Promise<boolean[]>
  /**
   * Ask every relay outside; those that are connected have equal shares of the bytes a fetch may
   * take. Refuses `overloaded` when too many fetches do.
   */
  askOutside: (
    filters: readonly Filter[],
    options: Pick<QueryOptions, 'signal' | 'most'>,
  ) => Promise<QueryAnswer>[]
}

/** A relay as its operator sees it. */
export type RelayStatus = {
  /** Its address, or `embedded`. */
  url: string
  /** Unix seconds, or null. */
  connectedAt: number | null
  pending: number
  /** Since the start. */
  delivered: number
  refused: number
  expired: number
  lastError: string | null
  /** Milliseconds the last answered event took. */
  latency: number | null
}

/** The name of the embedded relay among a delivery's relays. */
export const embeddedRelay = 'embedded'
