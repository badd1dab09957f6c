/** What many hold of something that all share: items by owner, the oldest first, each with a weight. */
export class Crowd<Item> {
  readonly #owners = new Map<string, { weight: number; items: Map<Item, number> }>()
  #total = 0

  add(owner: string, item: Item, weight = 1): void {
    const held = this.#owners.get(owner) ?? { weight: 0, items: new Map<Item, number>() }
    held.items.set(item, weight)
    held.weight += weight
    this.#owners.set(owner, held)
    this.#total += weight
  }

  /** Nothing happens when it is not there any more. */
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

  /** The oldest first. */
  itemsOf(owner: string): Item[] {
    return [...(this.#owners.get(owner)?.items.keys() ?? [])]
  }

  /**
   * Whose item has to go when `owner` has just added one: his own beyond `shareMax`, that of the owner
   * who holds the most beyond `max`; null while there is room.
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
