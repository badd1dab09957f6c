// The models of answers that pages show, and the parts of them that have a name here only.
import type { Authorizations } from './described/coupons.ts'
import type { Batches, Redemptions } from './described/lists.ts'
import type { Preview } from './described/vouchers.ts'

export type {
  Announcement as Announced,
  Definition,
  Minter,
  Overview,
} from './described/coupons.ts'
export type {
  Batches,
  Figures,
  Issuance,
  Issuances,
  Redemptions,
  Statistics,
  TillStatistics,
} from './described/lists.ts'
export type { Merchant, Poster, ShownPoster } from './described/shop.ts'
export type { SetUp as Manager, VoucherResult } from './described/vouchers.ts'

/** A batch with its figures, which add up like those of a coupon. */
export type Batch = Batches['batches'][number]
export type Redemption = Redemptions['redemptions'][number]
export type Authorization = Authorizations['authorizations'][number]
/** The status of a preview. */
export type VoucherStatus = Preview['status']
