import { Buckets } from '../base/buckets.ts'
import {
  GuessShare,
  type SharedBuckets,
  type SharedGuess,
  SharedGuessCounter,
} from '../base/guesses.ts'
import { limits } from '../base/limits.ts'

/** Rate limits of vouchers, beside those of addresses and keys. */
export type VoucherLimits = {
  /** Refreshes of a coupon. A chain is named by the row id of its first voucher. */
  refreshes: {
    /** Seconds until the chain may be refreshed. 0 means now. */
    wait: (chain: number) => number
    /** Count a refresh of the chain. */
    made: (chain: number) => void
  }
  /** Tries of an Idempotency-Key on a burned voucher, by its handle and the client address. */
  wrongKeys: {
    /** Seconds until a key may be tried, by the tries at this node alone. */
    waitHere: (handle: string, address: string) => number
    /** The same by the tries at all nodes. */
    wait: (handle: string, address: string) => Promise<number>
    /** Count a wrong key. */
    take: (handle: string, address: string) => Promise<SharedGuess>
  }
}

const entriesMax = limits.rateEntriesMax

/** A coupon changes hands a few times, and each refresh stays on disk for ever. */
const refreshRule = { burst: 20, perSecond: 0.1, entriesMax }
/** Wallets that race for one voucher bring a few hundred keys, once. */
const wrongKeyRule = { burst: 300, perSecond: 0.1, entriesMax }
/** The same for all addresses together. It is high, because it delays the right key, too. */
const voucherRule = { burst: 1000, perSecond: 0.5, entriesMax }

/** Build the limits. `seconds` reads a monotonic clock. Nodes that share a database count wrong keys in `shared`. */
export function createVoucherLimits(
  seconds: () => number,
  shared: SharedBuckets | null,
): VoucherLimits {
  const refreshes = new Buckets(refreshRule)
  const shares = [new GuessShare('key address', wrongKeyRule), new GuessShare('key', voucherRule)]
  const wrongKeys = new SharedGuessCounter(shares, { seconds, shared })
  const keysOf = (handle: string, address: string) => [`${handle} ${address}`, handle]
  return {
    refreshes: {
      wait: (chain) => refreshes.wait(String(chain), seconds()),
      made: (chain) => void refreshes.take(String(chain), seconds()),
    },
    wrongKeys: {
      waitHere: (...tried) => wrongKeys.waitHere(...keysOf(...tried)),
      wait: (...tried) => wrongKeys.wait(...keysOf(...tried)),
      take: (...tried) => wrongKeys.take(...keysOf(...tried)),
    },
  }
}

/** No limits, for measurements (`RATE_LIMIT=off`). */
export const noVoucherLimits: VoucherLimits = {
  refreshes: { wait: () => 0, made: () => undefined },
  wrongKeys: {
    waitHere: () => 0,
    wait: async () => 0,
    take: async () => ({ wait: 0, giveBack: async () => undefined }),
  },
}
