/**
 * Items of a shared, limited resource, by owner, each with a weight. If the resource is full, the owner with the
 * largest share gives an item up. So one owner cannot keep the others out.
 */
export class FairShares<Item> {
  readonly #owners = new Map<string, { weight: number; items: Map<Item, number> }>()
  #total = 0

  add(owner: string, item: Item, weight = 1): void {
    const held = this.#owners.get(owner) ?? { weight: 0, items: new Map<Item, number>() }
    held.items.set(item, weight)
    held.weight += weight
    this.#owners.set(owner, held)
    this.#total += weight
  }

  /** Remove an item. No effect if it is gone already. */
  remove(owner: string, item: Item): void {
    const held = this.#owners.get(owner)
    const weight = held?.items.get(item)
    if (!held || weight === undefined) return
    held.items.delete(item)
    held.weight -= weight
    this.#total -= weight
    if (held.items.size === 0) this.#owners.delete(owner)
  }

  get total(): number {
    return this.#total
  }

  weightOf(owner: string): number {
    return this.#owners.get(owner)?.weight ?? 0
  }

  oldestOf(owner: string): Item | undefined {
    const [oldest] = this.#owners.get(owner)?.items.keys() ?? []
    return oldest
  }

  /** Items of an owner, oldest first. */
  itemsOf(owner: string): Item[] {
    return [...(this.#owners.get(owner)?.items.keys() ?? [])]
  }

  /**
   * The owner that must give an item up after `owner` added one: `owner` itself above `shareMax`, else the
   * largest owner if the total is above `max`. Null while there is room.
   */
  overfull(owner: string, shareMax: number, max: number): string | null {
    if (this.weightOf(owner) > shareMax) return owner
    if (this.#total <= max) return null
    let most: string | null = null
    for (const [name, { weight }] of this.#owners) {
      if (most === null || weight > this.weightOf(most)) most = name
    }
    return most
  }
}
