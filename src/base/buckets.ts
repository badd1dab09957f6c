type Rule = { burst: number; perSecond: number; entriesMax: number }

/** Token buckets by key, in bounded memory: the one that was refilled longest ago is forgotten first. */
export class Buckets {
  readonly #rule: Rule
  readonly #entries = new Map<string, { tokens: number; at: number }>()

  constructor(rule: Rule) {
    this.#rule = rule
  }

  /** Take tokens at `at` (seconds on any steady clock); seconds to wait when there are too few, else 0. */
  take(key: string, at: number, cost = 1): number {
    const { burst, perSecond } = this.#rule
    const tokens = this.#tokensOf(key, at)
    // What costs more than a bucket holds passes when the bucket is full, and leaves it in debt.
    const needed = Math.min(cost, burst)
    this.#put(key, { tokens: tokens >= needed ? tokens - cost : tokens, at })
    return tokens >= needed ? 0 : (needed - tokens) / perSecond
  }

  /** Seconds to wait for one token; nothing is taken or remembered. */
  wait(key: string, at: number): number {
    const tokens = this.#tokensOf(key, at)
    return tokens >= 1 ? 0 : (1 - tokens) / this.#rule.perSecond
  }

  /** Take tokens for something that was done already: into debt where there are too few, of one burst at most. */
  charge(key: string, at: number, cost: number): void {
    const tokens = this.#tokensOf(key, at) - cost
    this.#put(key, { tokens: Math.max(tokens, -this.#rule.burst), at })
  }

  /** Give back what was taken for something that is counted elsewhere. */
  give(key: string, cost = 1): void {
    const entry = this.#entries.get(key)
    if (entry) entry.tokens = Math.min(this.#rule.burst, entry.tokens + cost)
  }

  get size(): number {
    return this.#entries.size
  }

  #tokensOf(key: string, at: number): number {
    const { burst, perSecond } = this.#rule
    const entry = this.#entries.get(key)
    return entry ? Math.min(burst, entry.tokens + (at - entry.at) * perSecond) : burst
  }

  #put(key: string, entry: { tokens: number; at: number }): void {
    this.#entries.delete(key)
    if (this.#entries.size >= this.#rule.entriesMax) {
      const [oldest] = this.#entries.keys()
      if (oldest !== undefined) this.#entries.delete(oldest)
    }
    this.#entries.set(key, entry)
  }
}
