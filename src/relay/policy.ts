import { Buckets } from '../base/buckets.ts'
import { limits } from '../base/limits.ts'
import type { NostrEvent } from '../nostr/event.ts'
import { classOf } from '../nostr/kind-class.ts'
import { kinds } from '../nostr/kinds.ts'
import { createWriteQuotas } from './quotas.ts'

/** Where an event comes from: an address, and the keys its connection proved (NIP-42). */
type Sender = { address: string; authenticated: ReadonlySet<string> }

type PolicyOptions = {
  /** Anyone may write; asked each time, since a private service can turn out to be public. */
  open: () => boolean
  isMember: (pubkey: string) => Promise<boolean>
  /** False: no quotas. */
  rateLimit: boolean
  /** Seconds of a steady clock. */
  seconds: () => number
}

export type RelayPolicy = ReturnType<typeof createPolicy>

/**
 * Who may write to the embedded relay: anyone while the service is private, else its own people,
 * whoever an authenticated one of them vouches for, and remote signing (NIP-46) now and then.
 */
export function createPolicy({ open, isMember, rateLimit, seconds }: PolicyOptions) {
  const quotas = createWriteQuotas({ rateLimit, seconds })
  const questions = new Buckets({
    burst: limits.relayAskBurst,
    perSecond: limits.relayAskPerSecond,
    entriesMax: limits.relayQuotasMax,
  })

  return {
    /** May this address send an event of this size at all? Asked before anything costly is done with it. */
    maySend: (address: string, chars: number): boolean => quotas.address(address, chars) === 0,

    /** May this event, which is what it says it is, be written? `auth`: perhaps, for a key that is proved. */
    async mayWrite(
      event: NostrEvent,
      chars: number,
      { address, authenticated }: Sender,
    ): Promise<'yes' | 'auth' | 'no' | 'later'> {
      const ours = async () => {
        for (const pubkey of [event.pubkey, ...authenticated]) {
          if (await isMember(pubkey)) return true
        }
        return false
      }
      if (open() || (await ours())) {
        // What is not kept cannot be told from what is sent again: it counts by address alone.
        if (classOf(event.kind) === 'ephemeral') return 'yes'
        return quotas.key(event.pubkey, chars) === 0 ? 'yes' : 'later'
      }
      if (event.kind === kinds.remoteSigning) {
        return quotas.stranger(address) === 0 ? 'yes' : 'later'
      }
      return authenticated.size > 0 ? 'no' : 'auth'
    },

    /** An event that may be written was there already. */
    giveBack: (event: NostrEvent, chars: number): void => quotas.giveBack(event.pubkey, chars),

    /** May this address ask, or say something that is not understood? */
    mayAsk: (address: string): boolean => !rateLimit || questions.take(address, seconds()) === 0,

    /** A question had this many rows looked at: it costs more than it seemed to. */
    asked(address: string, rows: number): void {
      const cost = Math.floor(rows / limits.relayAskRows)
      if (rateLimit && cost > 0) questions.charge(address, seconds(), cost)
    },
  }
}
