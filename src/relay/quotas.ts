import { Buckets } from '../base/buckets.ts'
import { limits } from '../base/limits.ts'

type QuotaOptions = {
  /** False: no quotas. */
  rateLimit: boolean
  /** Seconds of a steady clock. */
  seconds: () => number
}

export type WriteQuotas = ReturnType<typeof createWriteQuotas>

const entriesMax = limits.relayQuotasMax

/**
 * How much may be written, over a WebSocket or over HTTP; each door counts for itself. What is taken
 * grows with the size. Answers are seconds to wait, 0 when it was taken.
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
    /** Whatever this address sends; asked before anything costly is done with it. */
    address: (address: string, size: number): number => take(byAddress, address, costOf(size)),
    /** What this key signed. */
    key: (pubkey: string, size: number): number => take(byKey, pubkey, costOf(size)),
    /** It was written before: whoever sends again what a key once signed uses up nothing of the key's. */
    giveBack(pubkey: string, size: number): void {
      byKey.give(pubkey, costOf(size))
      busyKeys.give(pubkey)
    },
    /** Token buckets per key and address. Above them a delivery gets a low priority. */
    withinQuota(pubkey: string, address: string): boolean {
      const waits = [busyKeys.take(pubkey, seconds()), busyAddresses.take(address, seconds())]
      return waits.every((wait) => wait === 0)
    },
    /** Remote signing (NIP-46) of strangers, by address. */
    stranger: (address: string): number => take(strangers, address, 1),
  }
}
