import { Buckets } from '../buckets.ts'
import { limits } from '../limits.ts'
import type { NostrEvent } from '../nostr/event.ts'
import { kinds } from '../nostr/kinds.ts'

/** Where an event comes from: an address, and the keys its connection proved (NIP-42). */
type Sender = { address: string; authenticated: ReadonlySet<string> }

type PolicyOptions = {
  /** Anyone may write; asked each time, since a private service can turn out to be public. */
  open: () => boolean
  isMember: (pubkey: string) => boolean
  /** False: no quotas. */
  rateLimit: boolean
  /** Seconds of a steady clock. */
  seconds: () => number
}

export type RelayPolicy = ReturnType<typeof createPolicy>

const entriesMax = limits.relayQuotasMax

/**
 * Who may write to the embedded relay: anyone while the service is private, else its own people,
 * whoever an authenticated one of them vouches for, and remote signing (NIP-46) now and then.
 */
export function createPolicy({ open, isMember, rateLimit, seconds }: PolicyOptions) {
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
  const questions = new Buckets({
    burst: limits.relayAskBurst,
    perSecond: limits.relayAskPerSecond,
    entriesMax,
  })
  const within = (quota: Buckets, who: string, cost: number) =>
    !rateLimit || quota.take(who, seconds(), cost) === 0

  return {
    /** May this address send an event of this size at all? Asked before anything costly is done with it. */
    maySend: (address: string, chars: number): boolean =>
      within(byAddress, address, Math.ceil(chars / limits.relayQuotaBytes)),

    /** May this event, which is what it says it is, be written? `auth`: perhaps, for a key that is proved. */
    mayWrite(
      event: NostrEvent,
      chars: number,
      { address, authenticated }: Sender,
    ): 'yes' | 'auth' | 'no' | 'later' {
      const ours = () =>
        isMember(event.pubkey) || [...authenticated].some((pubkey) => isMember(pubkey))
      if (open() || ours()) {
        const cost = Math.ceil(chars / limits.relayQuotaBytes)
        return within(byKey, event.pubkey, cost) ? 'yes' : 'later'
      }
      if (event.kind === kinds.remoteSigning) {
        return within(strangers, address, 1) ? 'yes' : 'later'
      }
      return authenticated.size > 0 ? 'no' : 'auth'
    },

    /** May this address ask, or say something that is not understood? */
    mayAsk: (address: string): boolean => within(questions, address, 1),

    /** A question had this many rows looked at: it costs more than it seemed to. */
    asked(address: string, rows: number): void {
      const cost = Math.floor(rows / limits.relayAskRows)
      if (rateLimit && cost > 0) questions.take(address, seconds(), cost)
    },
  }
}
