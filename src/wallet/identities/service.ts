import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../db/database.ts'
import type { VerifyHash } from '../../nostr/delegation.ts'
import type { VerifyEvent } from '../../nostr/event.ts'
import type { RequestStore } from '../request-store.ts'
import type { AccountStore } from './account-store.ts'
import type { NonceStore } from './nonce-store.ts'

/** What an operation on identities can read and write. */
export type IdentityStores = { accounts: AccountStore; nonces: NonceStore; requests: RequestStore }

/** Everything the operations on identities need; put together by `app/wallet.ts`. */
export type Identities = {
  database: Database<IdentityStores>
  now: Clock
  verify: VerifyEvent
  verifyHash: VerifyHash
  /** Refuses `disk-low`. */
  requireDisk: () => void
  newNonce: () => string
  newId: () => string
  /** The manager key, whose name is `_`. */
  manager: string
  /** Keys that may hand out nonces and register others. */
  issuers: ReadonlySet<string>
  /** Whoever has a nonce may register himself. */
  selfSignup: boolean
  /** Names that nobody registers, besides those of `name.ts`. */
  reserved: ReadonlySet<string>
  /** Where the events of identities are found, by whoever reached us at `asked`; addresses of relays. */
  relays: (asked: string | null) => string[]
  /** Names this service among others that know its cards and accounts. */
  federationId: string
  /** Where this service is reached, when a request does not say. */
  base: () => string
  /** The answer of a holder's wallet, or null. Refuses `overloaded`. */
  askWallet: (account: string, url: URL) => Promise<{ status: number; body: string } | null>
  /** What the callback of a wallet must be for us to go there. */
  usable: (url: URL) => boolean
}
