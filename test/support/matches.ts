import type { NostrEvent } from '../../src/nostr/event.ts'
import type { Filter } from '../../src/nostr/filter.ts'

/** True when the event is one the filter asks for; `search` and `limit` are not its concern. */
export function matches(filter: Filter, event: NostrEvent): boolean {
  const { ids, authors, kinds, since, until } = filter
  if (ids && !ids.includes(event.id)) return false
  if (authors && !authors.includes(event.pubkey)) return false
  if (kinds && !kinds.includes(event.kind)) return false
  if (since !== undefined && event.created_at < since) return false
  if (until !== undefined && event.created_at > until) return false
  for (const [letter, values] of filter.tags) {
    const has = ([name, value]: string[]) =>
      name === letter && value !== undefined && values.includes(value)
    if (!event.tags.some(has)) return false
  }
  return true
}
