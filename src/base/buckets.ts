export type Rule = { burst: number; perSecond: number; entriesMax: number }

/** Token buckets by key. At most `entriesMax` are kept; the least recently used one is dropped first. */
export class Buckets {
  readonly #rule: Rule
  readonly #entries = new Map<string, { tokens: number; at: number }>()

  constructor(rule: Rule) {
    this.#rule = rule
  }

  /** Take tokens at `at` (seconds of a monotonic clock). Returns 0, or the seconds to wait if there are too few. */
  take(key: string, at: number, cost = 1): number {
    const { burst, perSecond } = this.#rule
    const tokens = this.#tokensOf(key, at)
    // A cost above the burst passes when the bucket is full, and leaves a debt. Else it would never pass.
    const needed = Math.min(cost, burst)
    this.#put(key, { tokens: tokens >= needed ? tokens - cost : tokens, at })
    return tokens >= needed ? 0 : (needed - tokens) / perSecond
  }

  /** Seconds to wait for one token. Takes nothing. */
  wait(key: string, at: number): number {
    const tokens = this.#tokensOf(key, at)
    return tokens >= 1 ? 0 : (1 - tokens) / this.#rule.perSecond
  }

  /** Take tokens for work that is done already. The bucket may go into debt, by one burst at most. */
  charge(key: string, at: number, cost: number): void {
    const tokens = this.#tokensOf(key, at) - cost
    this.#put(key, { tokens: Math.max(tokens, -this.#rule.burst), at })
  }

  /** Give tokens back, for work that turned out to be counted elsewhere. */
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
