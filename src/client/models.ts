import type { Static } from '@sinclair/typebox'
import type * as lists from '../coupons/list-models.ts'
import type * as models from '../coupons/models.ts'
import type { MerchantModel } from '../merchants/models.ts'
import type * as posterModels from '../posters/models.ts'

// The answers of the service, from its own models.

export type Definition = Static<typeof models.DefinitionModel>
export type Minter = Static<typeof models.MinterModel>
export type Overview = Static<typeof models.OverviewModel>
export type Issuance = Static<typeof lists.IssuanceModel>
export type Issuances = Static<typeof lists.IssuancesModel>
/** A batch with its figures, which add up like those of a coupon. */
export type Batch = Static<typeof lists.BatchesModel>['batches'][number]
export type Batches = Static<typeof lists.BatchesModel>
export type Redemption = Static<typeof lists.RedemptionsModel>['redemptions'][number]
export type Redemptions = Static<typeof lists.RedemptionsModel>
/** The figures of a coupon: issued = open + expired + claimed + voided. */
export type Figures = Static<typeof lists.FiguresModel>
export type Statistics = Static<typeof lists.StatisticsModel>
export type TillStatistics = Static<typeof lists.TillStatisticsModel>
export type Authorization = Static<typeof models.AuthorizationsModel>['authorizations'][number]
/** The status of a preview. */
export type VoucherStatus = Static<typeof models.PreviewModel>['status']
export type VoucherResult = Static<typeof models.VoucherResultModel>
export type Manager = Static<typeof models.ManagerModel>
export type Announced = Static<typeof models.AnnouncementModel>
/** A key that may manage coupons on this service. */
export type Merchant = Static<typeof MerchantModel>
/** A poster as its page shows it. */
export type ShownPoster = Static<typeof posterModels.ShownPosterModel>
export type Poster = Static<typeof posterModels.PosterModel>
