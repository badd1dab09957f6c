import type { Clock } from '../clock.ts'
import type { Database } from '../db/database.ts'
import type { VerifyHash } from '../nostr/delegation.ts'
import type { VerifyEvent } from '../nostr/event.ts'
import type { AccountStore } from './account-store.ts'
import type { NonceStore } from './nonce-store.ts'
import type { RequestStore } from './request-store.ts'

/** What an operation on identities can read and write. */
export type IdentityStores = { accounts: AccountStore; nonces: NonceStore; requests: RequestStore }

/** Everything the operations on identities need; put together by `app-wallet.ts`. */
export type Identities = {
  database: Database<IdentityStores>
  now: Clock
  verify: VerifyEvent
  verifyHash: VerifyHash
  newNonce: () => string
  /** Keys that may hand out nonces and register others. */
  issuers: ReadonlySet<string>
}
