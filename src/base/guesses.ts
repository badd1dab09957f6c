import { Buckets, type Rule } from './buckets.ts'

/** A guess at a secret, such as a code. */
type Guess = {
  /** Seconds until a guess is allowed. 0 means now. */
  wait: number
  /** Undo the count, because the guess was right or no guess. */
  giveBack(): void
}

/** A guess that all nodes count. */
export type SharedGuess = { wait: number; giveBack(): Promise<void> }

/** A token bucket in a row that all nodes share. */
export type SharedBucket = { name: string } & Pick<Rule, 'burst' | 'perSecond'>

/** Token buckets that all nodes share. */
export type SharedBuckets = {
  /** Take a token from each; 0, or the seconds until each has one, and then none is taken. */
  take(buckets: readonly SharedBucket[]): Promise<number>
  /** The same seconds. Takes nothing. */
  wait(buckets: readonly SharedBucket[]): Promise<number>
  give(buckets: readonly SharedBucket[]): Promise<void>
}

/** Buckets of one rule, in this process and, under their name, in the rows of all nodes. */
export class GuessShare {
  readonly name: string
  readonly rule: Rule
  readonly here: Buckets

  constructor(name: string, rule: Rule) {
    this.name = name
    this.rule = rule
    this.here = new Buckets(rule)
  }

  bucketOf(key: string): SharedBucket {
    const { burst, perSecond } = this.rule
    return { name: `${this.name} ${key}`, burst, perSecond }
  }
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

/**
 * The same for guesses that must not be N times as many with N nodes. `shared` is null where this process is the only
 * one. This node counts in any case, so that most of a flood costs no row.
 */
export class SharedGuessCounter {
  readonly #shares: readonly GuessShare[]
  readonly #here: GuessCounter
  readonly #shared: SharedBuckets | null

  constructor(
    shares: readonly GuessShare[],
    { seconds, shared }: { seconds: () => number; shared: SharedBuckets | null },
  ) {
    this.#shares = shares
    this.#here = new GuessCounter(
      shares.map(({ here }) => here),
      seconds,
    )
    this.#shared = shared
  }

  /** Seconds until a guess is allowed, by the guesses at this node alone. Costs nothing. */
  waitHere(...keys: readonly string[]): number {
    return this.#here.wait(...keys)
  }

  async wait(...keys: readonly string[]): Promise<number> {
    const here = this.#here.wait(...keys)
    if (here > 0 || this.#shared === null) return here
    return this.#shared.wait(this.#bucketsOf(keys))
  }

  async take(...keys: readonly string[]): Promise<SharedGuess> {
    const here = this.#here.take(...keys)
    const shared = this.#shared
    if (here.wait > 0 || shared === null) {
      return { wait: here.wait, giveBack: async () => here.giveBack() }
    }
    const buckets = this.#bucketsOf(keys)
    const wait = await shared.take(buckets)
    if (wait > 0) {
      here.giveBack()
      return { wait, giveBack: async () => undefined }
    }
    return {
      wait,
      giveBack: async () => {
        here.giveBack()
        await shared.give(buckets)
      },
    }
  }

  #bucketsOf(keys: readonly string[]): SharedBucket[] {
    return this.#shares.map((share, at) => share.bucketOf(keys[at] ?? ''))
  }
}
