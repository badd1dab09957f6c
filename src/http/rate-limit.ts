import { Buckets } from '../base/buckets.ts'
import { Refusal } from '../base/refusal.ts'

const entriesMax = 20_000

/**
 * Who may ask how often. What fails is counted apart from what does not: it costs its author only
 * further failures, so that a stranger cannot use up what a shop behind the same address needs.
 */
export type RateLimits = {
  /** Every request, by client address. Refuses `rate-limited`. */
  request(address: string): void
  /** An authenticated request, by key; `cost` grows with what it makes. Refuses `rate-limited`. */
  key(pubkey: string, cost: number): void
  /** A request that was counted turned out to be a client's mistake. Refuses `rate-limited`. */
  mistake(address: string): void
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
/** A person mistypes a few codes; a guesser needs 2^127 of them. */
const failureRule = { burst: 100, perSecond: 1, entriesMax }
/** Wallets that race for one voucher bring some hundred keys at most, and once. */
const wrongKeyRule = { burst: 300, perSecond: 0.1, entriesMax }
/** The same from all addresses together; high, since it keeps the right key waiting too. */
const voucherRule = { burst: 1000, perSecond: 0.5, entriesMax }

/** `seconds` reads a steady clock. */
export function createRateLimits(seconds: () => number): RateLimits {
  const requests = new Buckets(requestRule)
  const keys = new Buckets(keyRule)
  const mistakes = new Buckets(requestRule)
  const failures = new Buckets(failureRule)
  const wrongKeys = new Buckets(wrongKeyRule)
  const wrongKeysOfAll = new Buckets(voucherRule)

  return {
    request: (address) => refuse(requests.take(address, seconds())),
    key: (pubkey, cost) => refuse(keys.take(pubkey, seconds(), cost)),
    mistake(address) {
      requests.give(address)
      refuse(mistakes.take(address, seconds()))
    },
    failure: (address) => refuse(failures.take(address, seconds())),
    wrongKeyTry(handle, address) {
      refuse(wrongKeys.wait(`${handle} ${address}`, seconds()))
      refuse(wrongKeysOfAll.wait(handle, seconds()))
    },
    wrongKey(handle, address) {
      wrongKeys.take(`${handle} ${address}`, seconds())
      wrongKeysOfAll.take(handle, seconds())
    },
  }
}

/** For measurements: `RATE_LIMIT=off`. */
export const noRateLimits: RateLimits = {
  request: () => undefined,
  key: () => undefined,
  mistake: () => undefined,
  failure: () => undefined,
  wrongKeyTry: () => undefined,
  wrongKey: () => undefined,
}

function refuse(waitSeconds: number): void {
  if (waitSeconds > 0) throw new Refusal('rate-limited', { retryAfter: Math.ceil(waitSeconds) })
}
