import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import { parseEvent } from '../nostr/event.ts'
import { filterView } from '../nostr/filter.ts'
import type { RelayHost } from '../relay/host.ts'
import type { RelayAccess } from './access.ts'
import type { Subscription } from './relays-conversation.ts'
import { embeddedRelay } from './service.ts'

/** Access to the embedded relay. Its thread may end and be restarted at any time. */
export function accessEmbedded(relay: RelayHost, now: Clock): RelayAccess {
  let upSince: number | null = null
  const listeners: (() => void)[] = []
  const subscriptions: { subscription: Subscription; again: () => void }[] = []
  const connectedAt = () => (relay.ready() ? upSince : null)
  relay.onUp(() => {
    upSince = now()
    for (const kept of subscriptions) kept.again = feed(relay, kept.subscription)
    for (const listener of listeners) listener()
  })
  return {
    relay: embeddedRelay,
    inFlightMax: limits.relayInFlightMax,
    ready: relay.ready,
    deliver: relay.accept,
    connectedAt,
    connectionError: () => null,
    query: async (filters) =>
      (await Promise.all(filters.map((filter) => relay.query(filter, null)))).flat(),
    subscribe(subscription) {
      const again = connectedAt() === null ? () => undefined : feed(relay, subscription)
      const kept = { subscription, again }
      subscriptions.push(kept)
      return () => kept.again()
    },
    onConnected: (listener) => void listeners.push(listener),
    // The host ends the thread.
    close: () => undefined,
  }
}

/** Feed a subscription from the embedded relay. It verified every event when it stored it. */
function feed(relay: RelayHost, { filters, wanted, event: take }: Subscription): () => void {
  const send = (text: string) => {
    const [type, , value] = JSON.parse(text) as unknown[]
    const event = type === 'EVENT' ? parseEvent(value) : null
    if (event && wanted(event.id)) take(event)
    return true
  }
  const nothing = () => undefined
  const carrier = { send, buffered: () => 0, pause: nothing, resume: nothing, close: nothing }
  const connection = relay.open(carrier, { address: 'inside', origins: [], inside: true })
  const begin = () =>
    relay.message(connection, JSON.stringify(['REQ', 'feed', ...filters().map(filterView)]))
  begin()
  return begin
}
