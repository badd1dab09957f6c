import type { Buckets } from './buckets.ts'

/** A guess at a secret, such as a code. */
export type Guess = {
  /** Seconds until a guess is allowed. 0 means now. */
  wait: number
  /** Undo the count, because the guess was right or no guess. */
  giveBack(): void
}

/**
 * Rate limit for guesses at a secret. A guess counts in each bucket (of an address, of a key, of all clients), and is
 * allowed while each bucket has tokens. Methods take one key per bucket, in the order of the buckets.
 */
export class GuessCounter {
  readonly #shares: readonly Buckets[]
  readonly #seconds: () => number

  /** `seconds` reads a monotonic clock. */
  constructor(shares: readonly Buckets[], seconds: () => number) {
    this.#shares = shares
    this.#seconds = seconds
  }

  /** Seconds until a guess is allowed. Counts nothing. */
  wait(...keys: readonly string[]): number {
    const now = this.#seconds()
    return Math.max(...this.#shares.map((share, at) => share.wait(keys[at] ?? '', now)))
  }

  /** Count a wrong guess. */
  count(...keys: readonly string[]): void {
    const now = this.#seconds()
    for (const [at, share] of this.#shares.entries()) share.take(keys[at] ?? '', now)
  }

  /** Count a guess before its outcome is known. Else many parallel guesses would pass before the first one counts. */
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
