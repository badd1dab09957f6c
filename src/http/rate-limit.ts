import { Buckets } from '../base/buckets.ts'
import { GuessCounter } from '../base/guesses.ts'
import { type Refusal, rateLimited, requireNoWait } from '../base/refusal.ts'

const entriesMax = 20_000

/** A budget that a credential has of its own; a spent voucher's is apart from that of its live successor. */
export type Budget = { of: 'chain' | 'spent' | 'card'; id: number }

/**
 * Rate limits. Failures are counted apart from requests that succeed: they cost their author only
 * further failures, so that a stranger cannot use up what a shop behind the same address needs. A
 * credential that is known here goes on when its address has used up its own.
 */
export type RateLimits = {
  /** Every request, by client address; how it is refused when the address is over its budget, else null. */
  request(address: string): Refusal | null
  /** An authenticated request, by key; `cost` grows with what it makes. Refuses `rate-limited`. */
  key(pubkey: string, cost: number): void
  /** An authenticated request over its address's budget, of a key unknown here. Refuses `rate-limited`. */
  stranger(address: string): void
  /** A request over its address's budget, by the credential that it brought. Refuses `rate-limited`. */
  carried(budget: Budget): void
  /** Refreshes of a coupon, by the row id of the first voucher of its chain; `wait` in seconds. */
  refreshes: { wait(chain: number): number; made(chain: number): void }
  /**
   * A request that was counted turned out to be a client's mistake. Refuses `rate-limited`, but not a
   * `known` credential: there it counts as a request.
   */
  mistake(address: string, known: boolean): void
  /** A try of a setup code, right or wrong, by client address. Refuses `rate-limited`. */
  setup(address: string): void
  /** A failed authentication or an unknown nonce, by client address. Refuses `rate-limited`. */
  failure(address: string): void
  /** Trying an Idempotency-Key on a burned voucher, by voucher and address. Refuses `rate-limited`. */
  wrongKeyTry(handle: string, address: string): void
  /** A key tried on a burned voucher was wrong. */
  wrongKey(handle: string, address: string): void
}

/** A busy shop behind one address sends some hundred claims a minute, each with its preview. */
const requestRule = { burst: 1200, perSecond: 40, entriesMax }
/** A till that issues all day, a panel that reloads; a mint of many costs more. */
const keyRule = { burst: 1200, perSecond: 40, entriesMax }
/** Anybody can make keys: these share what their address has besides. */
const strangerRule = { burst: 600, perSecond: 20, entriesMax }
/** A coupon is looked at, handed on and redeemed; a card pays now and then. */
const carriedRule = { burst: 60, perSecond: 1, entriesMax }
/** A coupon goes from hand to hand some times; each refresh stays on the disk for ever. */
const refreshRule = { burst: 20, perSecond: 0.1, entriesMax }
/** A person mistypes a few codes; a guesser needs 2^127 of them. */
const failureRule = { burst: 100, perSecond: 1, entriesMax }
/** Wallets that race for one voucher bring some hundred keys at most, and once. */
const wrongKeyRule = { burst: 300, perSecond: 0.1, entriesMax }
/** The same from all addresses together; high, since it keeps the right key waiting too. */
const voucherRule = { burst: 1000, perSecond: 0.5, entriesMax }
/** Somebody copies a code of twelve symbols from a screen; a guesser needs 2^59 of them. */
const setupRule = { burst: 10, perSecond: 0.05, entriesMax }

/** `seconds` reads a steady clock. */
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
    wrongKeyTry: (handle, address) => requireNoWait(wrongKeys.wait(`${handle} ${address}`, handle)),
    wrongKey: (handle, address) => wrongKeys.count(`${handle} ${address}`, handle),
  }
}

/** For measurements: `RATE_LIMIT=off`. */
export const noRateLimits: RateLimits = {
  request: () => null,
  key: () => undefined,
  stranger: () => undefined,
  carried: () => undefined,
  refreshes: { wait: () => 0, made: () => undefined },
  mistake: () => undefined,
  setup: () => undefined,
  failure: () => undefined,
  wrongKeyTry: () => undefined,
  wrongKey: () => undefined,
}
