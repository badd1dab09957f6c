import { Buckets } from '../base/buckets.ts'
import { GuessCounter } from '../base/guesses.ts'
import { type Refusal, rateLimited, requireNoWait } from '../base/refusal.ts'

const entriesMax = 20_000

/** The budget of a credential. A spent voucher has another one than its successor. */
export type Budget = { of: 'chain' | 'spent' | 'card'; id: number }

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
  /** Refreshes of a coupon, by the row id of the first voucher of its chain. `wait` is in seconds. */
  refreshes: { wait(chain: number): number; made(chain: number): void }
  /**
   * A counted request that was a mistake of the client. Refuses `rate-limited`, except for a `known`
   * credential, for which it counts as a request.
   */
  mistake(address: string, known: boolean): void
  /** A try of a setup code, right or wrong, by client address. Refuses `rate-limited`. */
  setup(address: string): void
  /** A failed authentication or an unknown nonce, by client address. Refuses `rate-limited`. */
  failure(address: string): void
  /** The same for the replay of a signature, as a refusal or null. */
  replay(address: string): Refusal | null
  /** A try of an Idempotency-Key on a burned voucher, by voucher and address. Refuses `rate-limited`. */
  wrongKeyTry(handle: string, address: string): void
  /** A wrong key on a burned voucher. */
  wrongKey(handle: string, address: string): void
}

/** A busy shop behind one address sends some hundred claims a minute, each with its preview. */
const requestRule = { burst: 1200, perSecond: 40, entriesMax }
/** A till issues all day, and a panel reloads. A mint of many vouchers costs more. */
const keyRule = { burst: 1200, perSecond: 40, entriesMax }
/** Anybody can make keys, so unknown ones share a budget of their address. */
const strangerRule = { burst: 600, perSecond: 20, entriesMax }
/** A coupon is looked at, handed on and redeemed. A card pays now and then. */
const carriedRule = { burst: 60, perSecond: 1, entriesMax }
/** A coupon changes hands a few times, and each refresh stays on disk for ever. */
const refreshRule = { burst: 20, perSecond: 0.1, entriesMax }
/** A person mistypes a few codes. A guesser needs 2^127 tries. */
const failureRule = { burst: 100, perSecond: 1, entriesMax }
/** Wallets that race for one voucher bring a few hundred keys, once. */
const wrongKeyRule = { burst: 300, perSecond: 0.1, entriesMax }
/** The same for all addresses together. It is high, because it delays the right key, too. */
const voucherRule = { burst: 1000, perSecond: 0.5, entriesMax }
/** A person copies twelve symbols from a screen. A guesser needs 2^59 tries. */
const setupRule = { burst: 10, perSecond: 0.05, entriesMax }

/** Build the limits. `seconds` reads a monotonic clock. */
export function createRateLimits(seconds: () => number): RateLimits {
  const requests = new Buckets(requestRule)
  const keys = new Buckets(keyRule)
  const strangers = new Buckets(strangerRule)
  const carried = new Buckets(carriedRule)
  const refreshes = new Buckets(refreshRule)
  const mistakes = new Buckets(requestRule)
  const guesses = (...rules: (typeof failureRule)[]) =>
    new GuessCounter(
      rules.map((rule) => new Buckets(rule)),
      seconds,
    )
  const failures = guesses(failureRule)
  const wrongKeys = guesses(wrongKeyRule, voucherRule)
  const setups = guesses(setupRule)

  return {
    request: (address) => rateLimited(requests.take(address, seconds())),
    key: (pubkey, cost) => requireNoWait(keys.take(pubkey, seconds(), cost)),
    signed: (pubkey) => rateLimited(keys.take(pubkey, seconds())),
    giveBack: (pubkey) => keys.give(pubkey),
    stranger: (address) => requireNoWait(strangers.take(address, seconds())),
    carried: ({ of, id }) => requireNoWait(carried.take(`${of} ${id}`, seconds())),
    refreshes: {
      wait: (chain) => refreshes.wait(String(chain), seconds()),
      made: (chain) => void refreshes.take(String(chain), seconds()),
    },
    mistake(address, known) {
      const wait = mistakes.take(address, seconds())
      if (known && wait > 0) return
      requests.give(address)
      requireNoWait(wait)
    },
    setup: (address) => requireNoWait(setups.take(address).wait),
    failure: (address) => requireNoWait(failures.take(address).wait),
    replay: (address) => rateLimited(failures.take(address).wait),
    wrongKeyTry: (handle, address) => requireNoWait(wrongKeys.wait(`${handle} ${address}`, handle)),
    wrongKey: (handle, address) => wrongKeys.count(`${handle} ${address}`, handle),
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
  refreshes: { wait: () => 0, made: () => undefined },
  mistake: () => undefined,
  setup: () => undefined,
  failure: () => undefined,
  replay: () => null,
  wrongKeyTry: () => undefined,
  wrongKey: () => undefined,
}
