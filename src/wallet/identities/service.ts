import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../db/database.ts'
import type { VerifyHash } from '../../nostr/delegation.ts'
import type { Signer, VerifyEvent } from '../../nostr/event.ts'
import type { RequestStore } from '../request-store.ts'
import type { AccountStore } from './account-store.ts'
import type { NonceStore } from './nonce-store.ts'

/** Stores of an operation on identities. */
export type IdentityStores = { accounts: AccountStore; nonces: NonceStore; requests: RequestStore }

/** Dependencies of the operations on identities; put together by `app/identities.ts`. */
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
  /** Anybody gets a nonce, and holders register themselves with theirs. */
  selfSignup: boolean
  /** Count an event for sign-up of an address. Refuses `rate-limited`. */
  countSignup: (address: string) => void
  /** Signs those events with the manager key. */
  signer: Signer
  /** More reserved names than those of `name.ts`. */
  reserved: ReadonlySet<string>
  /** Addresses of the relays with the events of identities, for a request to the origin `asked`. */
  relays: (asked: string | null) => string[]
  /** Names this service to tills that know its cards and accounts. */
  federationId: string
  /** The address of this service, for a request that does not name it. */
  base: () => string
  /** The answer of a holder's wallet, or null. Refuses `overloaded`. */
  askWallet: (account: string, url: URL) => Promise<{ status: number; body: string } | null>
  /** True for a URL that outgoing requests may use. */
  usable: (url: URL) => boolean
}
