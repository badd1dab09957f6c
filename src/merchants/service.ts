import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/database.ts'
import type { ProofStore } from '../session/proof-store.ts'
import type { MerchantStore } from './merchant-store.ts'

/** Stores that an operation on merchants reads and writes. */
export type MerchantStores = {
  merchants: MerchantStore
  /** The replay guard that an authenticated caller's first write goes to. */
  proofs: ProofStore
}

/**
 * The rule of who may manage coupons. `private`: any key, since only this machine reaches the service; `listed`: the
 * keys of the setting; `open`: any key, by the setting; `let-in`: the stored merchants.
 */
export type Admission = 'private' | 'listed' | 'open' | 'let-in'

/** `by`: what let a key in or removed it: the setup code, the operator, or another merchant (hex). */
type MerchantEvent =
  | { type: 'admitted' | 'removed'; pubkey: string; by: 'code' | 'operator' | string }
  | { type: 'code-replaced' }

/** Everything the operations of this folder need; put together by `app/management.ts`. */
export type Merchants = {
  database: Database<MerchantStores>
  now: Clock
  /** 32 bytes; setup codes follow from it. */
  storeKey: Uint8Array
  newSalt: () => Uint8Array
  /** Asked each time: a private service can turn out to be public. */
  admission: () => Admission
  /** Any key of the world may manage: each has quotas. */
  metered: () => boolean
  /** The keys of the setting, in hex. */
  listed: ReadonlySet<string>
  /** Told of what happened once it is on disk. */
  happened: (event: MerchantEvent) => void
}
