import type { Clock } from '../base/clock.ts'
import type { Database, Locking } from '../db/database.ts'
import type { NostrEvent, Signer, VerifyEvent } from '../nostr/event.ts'
import type { PictureStore } from '../pictures/picture-store.ts'
import type { Caller } from '../session/caller.ts'
import type { ProofStore } from '../session/proof-store.ts'
import type { AnnouncementStore } from './announcement-store.ts'
import type { AnswerStore } from './answer-store.ts'
import type { BatchStore } from './batch-store.ts'
import type { PictureAddresses } from './definition-picture.ts'
import type { DefinitionStore } from './definition-store.ts'
import type { ImageStore } from './image-store.ts'
import type { MinterStore } from './minter-store.ts'
import type { StatisticsStore } from './statistics-store.ts'
import type { TillStore } from './till-store.ts'
import type { VoucherLimits } from './voucher-limits.ts'
import type { VoucherStore } from './voucher-store.ts'

/** The stores that an operation of this folder reads and writes. */
export type CouponStores = {
  definitions: DefinitionStore
  vouchers: VoucherStore
  batches: BatchStore
  minters: MinterStore
  statistics: StatisticsStore
  tills: TillStore
  images: ImageStore
  pictures: PictureStore
  announcements: AnnouncementStore
  answers: AnswerStore
  /** The replay guard that an authenticated caller's first write goes to. */
  proofs: ProofStore
}

/** Dependencies of the operations of this folder. `app/start.ts` puts them together. */
export type CouponService = PictureAddresses & {
  database: Database<CouponStores>
  now: Clock
  newNonce: () => string
  newId: () => string
  /** The manager key: signs vouchers. */
  signer: Signer
  verify: VerifyEvent
  /** 32 bytes. It seals the answers that are repeated, and binds them to their Idempotency-Key. */
  storeKey: Uint8Array
  /** Check that the caller may manage coupons. Refuses `merchant-not-allowed`. */
  // Declared as a method, so that it may ask for stores of the transaction that this folder does not know.
  requireMerchant(tx: CouponStores, caller: Caller): Promise<void>
  /**
   * Count the vouchers, bytes and refreshes that a merchant adds, if the service has quotas. Refuses
   * `vouchers-day-full`, `bytes-day-full`, `rate-limited`.
   */
  charge(
    tx: Pick<CouponStores, 'vouchers'> & Locking,
    owner: string,
    added: { vouchers?: number; bytes?: number; refreshes?: number },
  ): Promise<void>
  /** The public key of a NIP-05 name in hex, or null. It calls the server of the domain. */
  resolveName: (name: string, domain: string, merchant: string) => Promise<string | null>
  /** Queue an accepted announcement for the relays, in the transaction that stores it. */
  broadcast(tx: CouponStores, event: NostrEvent): Promise<void>
  /** Take an announcement out of the queue, because it was withdrawn or replaced. */
  recall(tx: CouponStores, eventId: string): Promise<void>
  refreshes: VoucherLimits['refreshes']
  wrongKeys: VoucherLimits['wrongKeys']
  /** Refuses `disk-low` while the disk has little room. Called before writes that a client may repeat without end. */
  requireDisk: () => void
}
