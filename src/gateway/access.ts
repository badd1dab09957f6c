import { limits } from '../base/limits.ts'
import type { NostrEvent } from '../nostr/event.ts'
import type { Filter } from '../nostr/filter.ts'
import type { Destination } from './outbox.ts'
import type { RelayLink } from './relays.ts'
import type { Answered, Subscription } from './relays-conversation.ts'

/** A relay as the gateway reaches it: over a connection, or as a thread of this process. */
export type RelayAccess = Destination & {
  /** Unix seconds; null while it is not connected. */
  connectedAt(): number | null
  /** Why there is no connection, or why the last one ended; null before anything went wrong. */
  connectionError(): string | null
  /** The events it has; null when it did not answer. */
  query(filters: readonly Filter[]): Promise<NostrEvent[] | null>
  /** Keep asking, also after it was away; the result asks anew at once. */
  subscribe(subscription: Subscription): () => void
  /** Call `listener` each time that it is connected from now on. */
  onConnected(listener: () => void): void
  close(): void
}

/** Reach a relay over its link; `onConnected` registers for the link's connections. */
export function accessOutside(
  link: RelayLink,
  onConnected: RelayAccess['onConnected'],
): RelayAccess {
  return {
    relay: link.url,
    inFlightMax: limits.relayInFlightMax,
    ready: () => link.connectedAt() !== null,
    deliver: (text: string, late: (answer: Answered) => void) =>
      link.publish(JSON.parse(text) as NostrEvent, late),
    connectedAt: link.connectedAt,
    connectionError: link.lastError,
    async query(filters) {
      const { events, ended } = await link.query(filters, {
        signal: AbortSignal.timeout(limits.relayAnswerSeconds * 1000),
        most: limits.fetchMax,
        bytesMax: limits.fetchBytesMax,
        ours: true,
      })
      return ended === 'eose' ? events : null
    },
    subscribe: link.subscribe,
    onConnected,
    close: link.close,
  }
}
