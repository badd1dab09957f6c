import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { RelayLink } from './relays.ts'
import type { Gateway } from './service.ts'

/**
 * Create the queries of clients to relays outside. At most `fetchesMax` fetches run at a time. Beyond that
 * the relays count as silent when our own store can answer; else the fetch is refused.
 */
export function createAskOutside(
  links: readonly RelayLink[],
  { ownStore }: { ownStore: boolean },
): Gateway['askOutside'] {
  let fetching = 0
  return (filters, options) => {
    if (links.length === 0) return []
    if (fetching >= limits.fetchesMax) {
      if (!ownStore) throw new Refusal('overloaded', { retryAfter: 1 })
      return links.map(async () => ({ events: [], ended: 'silent' as const }))
    }
    fetching++
    // Equal shares of the bytes for connected relays, so that none uses up the room of another.
    const connected = links.filter((link) => link.connectedAt() !== null).length
    const bytesMax = Math.floor(limits.fetchBytesMax / Math.max(connected, 1))
    const answers = links.map((link) => link.query(filters, { ...options, bytesMax }))
    void Promise.all(answers).finally(() => fetching--)
    return answers
  }
}
