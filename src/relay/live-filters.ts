import { limits } from '../base/limits.ts'
import type { Filter } from '../nostr/filter.ts'

/** The room that a subscription takes of the relay: its filters, and their weight in memory and time. */
export type FilterShare = { filters: number; weight: number }

/** Shares of open subscriptions, all together and of each address. */
type LiveFilters = {
  fits(address: string, share: FilterShare): boolean
  add(address: string, share: FilterShare): void
  remove(address: string, share: FilterShare): void
}

export function createLiveFilters(): LiveFilters {
  const none: FilterShare = { filters: 0, weight: 0 }
  let all = none
  const byAddress = new Map<string, FilterShare>()
  const change = (address: string, share: FilterShare, sign: 1 | -1) => {
    all = sum(all, share, sign)
    const here = sum(byAddress.get(address) ?? none, share, sign)
    if (here.filters > 0) byAddress.set(address, here)
    else byAddress.delete(address)
  }
  return {
    fits(address, share) {
      const here = sum(byAddress.get(address) ?? none, share, 1)
      const together = sum(all, share, 1)
      return (
        here.filters <= limits.relayLiveFiltersPerAddressMax &&
        here.weight <= limits.relayLiveWeightPerAddressMax &&
        together.filters <= limits.relayLiveFiltersMax &&
        together.weight <= limits.relayLiveWeightMax
      )
    },
    add: (address, share) => change(address, share, 1),
    remove: (address, share) => change(address, share, -1),
  }
}

/** The share of a subscription with these filters. */
export function shareOf(filters: readonly Filter[]): FilterShare {
  const weight = filters.reduce((total, filter) => total + weightOf(filter), 0)
  return { filters: filters.length, weight }
}

function weightOf(filter: Filter): number {
  const { ids = [], authors = [], kinds = [], tags } = filter
  const lists: (string | number)[][] = [ids, authors, kinds, ...tags.values()]
  const weightOfList = (list: (string | number)[]) =>
    list.reduce<number>(
      (total, entry) => total + String(entry).length + limits.relayFilterEntryWeight,
      0,
    )
  return lists.reduce(
    (total, list) => total + limits.relayFilterEntryWeight + weightOfList(list),
    0,
  )
}

function sum(one: FilterShare, other: FilterShare, sign: 1 | -1): FilterShare {
  return {
    filters: one.filters + sign * other.filters,
    weight: one.weight + sign * other.weight,
  }
}
