import { Buckets } from '../base/buckets.ts'
import { limits } from '../base/limits.ts'

type QuotaOptions = {
  /** False switches quotas off. */
  rateLimit: boolean
  /** A monotonic clock in seconds. */
  seconds: () => number
}

export type WriteQuotas = ReturnType<typeof createWriteQuotas>

const entriesMax = limits.relayQuotasMax

/**
 * Create the write quotas of the relay's WebSocket or of publishing over HTTP; each has its own. The cost grows with
 * the size. The functions return 0, or the seconds to wait.
 */
export function createWriteQuotas({ rateLimit, seconds }: QuotaOptions) {
  const byKey = new Buckets({
    burst: limits.relayKeyBurst,
    perSecond: limits.relayKeyPerSecond,
    entriesMax,
  })
  const byAddress = new Buckets({
    burst: limits.relayAddressBurst,
    perSecond: limits.relayAddressPerSecond,
    entriesMax,
  })
  const strangers = new Buckets({
    burst: limits.relayStrangerBurst,
    perSecond: limits.relayStrangerPerSecond,
    entriesMax,
  })
  const busyKeys = new Buckets({
    burst: limits.publishKeyBurst,
    perSecond: limits.publishKeyPerSecond,
    entriesMax,
  })
  const busyAddresses = new Buckets({
    burst: limits.publishAddressBurst,
    perSecond: limits.publishAddressPerSecond,
    entriesMax,
  })
  const take = (quota: Buckets, who: string, cost: number) =>
    rateLimit ? quota.take(who, seconds(), cost) : 0
  const costOf = (size: number) => Math.ceil(size / limits.relayQuotaBytes)

  return {
    /** Take from the quota of an address, for any event. Called before the signature is verified. */
    address: (address: string, size: number): number => take(byAddress, address, costOf(size)),
    /** Take from the quota of a key. Called for verified events only, so that nobody uses up another key's quota. */
    key: (pubkey: string, size: number): number => take(byKey, pubkey, costOf(size)),
    /** Give back the quota of a key for an event that is stored already, because anybody can send it again. */
    giveBack(pubkey: string, size: number): void {
      byKey.give(pubkey, costOf(size))
      busyKeys.give(pubkey)
    },
    /** Take from the delivery quotas of key and address. Above them, a delivery gets low priority. */
    withinQuota(pubkey: string, address: string): boolean {
      const waits = [busyKeys.take(pubkey, seconds()), busyAddresses.take(address, seconds())]
      return waits.every((wait) => wait === 0)
    },
    /** Take from the quota of an address for remote signing (NIP-46) by strangers. */
    stranger: (address: string): number => take(strangers, address, 1),
  }
}
