import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/database.ts'
import type { Topic } from '../db/news.ts'
import type { ProofStore } from '../session/proof-store.ts'
import type { MerchantStore } from './merchant-store.ts'

/** Stores that an operation on merchants reads and writes. */
export type MerchantStores = {
  merchants: MerchantStore
  /** The replay guard that an authenticated caller's first write goes to. */
  proofs: ProofStore
}

/**
 * The rule of admission. `private` admits any key, because only this machine reaches the service. `listed` admits
 * the keys of the setting, `open` any key by the setting, `let-in` the stored merchants.
 */
export type Admission = 'private' | 'listed' | 'open' | 'let-in'

/** `by` is the setup code, the operator, or another merchant (hex). */
type MerchantEvent =
  | { type: 'admitted' | 'removed'; pubkey: string; by: 'code' | 'operator' | string }
  | { type: 'code-replaced' }

/** The key of a merchant that was removed, in hex. */
export const merchantRemoved: Topic<string> = { name: 'merchant.removed' }

/** The dependencies of the operations in this folder, put together by `app/management.ts`. */
export type Merchants = {
  database: Database<MerchantStores>
  now: Clock
  /** 32 bytes. Setup codes follow from it. */
  storeKey: Uint8Array
  newSalt: () => Uint8Array
  /** A function, because a private service can turn out to be public. */
  admission: () => Admission
  /** True if any key of the world may manage. Each has quotas then. */
  metered: () => boolean
  /** The keys of the setting, in hex. */
  listed: ReadonlySet<string>
  /** Count a try of a setup code by client address. Refuses `rate-limited`. */
  trySetup: (address: string) => void
  /** Called for each event once it is on disk. */
  happened: (event: MerchantEvent) => void
}
