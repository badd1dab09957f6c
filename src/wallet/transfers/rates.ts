import { Buckets } from '../../base/buckets.ts'
import { limits } from '../../base/limits.ts'
import { requireNoWait } from '../../base/refusal.ts'

type TransferRates = {
  /** Count a voucher that comes to this name. Refuses `rate-limited`. */
  arriving: (name: string) => void
  /** Count a voucher that this sender hands to an address elsewhere. Refuses `rate-limited`. */
  leaving: (sender: string) => void
}

/** `seconds` reads a steady clock. */
export function createTransferRates(seconds: () => number): TransferRates {
  const limiter = (rule: { burst: number; perSecond: number }) => {
    const buckets = new Buckets({ ...rule, entriesMax: limits.transferRatesMax })
    return (key: string) => requireNoWait(buckets.take(key, seconds()))
  }
  return { arriving: limiter(limits.arrivingRate), leaving: limiter(limits.leavingRate) }
}

/** For measurements: `RATE_LIMIT=off`. */
export const noTransferRates: TransferRates = {
  arriving: () => undefined,
  leaving: () => undefined,
}
