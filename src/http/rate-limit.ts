import { Buckets } from '../base/buckets.ts'
import { GuessCounter } from '../base/guesses.ts'
import { limits } from '../base/limits.ts'
import { type Refusal, rateLimited, requireNoWait } from '../base/refusal.ts'

const entriesMax = limits.rateEntriesMax

/** The budget of a credential: its kind, and its id among its kind. */
export type Budget = { of: string; id: number }

/**
 * Rate limits. Failures are counted apart from requests that succeed, so that a stranger cannot use up the
 * budget that a shop behind the same address needs. A known credential has a budget of its own, on which its
 * requests go on when that of the address is used up.
 */
export type RateLimits = {
  /** Every request, by client address. The refusal if the address is over its budget, else null. */
  request(address: string): Refusal | null
  /** An authenticated request, by key. `cost` grows with the rows that it writes. Refuses `rate-limited`. */
  key(pubkey: string, cost: number): void
  /** The same for one signed request, as a refusal or null; `giveBack` undoes it. */
  signed(pubkey: string): Refusal | null
  giveBack(pubkey: string): void
  /** An authenticated request over its address's budget, of a key unknown here. Refuses `rate-limited`. */
  stranger(address: string): void
  /** A request over its address's budget, by the credential that it brought. Refuses `rate-limited`. */
  carried(budget: Budget): void
  /**
   * A counted request that was a mistake of the client. Refuses `rate-limited`, except for a `known`
   * credential, for which it counts as a request.
   */
  mistake(address: string, known: boolean): void
  /** A failed authentication or an unknown nonce, by client address. Refuses `rate-limited`. */
  failure(address: string): void
  /** The same for the replay of a signature, as a refusal or null. */
  replay(address: string): Refusal | null
}

/** A busy shop behind one address sends some hundred claims a minute, each with its preview. */
const requestRule = { burst: 1200, perSecond: 40, entriesMax }
/** A till issues all day, and a panel reloads. A mint of many vouchers costs more. */
const keyRule = { burst: 1200, perSecond: 40, entriesMax }
/** Anybody can make keys, so unknown ones share a budget of their address. */
const strangerRule = { burst: 600, perSecond: 20, entriesMax }
/** Small, because one coupon or card causes a few requests in its use: previews, a refresh, a claim. */
const carriedRule = { burst: 60, perSecond: 1, entriesMax }
/** A person mistypes a few codes. A guesser needs 2^127 tries. */
const failureRule = { burst: 100, perSecond: 1, entriesMax }

/** Build the limits. `seconds` reads a monotonic clock. */
export function createRateLimits(seconds: () => number): RateLimits {
  const requests = new Buckets(requestRule)
  const keys = new Buckets(keyRule)
  const strangers = new Buckets(strangerRule)
  const carried = new Buckets(carriedRule)
  const mistakes = new Buckets(requestRule)
  const failures = new GuessCounter([new Buckets(failureRule)], seconds)

  return {
    request: (address) => rateLimited(requests.take(address, seconds())),
    key: (pubkey, cost) => requireNoWait(keys.take(pubkey, seconds(), cost)),
    signed: (pubkey) => rateLimited(keys.take(pubkey, seconds())),
    giveBack: (pubkey) => keys.give(pubkey),
    stranger: (address) => requireNoWait(strangers.take(address, seconds())),
    carried: ({ of, id }) => requireNoWait(carried.take(`${of} ${id}`, seconds())),
    mistake(address, known) {
      const wait = mistakes.take(address, seconds())
      if (known && wait > 0) return
      requests.give(address)
      requireNoWait(wait)
    },
    failure: (address) => requireNoWait(failures.take(address).wait),
    replay: (address) => rateLimited(failures.take(address).wait),
  }
}

/** No limits, for measurements (`RATE_LIMIT=off`). */
export const noRateLimits: RateLimits = {
  request: () => null,
  key: () => undefined,
  signed: () => null,
  giveBack: () => undefined,
  stranger: () => undefined,
  carried: () => undefined,
  mistake: () => undefined,
  failure: () => undefined,
  replay: () => null,
}
