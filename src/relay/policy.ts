import { Buckets } from '../base/buckets.ts'
import { limits } from '../base/limits.ts'
import type { NostrEvent } from '../nostr/event.ts'
import { classOf } from '../nostr/kind-class.ts'
import { kinds } from '../nostr/kinds.ts'
import { createWriteQuotas } from './quotas.ts'

/** The sender of an event: its address, and the keys that it authenticated (NIP-42). */
type Sender = { address: string; authenticated: ReadonlySet<string> }

type PolicyOptions = {
  /** True if everyone may write. Read each time, because a private service may become public while it runs. */
  open: () => boolean
  isMember: (pubkey: string) => Promise<boolean>
  /** False switches quotas off. */
  rateLimit: boolean
  /** A monotonic clock in seconds. */
  seconds: () => number
}

export type RelayPolicy = ReturnType<typeof createPolicy>

/**
 * Create the write policy of the embedded relay. Everyone may write while the service is private. On a public one,
 * members may write, also events of other keys on a connection that they authenticated. Strangers may send few
 * events for remote signing (NIP-46).
 */
export function createPolicy({ open, isMember, rateLimit, seconds }: PolicyOptions) {
  const quotas = createWriteQuotas({ rateLimit, seconds })
  const questions = new Buckets({
    burst: limits.relayAskBurst,
    perSecond: limits.relayAskPerSecond,
    entriesMax: limits.relayQuotasMax,
  })

  return {
    /** True if everyone may write at present. */
    open,

    /** True if this address may send an event of this size. Checked first, because it costs nothing. */
    maySend: (address: string, chars: number): boolean => quotas.address(address, chars) === 0,

    /** Decide if a verified event may be written. `auth` means that authentication (NIP-42) may help. */
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
        // Ephemeral events are not stored, so a repeat by somebody else cannot be recognised. It must not use up the
        // quota of the key, so only the address is charged.
        if (classOf(event.kind) === 'ephemeral') return 'yes'
        return quotas.key(event.pubkey, chars) === 0 ? 'yes' : 'later'
      }
      if (event.kind === kinds.remoteSigning) {
        return quotas.stranger(address) === 0 ? 'yes' : 'later'
      }
      // A client that has authenticated already would ask for ever, so it gets a final no.
      return authenticated.size > 0 ? 'no' : 'auth'
    },

    /** Give back the quota of the key, for an event that is stored already. */
    giveBack: (event: NostrEvent, chars: number): void => quotas.giveBack(event.pubkey, chars),

    /** True if this address may send a REQ, a COUNT or an invalid message. */
    mayAsk: (address: string): boolean => !rateLimit || questions.take(address, seconds()) === 0,

    /** Charge an address for the rows that its REQ or COUNT read. The cost is known only afterwards. */
    charge(address: string, rows: number): void {
      const cost = Math.floor(rows / limits.relayAskRows)
      if (rateLimit && cost > 0) questions.charge(address, seconds(), cost)
    },
  }
}
