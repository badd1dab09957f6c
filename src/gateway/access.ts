import { limits } from '../base/limits.ts'
import type { NostrEvent } from '../nostr/event.ts'
import type { Filter } from '../nostr/filter.ts'
import type { Destination } from './courier.ts'
import type { RelayLink } from './relays.ts'
import type { Answered, Subscription } from './relays-conversation.ts'

/** A relay as the gateway reaches it: over a connection, or as a thread of this process. */
export type RelayAccess = Destination & {
  /** Unix seconds; null while it is not connected. */
  connectedAt(): number | null
  /** The reason for the lack of a connection, or for the end of the last one; null before any error. */
  connectionError(): string | null
  /** Find stored events. Null when the relay did not answer. */
  query(filters: readonly Filter[]): Promise<NostrEvent[] | null>
  /** Subscribe, again after each reconnect. The returned function asks anew at once. */
  subscribe(subscription: Subscription): () => void
  /** Call `listener` after each connect from now on. */
  onConnected(listener: () => void): void
  close(): void
}

/** Access to a relay outside. `onConnected` registers a listener for the connections of its link. */
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
