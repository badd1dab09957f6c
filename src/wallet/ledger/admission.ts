import { Buckets } from '../../base/buckets.ts'
import { countOnce } from '../../base/count-once.ts'
import { limits } from '../../base/limits.ts'
import { requireNoWait } from '../../base/refusal.ts'
import type { Database } from '../../db/database.ts'
import type { NostrEvent } from '../../nostr/event.ts'
import type { Ledger, LedgerStores } from './settle.ts'
import { addresses } from './transaction.ts'

type AdmissionParts = {
  ledger: Ledger
  database: Database<LedgerStores>
  /** Seconds of a clock that is never set. */
  seconds: () => number
  /** False: `RATE_LIMIT=off`. */
  rateLimit: boolean
}

export type Admission = {
  /** True for a start event from a relay that has no answer yet and is within the limits. */
  fromRelay(event: NostrEvent): Promise<boolean>
  /**
   * The check of an event over HTTP, where keys have quotas already. Build one a request and run it in the
   * transaction that accepts the event, where a repeat finds the answer. Refuses `rate-limited`.
   */
  overHttp(event: NostrEvent): (tx: LedgerStores) => Promise<void>
}

/**
 * Decides which start events are looked at. An attempt counts also when it is refused later. Each key has a share
 * of what relays bring. Keys without an account share one limit, over HTTP and from relays together.
 */
export function createAdmission(parts: AdmissionParts): Admission {
  const { ledger, database, seconds, rateLimit } = parts
  const { signer, tokens } = ledger
  const byKey = new Buckets({
    burst: limits.transactionKeyBurst,
    perSecond: limits.transactionKeyPerSecond,
    entriesMax: limits.relayQuotasMax,
  })
  const strangers = new Buckets({
    burst: limits.transactionStrangerBurst,
    perSecond: limits.transactionStrangerPerSecond,
    entriesMax: 1,
  })
  const unlimited = new Set([signer.pubkey, ...[...tokens.values()].map(({ issuer }) => issuer)])
  const answered = async (tx: LedgerStores, { id }: NostrEvent) =>
    (await tx.ledger.outcome(id)) !== null
  const hasAccount = async (tx: LedgerStores, { pubkey }: NostrEvent) =>
    (await tx.ledger.accountsOf(pubkey)).length > 0
  const strangerWait = () => strangers.take('', seconds())
  return {
    async fromRelay(event) {
      // Events of ours come back from every relay that got them.
      if (await database.snapshot((tx) => answered(tx, event))) return false
      if (!rateLimit || unlimited.has(event.pubkey)) return true
      if (byKey.take(event.pubkey, seconds()) > 0) return false
      return (await database.snapshot((tx) => hasAccount(tx, event))) || strangerWait() === 0
    },

    overHttp(event) {
      const counted = rateLimit && addresses(event, signer.pubkey) && !unlimited.has(event.pubkey)
      const charge = countOnce(() => requireNoWait(strangerWait()))
      return async (tx) => {
        if (!counted || (await answered(tx, event)) || (await hasAccount(tx, event))) return
        charge()
      }
    },
  }
}
