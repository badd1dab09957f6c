import type { NostrEvent } from './event.ts'

/** How a relay keeps events of a kind (NIP-01). */
type KindClass = 'regular' | 'replaceable' | 'ephemeral' | 'addressable'

/** The class of a kind; kinds outside every range are regular. */
export function classOf(kind: number): KindClass {
  if (kind === 0 || kind === 3 || (kind >= 10_000 && kind < 20_000)) return 'replaceable'
  if (kind >= 20_000 && kind < 30_000) return 'ephemeral'
  if (kind >= 30_000 && kind < 40_000) return 'addressable'
  return 'regular'
}

/** What distinguishes replaceable events of one author and kind: null where nothing is replaced. */
export function addressOf(event: NostrEvent): string | null {
  const kindClass = classOf(event.kind)
  if (kindClass === 'replaceable') return ''
  if (kindClass !== 'addressable') return null
  return event.tags.find((tag) => tag[0] === 'd')?.[1] ?? ''
}

/** NIP-01: the newer wins; at the same second the lower id. */
export function newer(a: Pick<NostrEvent, 'created_at' | 'id'>, b: typeof a): boolean {
  return a.created_at > b.created_at || (a.created_at === b.created_at && a.id < b.id)
}

/** NIP-40: Unix seconds, or null when there is none that can be read. */
export function expirationOf(event: Pick<NostrEvent, 'tags'>): number | null {
  const text = event.tags.find((tag) => tag[0] === 'expiration')?.[1]
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null
}
