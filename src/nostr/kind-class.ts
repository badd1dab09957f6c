import type { NostrEvent } from './event.ts'

/** Classes of event kinds (NIP-01), by how relays store them. */
type KindClass = 'regular' | 'replaceable' | 'ephemeral' | 'addressable'

/** The class of a kind. Kinds outside all ranges are regular. */
export function classOf(kind: number): KindClass {
  if (kind === 0 || kind === 3 || (kind >= 10_000 && kind < 20_000)) return 'replaceable'
  if (kind >= 20_000 && kind < 30_000) return 'ephemeral'
  if (kind >= 30_000 && kind < 40_000) return 'addressable'
  return 'regular'
}

/** The part of an event's address after author and kind: the `d` tag, or ''. Null if the kind is not replaceable. */
export function addressOf(event: NostrEvent): string | null {
  const kindClass = classOf(event.kind)
  if (kindClass === 'replaceable') return ''
  if (kindClass !== 'addressable') return null
  return event.tags.find((tag) => tag[0] === 'd')?.[1] ?? ''
}

/** True if `a` replaces `b` (NIP-01): it is newer, or has the lower id at the same second. */
export function newer(a: Pick<NostrEvent, 'created_at' | 'id'>, b: typeof a): boolean {
  return a.created_at > b.created_at || (a.created_at === b.created_at && a.id < b.id)
}

/** The expiration of an event (NIP-40) in Unix seconds. Null if it is absent or unreadable. */
export function expirationOf(event: Pick<NostrEvent, 'tags'>): number | null {
  const text = event.tags.find((tag) => tag[0] === 'expiration')?.[1]
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null
}
