import { limits } from '../base/limits.ts'
import type { NostrEvent } from './event.ts'

/** A checked filter (NIP-01, NIP-50). Tag lists are keyed by their letter. */
export type Filter = {
  ids?: string[]
  authors?: string[]
  kinds?: number[]
  since?: number
  until?: number
  limit?: number
  search?: string
  tags: Map<string, string[]>
}

const hex32 = /^[0-9a-f]{64}$/
const tagKey = /^#[a-zA-Z]$/

/** Read a filter. Null for an unknown key, a wrong type, a list over `filterItemsMax` or a negative number. */
export function parseFilter(value: unknown): Filter | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const filter: Filter = { tags: new Map() }
  for (const [key, item] of Object.entries(value)) {
    if (!readKey(filter, key, item)) return null
  }
  return filter
}

function readKey(filter: Filter, key: string, item: unknown): boolean {
  switch (key) {
    case 'ids':
    case 'authors':
      if (!isList(item, (entry) => typeof entry === 'string' && hex32.test(entry))) return false
      filter[key] = [...new Set(item as string[])]
      return true
    case 'kinds':
      if (!isList(item, (entry) => isUint(entry) && entry <= 65_535)) return false
      filter.kinds = [...new Set(item as number[])]
      return true
    case 'since':
    case 'until':
    case 'limit':
      if (!isUint(item)) return false
      filter[key] = item
      return true
    case 'search':
      if (typeof item !== 'string' || item.length > limits.filterSearchCharsMax) return false
      filter.search = item
      return true
    default:
      if (!tagKey.test(key) || !isList(item, (entry) => typeof entry === 'string')) return false
      filter.tags.set(key.slice(1), [...new Set(item as string[])])
      return true
  }
}

/** Tag values of an event by letter. Computed once for an event that is compared with many filters. */
export type TagValues = ReadonlyMap<string, ReadonlySet<string>>

export function tagValuesOf({ tags }: Pick<NostrEvent, 'tags'>): TagValues {
  const byLetter = new Map<string, Set<string>>()
  for (const [name, value] of tags) {
    if (name?.length !== 1 || value === undefined) continue
    const values = byLetter.get(name)
    if (values) values.add(value)
    else byLetter.set(name, new Set([value]))
  }
  return byLetter
}

/**
 * Create a function that tells if an event matches a filter. It ignores `search` and `limit`. Create it once for
 * many events: it keeps the lists as sets. With `values`, the tags of the event are not walked either.
 */
export function createMatcher(filter: Filter): (event: NostrEvent, values?: TagValues) => boolean {
  const { ids, authors, kinds, since = 0, until = Number.MAX_SAFE_INTEGER } = filter
  const idSet = ids && new Set(ids)
  const authorSet = authors && new Set(authors)
  const kindSet = kinds && new Set(kinds)
  const tags = [...filter.tags].map(([letter, wanted]) => [letter, new Set(wanted)] as const)
  return (event, values) =>
    (!kindSet || kindSet.has(event.kind)) &&
    (!authorSet || authorSet.has(event.pubkey)) &&
    (!idSet || idSet.has(event.id)) &&
    event.created_at >= since &&
    event.created_at <= until &&
    tags.every(([letter, wanted]) =>
      values
        ? values.get(letter)?.isDisjointFrom(wanted) === false
        : event.tags.some(
            ([name, value]) => name === letter && value !== undefined && wanted.has(value),
          ),
    )
}

/** The filter as the wire shows it. */
export function filterView({ tags, ...rest }: Filter): Record<string, unknown> {
  const lists = [...tags].map(([letter, values]) => [`#${letter}`, values] as const)
  return { ...rest, ...Object.fromEntries(lists) }
}

function isList(value: unknown, fits: (entry: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length <= limits.filterItemsMax && value.every(fits)
}

function isUint(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
