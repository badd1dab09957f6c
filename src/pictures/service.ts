import type { Clock } from '../base/clock.ts'
import type { Database, Locking } from '../db/database.ts'
import type { Caller } from '../session/caller.ts'
import type { ProofStore } from '../session/proof-store.ts'
import type { PictureStore } from './picture-store.ts'

/** The stores that an operation on pictures reads and writes. */
export type PictureStores = {
  pictures: PictureStore
  /** The replay guard that an authenticated caller's first write goes to. */
  proofs: ProofStore
}

/** The dependencies of the operations in this folder, put together by `app/http.ts`. */
export type Pictures = {
  database: Database<PictureStores>
  now: Clock
  /** Check that the caller may manage. Refuses `merchant-not-allowed`. */
  // Declared as methods, so that they may ask for stores of the transaction that this folder does not know.
  requireMerchant(tx: PictureStores, caller: Caller): Promise<void>
  /** Count the bytes that a merchant adds, if the service has quotas. Refuses `bytes-day-full`. */
  charge(tx: PictureStores & Locking, owner: string, added: { bytes: number }): Promise<void>
  /** Refuses `disk-low` while the disk has little room. */
  requireDisk: () => void
  /** The https origin of addresses of pictures. Null without an https `PUBLIC_URL`. */
  origin: string | null
}
