import type { NostrEvent } from '../nostr/event.ts'
import type { Filter } from '../nostr/filter.ts'

/** Settings of the relay's thread. */
export type RelaySettings = {
  relayPath: string
  couponsPath: string
  couponsUrl: string | null
  /** True if everyone may write, because the service is private. */
  open: boolean
  /** True if the disk has little room. Events of clients are not stored then. */
  diskLow: boolean
  rateLimit: boolean
}

/** The client of a connection: its address for quotas, and the origins that a NIP-42 event may name. */
export type Peer = {
  address: string
  origins: readonly string[]
  /** Set for the service itself, which no quota limits. */
  inside?: true
}

/** The fields that decide if an event was replaced or deleted. `d` as `addressOf` returns it. */
export type EventVersion = Pick<NostrEvent, 'id' | 'pubkey' | 'kind' | 'created_at'> & {
  d: string | null
}

/** The answer to an event: the content of an `OK` (NIP-01). */
export type Verdict = { accepted: boolean; message: string }

/** A fault of the thread, without untrusted data, for the log. */
export type Fault = { name: string; code: string }

/** Weight of a waiting message: its characters, and a constant for its object in memory. */
export function weightOf(text: string): number {
  return text.length + 100
}

/** Messages from the main thread to the relay's thread. */
export type ToRelay = { type: 'begin'; settings: RelaySettings } | ToRunningRelay

/** Messages to the running thread. The main thread numbers connections and calls. */
export type ToRunningRelay =
  | { type: 'open'; connection: number; peer: Peer }
  | { type: 'message'; connection: number; text: string }
  /** Reports the number of characters that were sent to the client. */
  | { type: 'flushed'; connection: number; chars: number }
  | { type: 'close'; connection: number }
  /** Verified events as a JSON list. A text is cheaper to pass between threads than objects. */
  | { type: 'accept'; call: number; events: string }
  /** `asker` is the client address of an HTTP request, or null. */
  | { type: 'query'; call: number; filter: Filter; asker: string | null }
  | { type: 'find-superseded'; call: number; versions: EventVersion[] }
  /** The service is public: strangers may no longer write. */
  | { type: 'exposed' }
  /** The disk has little room, or enough again. */
  | { type: 'disk'; low: boolean }
  | { type: 'end' }

/** Messages from the relay's thread. */
export type FromRelay =
  | { type: 'ready' }
  | {
      type: 'turn'
      /** Texts in order, each followed by its connections. */
      messages: (string | number)[]
      /** Connection and weight of its handled messages, in turn. */
      handled: number[]
    }
  | { type: 'drop'; connection: number; reason: string }
  /** Events of other nodes may be lost. Every client has to ask again. */
  | { type: 'missed' }
  /** Verdicts of the events, or null for a fault, as a JSON list. */
  | { type: 'accepted'; call: number; verdicts: string }
  | { type: 'found'; call: number; events: NostrEvent[] | 'rate-limited' | null }
  | { type: 'superseded'; call: number; superseded: boolean[] | null }
  | { type: 'fault'; fault: Fault }
  | { type: 'ended' }
