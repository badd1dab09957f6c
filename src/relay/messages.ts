import type { NostrEvent } from '../nostr/event.ts'
import type { Filter } from '../nostr/filter.ts'

/** What the relay's thread needs to begin. */
export type RelaySettings = {
  relayPath: string
  couponsPath: string
  /** Anyone may write: the service is private. */
  open: boolean
  /** The disk has little room: what clients send is not stored. */
  diskLow: boolean
  rateLimit: boolean
}

/** Who connected: the address that quotas count by, and the origins a NIP-42 event may name. */
export type Peer = {
  address: string
  origins: readonly string[]
  /** The service itself: it is always served. */
  inside?: true
}

/** What decides whether an event was replaced or deleted; `d` as NIP-01 compares it, null where nothing is replaced. */
export type EventVersion = Pick<NostrEvent, 'id' | 'pubkey' | 'kind' | 'created_at'> & {
  d: string | null
}

/** What became of an event: an `OK` with its NIP-01 prefix and sentence. */
export type Verdict = { accepted: boolean; message: string }

/** What went wrong in the thread, fit for the log. */
export type Fault = { name: string; code: string }

/** What a message counts for while it waits: its characters, and what it costs however short it is. */
export function weightOf(text: string): number {
  return text.length + 100
}

/** From the main thread to the relay's. */
export type ToRelay = { type: 'begin'; settings: RelaySettings } | ToRunningRelay

/** The same, once it has begun. Connections and calls are numbered by the sender. */
export type ToRunningRelay =
  | { type: 'open'; connection: number; peer: Peer }
  | { type: 'message'; connection: number; text: string }
  /** This many characters left our memory towards the client. */
  | { type: 'flushed'; connection: number; chars: number }
  | { type: 'close'; connection: number }
  /** Verified events: a list in JSON, which is cheaper to pass than what it says. */
  | { type: 'accept'; call: number; events: string }
  /** `asker`: the address that asks over HTTP, or null. */
  | { type: 'query'; call: number; filter: Filter; asker: string | null }
  | { type: 'find-superseded'; call: number; versions: EventVersion[] }
  /** The service turned out to be public: strangers may no longer write. */
  | { type: 'exposed' }
  /** The disk has little room, or has some again. */
  | { type: 'disk'; low: boolean }
  | { type: 'end' }

/** From the relay's thread. */
export type FromRelay =
  | { type: 'ready' }
  | {
      type: 'turn'
      /** Texts in order, each followed by the connections it is for. */
      messages: (string | number)[]
      /** Connections and the weight of what was dealt with of theirs, in turn. */
      handled: number[]
    }
  | { type: 'drop'; connection: number; reason: string }
  /** For each event its verdict, or null: a list in JSON, too. */
  | { type: 'accepted'; call: number; verdicts: string }
  | { type: 'found'; call: number; events: NostrEvent[] | 'rate-limited' | null }
  | { type: 'superseded'; call: number; superseded: boolean[] | null }
  | { type: 'fault'; fault: Fault }
  | { type: 'ended' }
