import { Buckets } from '../base/buckets.ts'
import { GuessCounter } from '../base/guesses.ts'
import { limits } from '../base/limits.ts'
import { requireNoWait } from '../base/refusal.ts'

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
    /** Refuses `rate-limited` after too many wrong keys. */
    require: (handle: string, address: string) => void
    /** Count a wrong key. */
    count: (handle: string, address: string) => void
  }
}

const entriesMax = limits.rateEntriesMax

/** A coupon changes hands a few times, and each refresh stays on disk for ever. */
const refreshRule = { burst: 20, perSecond: 0.1, entriesMax }
/** Wallets that race for one voucher bring a few hundred keys, once. */
const wrongKeyRule = { burst: 300, perSecond: 0.1, entriesMax }
/** The same for all addresses together. It is high, because it delays the right key, too. */
const voucherRule = { burst: 1000, perSecond: 0.5, entriesMax }

/** Build the limits. `seconds` reads a monotonic clock. */
export function createVoucherLimits(seconds: () => number): VoucherLimits {
  const refreshes = new Buckets(refreshRule)
  const wrongKeys = new GuessCounter([new Buckets(wrongKeyRule), new Buckets(voucherRule)], seconds)
  return {
    refreshes: {
      wait: (chain) => refreshes.wait(String(chain), seconds()),
      made: (chain) => void refreshes.take(String(chain), seconds()),
    },
    wrongKeys: {
      require: (handle, address) => requireNoWait(wrongKeys.wait(`${handle} ${address}`, handle)),
      count: (handle, address) => wrongKeys.count(`${handle} ${address}`, handle),
    },
  }
}

/** No limits, for measurements (`RATE_LIMIT=off`). */
export const noVoucherLimits: VoucherLimits = {
  refreshes: { wait: () => 0, made: () => undefined },
  wrongKeys: { require: () => undefined, count: () => undefined },
}
