import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/database.ts'
import type { PictureStore } from '../pictures/picture-store.ts'
import type { Caller } from '../session/caller.ts'
import type { ProofStore } from '../session/proof-store.ts'
import type { ShopStore } from './shop-store.ts'

/** The stores that an operation on shops reads and writes. */
type ShopStores = {
  shops: ShopStore
  pictures: PictureStore
  /** The replay guard that an authenticated caller's first write goes to. */
  proofs: ProofStore
}

/** The dependencies of the operations in this folder, put together by `app/http.ts`. */
export type Shops = {
  database: Database<ShopStores>
  now: Clock
  /** Check that the caller may manage. Refuses `merchant-not-allowed`. */
  // Declared as a method, so that it may ask for stores of the transaction that this folder does not know.
  requireMerchant(tx: ShopStores, caller: Caller): Promise<void>
  /** Refuses `disk-low` while the disk has little room. */
  requireDisk: () => void
}
