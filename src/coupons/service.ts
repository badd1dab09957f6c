import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/database.ts'
import type { NostrEvent, Signer, VerifyEvent } from '../nostr/event.ts'
import type { Caller } from '../session/caller.ts'
import type { ProofStore } from '../session/proof-store.ts'
import type { AnnouncementStore } from './announcement-store.ts'
import type { AnswerStore } from './answer-store.ts'
import type { DefinitionStore } from './definition-store.ts'
import type { ImageStore } from './image-store.ts'
import type { Change } from './live.ts'
import type { MinterStore } from './minter-store.ts'
import type { RefreshBudget } from './refresh.ts'
import type { StatisticsStore } from './statistics-store.ts'
import type { VoucherStore } from './voucher-store.ts'

/** The stores that an operation of this folder reads and writes. */
export type CouponStores = {
  definitions: DefinitionStore
  vouchers: VoucherStore
  minters: MinterStore
  statistics: StatisticsStore
  images: ImageStore
  announcements: AnnouncementStore
  answers: AnswerStore
  /** The replay guard that an authenticated caller's first write goes to. */
  proofs: ProofStore
}

/** Everything the operations of this folder need; put together by `app.ts`. */
export type CouponService = {
  database: Database<CouponStores>
  now: Clock
  newNonce: () => string
  newId: () => string
  /** The manager key: signs vouchers. */
  signer: Signer
  verify: VerifyEvent
  /** 32 bytes; seals what must be repeated and binds Idempotency-Keys. */
  storeKey: Uint8Array
  /** Refuses `merchant-not-allowed`. */
  // A method, as below: it reads a store of the same transaction that this folder does not know.
  requireMerchant(tx: CouponStores, caller: Caller): Promise<void>
  /** Count what a merchant adds, where there are quotas. Refuses `vouchers-day-full`, `bytes-day-full`, `rate-limited`. */
  charge(
    tx: Pick<CouponStores, 'vouchers'>,
    owner: string,
    added: { vouchers?: number; bytes?: number; refreshes?: number },
  ): Promise<void>
  /** The key a NIP-05 name belongs to, or null. */
  resolveName: (name: string, domain: string, merchant: string) => Promise<string | null>
  /** Hand an accepted announcement to the relays; in the transaction that stores it. */
  // A method: what `app.ts` hands in writes to stores of the same transaction that this folder does not know.
  broadcast(tx: CouponStores, event: NostrEvent): Promise<void>
  /** Stop handing an announcement on: it was withdrawn, or another took its place. */
  recall(tx: CouponStores, eventId: string): Promise<void>
  refreshes: RefreshBudget
  /** Refuses `disk-low` while the disk has little room: asked before what strangers could write without end. */
  requireDisk: () => void
  /** Told of what happened once it is on disk. */
  changed: (change: Change) => void
  /** Vouchers were voided by the kill switch: their rows are to be marked. */
  killed: () => void
}
