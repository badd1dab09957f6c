import type { Buckets } from './buckets.ts'

/** One guess at a secret. */
export type Guess = {
  /** 0, or the seconds until a guess is allowed. */
  wait: number
  /** The guess was right, or was none: it does not count. */
  giveBack(): void
}

/**
 * Limits guesses at a secret. A guess counts in every share (of an address, of a key, of everybody), and
 * is allowed while each share has room. Each method takes one key for every share, in their order.
 */
export class GuessCounter {
  readonly #shares: readonly Buckets[]
  readonly #seconds: () => number

  /** `seconds` reads a steady clock. */
  constructor(shares: readonly Buckets[], seconds: () => number) {
    this.#shares = shares
    this.#seconds = seconds
  }

  /** Seconds until a guess is allowed; counts nothing. */
  wait(...keys: readonly string[]): number {
    const now = this.#seconds()
    return Math.max(...this.#shares.map((share, at) => share.wait(keys[at] ?? '', now)))
  }

  /** Count a guess that turned out wrong. */
  count(...keys: readonly string[]): void {
    const now = this.#seconds()
    for (const [at, share] of this.#shares.entries()) share.take(keys[at] ?? '', now)
  }

  /** Count a guess before its outcome is known, so that guesses at the same time share the limit. */
  take(...keys: readonly string[]): Guess {
    const wait = this.wait(...keys)
    if (wait > 0) return { wait, giveBack: () => undefined }
    this.count(...keys)
    return {
      wait,
      giveBack: () => {
        for (const [at, share] of this.#shares.entries()) share.give(keys[at] ?? '')
      },
    }
  }
}
