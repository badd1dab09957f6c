import { limits } from '../base/limits.ts'
import type { Filter } from '../nostr/filter.ts'

/** Size of a subscription: the number of its filters, and their weight (`relayFilterEntryWeight`). */
export type SubscriptionSize = { filters: number; weight: number }

/** Quota of open subscriptions, in all and per client address. */
type SubscriptionQuota = {
  fits(address: string, size: SubscriptionSize): boolean
  add(address: string, size: SubscriptionSize): void
  remove(address: string, size: SubscriptionSize): void
}

export function createSubscriptionQuota(): SubscriptionQuota {
  const none: SubscriptionSize = { filters: 0, weight: 0 }
  let all = none
  const byAddress = new Map<string, SubscriptionSize>()
  const change = (address: string, size: SubscriptionSize, sign: 1 | -1) => {
    all = sum(all, size, sign)
    const here = sum(byAddress.get(address) ?? none, size, sign)
    if (here.filters > 0) byAddress.set(address, here)
    else byAddress.delete(address)
  }
  return {
    fits(address, size) {
      const here = sum(byAddress.get(address) ?? none, size, 1)
      const together = sum(all, size, 1)
      return (
        here.filters <= limits.relayOpenFiltersPerAddressMax &&
        here.weight <= limits.relayOpenWeightPerAddressMax &&
        together.filters <= limits.relayOpenFiltersMax &&
        together.weight <= limits.relayOpenWeightMax
      )
    },
    add: (address, size) => change(address, size, 1),
    remove: (address, size) => change(address, size, -1),
  }
}

/** Size of a subscription with these filters. */
export function sizeOf(filters: readonly Filter[]): SubscriptionSize {
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

function sum(one: SubscriptionSize, other: SubscriptionSize, sign: 1 | -1): SubscriptionSize {
  return {
    filters: one.filters + sign * other.filters,
    weight: one.weight + sign * other.weight,
  }
}
