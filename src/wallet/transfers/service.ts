import type { Clock } from '../../base/clock.ts'
import type { Refusal } from '../../base/refusal.ts'
import type { Refreshing } from '../../coupons/refresh.ts'
import type { VoucherStore } from '../../coupons/voucher-store.ts'
import type { Database } from '../../db/database.ts'
import type { VerifyEvent } from '../../nostr/event.ts'
import type { HandOver, LookUpAddress } from '../../outbound/lud16.ts'
import type { PreviewElsewhere, RefreshElsewhere } from '../../outbound/voucher-service.ts'
import type { ProofStore } from '../../session/proof-store.ts'
import type { AccountStore } from '../identities/account-store.ts'
import type { InboxStore } from './inbox-store.ts'
import type { TransferStore } from './transfer-store.ts'

/** What an operation on transfers can read and write. */
export type TransferStores = {
  accounts: AccountStore
  transfers: TransferStore
  inbox: InboxStore
  vouchers: VoucherStore
  proofs: ProofStore
}

/**
 * What became of a swap at another service; `open`: nobody knows yet, and it is tried again; `gone`:
 * it had come to its end before.
 */
export type Swapped =
  | 'stored'
  | 'open'
  | 'gone'
  /** `nonceSent`: the nonce was on its way to the service before this was known. */
  | { refused: Refusal; nonceSent: boolean }

/** Everything the operations on transfers need; put together by `app/transfers.ts`. */
export type Transfers = {
  database: Database<TransferStores>
  now: Clock
  verify: VerifyEvent
  /** What a refresh of this service's own vouchers needs. */
  couponService: Refreshing
  /** An Idempotency-Key nobody can guess. */
  newKey: () => string
  /** Other services whose vouchers are taken: manager key → refresh address. */
  services: ReadonlyMap<string, string>
  refreshElsewhere: RefreshElsewhere
  previewElsewhere: PreviewElsewhere
  lookUp: LookUpAddress
  handOver: HandOver
  /**
   * Do what one more voucher of this sender's needs at a host; null when too many are on their way there.
   * Refuses `rate-limited`.
   */
  leaving: <T>(sender: string, host: string, work: () => Promise<T>) => Promise<T | null>
  /** Somebody sends to this name. Refuses `rate-limited`. */
  arriving: (name: string) => void
  /** Refuses `disk-low`. */
  requireDisk: () => void
  /** Swaps under way in this process, by row id of their intent: never two of one. */
  swapping: Map<number, Promise<Swapped>>
  /** Some swap is to be tried again later. */
  postponed: () => void
  /** A line for the operator, without any secret. */
  warn: (event: string, fields: Record<string, string | number>) => void
}
