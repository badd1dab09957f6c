import type { Clock } from '../../base/clock.ts'
import type { Refusal } from '../../base/refusal.ts'
import type { Refreshing } from '../../coupons/refresh.ts'
import type { VoucherStore } from '../../coupons/voucher-store.ts'
import type { Database } from '../../db/database.ts'
import type { Topic } from '../../db/news.ts'
import type { VerifyEvent } from '../../nostr/event.ts'
import type { HandOver, LookUpAddress } from '../../outbound/lud16.ts'
import type { PreviewElsewhere, RefreshElsewhere } from '../../outbound/voucher-service.ts'
import type { ProofStore } from '../../session/proof-store.ts'
import type { AccountStore } from '../identities/account-store.ts'
import type { InboxStore } from './inbox-store.ts'
import type { TransferStore } from './transfer-store.ts'

/** A swap was postponed: its worker looks when it is due. */
export const swapPostponed: Topic<null> = { name: 'swap.postponed' }

/** Stores of an operation on transfers. */
export type TransferStores = {
  accounts: AccountStore
  transfers: TransferStore
  inbox: InboxStore
  vouchers: VoucherStore
  proofs: ProofStore
}

/**
 * Outcome of a swap at another service. `open`: unknown yet, it is tried again; `gone`: it had ended
 * before.
 */
export type Swapped =
  | 'stored'
  | 'open'
  | 'gone'
  /** `nonceSent`: the nonce was sent to the service before it refused. */
  | { refused: Refusal; nonceSent: boolean }

/** Dependencies of the operations on transfers; put together by `app/transfers.ts`. */
export type Transfers = {
  database: Database<TransferStores>
  now: Clock
  verify: VerifyEvent
  /** Dependencies of a refresh of this service's own vouchers. */
  couponService: Refreshing
  /** An Idempotency-Key that cannot be guessed. */
  newKey: () => string
  /** Other services whose vouchers are taken: manager key → refresh address. */
  services: ReadonlyMap<string, string>
  refreshElsewhere: RefreshElsewhere
  previewElsewhere: PreviewElsewhere
  lookUp: LookUpAddress
  handOver: HandOver
  /**
   * Do the work at a host for one more voucher of this sender; null when too many are under way there.
   * Refuses `rate-limited`.
   */
  leaving: <T>(sender: string, host: string, work: () => Promise<T>) => Promise<T | null>
  /** Count a voucher that comes to this name. Refuses `rate-limited`. */
  arriving: (name: string) => void
  /** Refuses `disk-low`. */
  requireDisk: () => void
  /** Swaps under way in this process, by row id of their intent: at most one of each. */
  swapping: Map<number, Promise<Swapped>>
  /** A line for the operator, without any secret. */
  warn: (event: string, fields: Record<string, string | number>) => void
}
