import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { createNonce } from './coupons/nonce.ts'
import type { Database } from './db/database.ts'
import type { Stores } from './db/stores.ts'
import type { VerifyHash } from './nostr/delegation.ts'
import type { Signer, VerifyEvent } from './nostr/event.ts'
import type { Identities } from './wallet/service.ts'

type WalletParts = {
  database: Database<Stores>
  now: Clock
  /** The manager key. */
  signer: Signer
  verify: VerifyEvent
  verifyHash: VerifyHash
}

/** Put together what the wallet's routes work with. */
export function createWallet(config: Config, parts: WalletParts): { identities: Identities } {
  const { signer, ...shared } = parts
  const defaults = [signer.pubkey, ...(config.merchants ?? [])]
  return {
    identities: {
      ...shared,
      newNonce: createNonce,
      issuers: config.identityIssuers ?? new Set(defaults),
    },
  }
}
