import { Buckets } from '../../base/buckets.ts'
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
  /** False: a start event from a relay that is answered already, or one too many. */
  fromRelay(event: NostrEvent): Promise<boolean>
  /** An event over HTTP, where keys have quotas already. Refuses `rate-limited`. */
  overHttp(event: NostrEvent): Promise<void>
}

/**
 * Decides which start events are looked at, before their transaction: an attempt counts also when it is
 * refused there. Each key has a share of what relays bring. Keys without an account share one limit,
 * over HTTP and from relays together.
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
  const answered = ({ id }: NostrEvent) =>
    database.snapshot(async (tx) => (await tx.ledger.outcome(id)) !== null)
  const strangerWait = async ({ pubkey }: NostrEvent) => {
    const accounts = await database.snapshot((tx) => tx.ledger.accountsOf(pubkey))
    return accounts.length > 0 ? 0 : strangers.take('', seconds())
  }
  return {
    async fromRelay(event) {
      // Events of ours come back from every relay that got them.
      if (await answered(event)) return false
      if (!rateLimit || unlimited.has(event.pubkey)) return true
      return byKey.take(event.pubkey, seconds()) === 0 && (await strangerWait(event)) === 0
    },

    async overHttp(event) {
      if (!rateLimit || !addresses(event, signer.pubkey) || unlimited.has(event.pubkey)) return
      if (await answered(event)) return
      requireNoWait(await strangerWait(event))
    },
  }
}
