import { Type as t } from '@sinclair/typebox'
import { nullable, pubkey, request, timestamp } from '../base/field-models.ts'
import { handle, listedNonce, money, phase } from './field-models.ts'
import { BenefitModel, PictureModel, RulesModel } from './models.ts'

const rules = t.Optional(RulesModel)

const label = t.String({ description: 'The recipient that the merchant named' })

/** Row of GET /api/coupons/{id}/mints. */
export const IssuanceModel = t.Object({
  handle,
  nonce: listedNonce,
  status: phase,
  expired: t.Boolean({ description: 'True if it is `minted` and past its expiry' }),
  mintedBy: pubkey,
  mintedByNpub: t.String(),
  mintedAt: timestamp,
  claimedAt: nullable(timestamp),
  voidedAt: nullable(timestamp),
  refreshedAt: nullable(timestamp),
  chain: handle,
  poster: t.Optional(
    t.String({ format: 'uuid', description: 'The poster that it was taken from' }),
  ),
  batch: t.Optional(t.String({ format: 'uuid', description: 'Its batch' })),
  label: t.Optional(label),
})

/** Query of a list in pages. `parsePage` checks the values. */
export const PageModel = request({ limit: t.Optional(t.String()), cursor: t.Optional(t.String()) })

/** Query of GET /api/coupons/{id}/mints. */
export const IssuancesAskedModel = request({
  limit: t.Optional(t.String()),
  cursor: t.Optional(t.String()),
  chain: t.Optional(
    t.String({ description: 'The handle of a voucher: its chain of refreshes, oldest first' }),
  ),
  refreshed: t.Optional(
    t.Union([t.Literal('0'), t.Literal('1')], {
      description: '`0` leaves out refreshed vouchers, so that a page may have fewer',
    }),
  ),
})

const day = t.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' })

/** Query of GET /api/coupons/stats. */
export const StatisticsAskedModel = request({
  from: t.Optional(t.String({ description: 'YYYY-MM-DD; absent: 30 days, to `to`' })),
  to: t.Optional(t.String({ description: 'YYYY-MM-DD, included; absent: today' })),
  offset: t.Optional(
    t.String({ description: 'Whole hours east of UTC, -12 to 14; absent: -3 (Argentina)' }),
  ),
  cursor: t.Optional(t.String()),
})

/** The figures of a coupon: issued = open + expired + claimed + voided. */
export const FiguresModel = t.Object({
  issued: t.Integer({ description: 'Ever minted; a refresh is no mint' }),
  open: t.Integer({ description: 'Can be redeemed' }),
  expired: t.Integer({ description: 'Expired before they were redeemed or voided' }),
  claimed: t.Integer(),
  voided: t.Integer(),
})

/** Answer of GET /api/coupons/stats. Days without counts are absent. */
export const StatisticsModel = t.Object({
  from: day,
  to: day,
  offset: t.Integer(),
  coupons: t.Array(
    t.Object({
      couponId: t.String({ format: 'uuid' }),
      figures: FiguresModel,
      days: t.Array(t.Object({ day, minted: t.Integer(), claimed: t.Integer() })),
    }),
  ),
  next: nullable(t.String({ description: 'The cursor of the next page' })),
})

/** Answer of GET /api/coupons/stats/tills. */
export const TillStatisticsModel = t.Object({
  from: day,
  to: day,
  offset: t.Integer(),
  tills: t.Array(
    t.Object({
      pubkey: nullable(pubkey),
      npub: nullable(t.String()),
      label: nullable(t.String({ description: 'The label of the minter entry' })),
      days: t.Array(t.Object({ day, claimed: t.Integer() })),
    }),
  ),
  next: nullable(t.String({ description: 'The cursor of the next page' })),
})

/** Query of DELETE /api/coupons/{id}/mints/{handle}. */
export const VoidModel = request({
  chain: t.Optional(t.Union([t.Literal('0'), t.Literal('1')])),
})

const next = nullable(t.String({ description: 'The cursor of the next page' }))

export const IssuancesModel = t.Object({ mints: t.Array(IssuanceModel), next })

/** Answer of GET /api/coupons/{id}/batches. */
export const BatchesModel = t.Object({
  batches: t.Array(
    t.Object({
      id: t.String({ format: 'uuid' }),
      name: t.String(),
      createdAt: timestamp,
      issued: t.Integer(),
      open: t.Integer(),
      expired: t.Integer(),
      claimed: t.Integer(),
      voided: t.Integer(),
    }),
  ),
  next,
})

/** Answer of GET /api/coupons/redemptions. */
export const RedemptionsModel = t.Object({
  redemptions: t.Array(
    t.Object({
      handle,
      nonce: listedNonce,
      claimedAt: timestamp,
      couponId: t.String({ format: 'uuid' }),
      name: t.String(),
      benefit: BenefitModel,
      order: nullable(t.Unknown({ description: 'The zap request as sent' })),
      orderId: nullable(t.String()),
      amountMsat: nullable(t.Integer()),
      claimedBy: nullable(pubkey),
      claimedByNpub: nullable(t.String()),
      claimedByLabel: nullable(t.String({ description: 'The label of the minter entry' })),
      unlisted: t.Optional(
        t.Boolean({ description: 'True, else absent: the key was no till of the caller then' }),
      ),
      purchase: t.Optional(t.Object(money, { description: 'Absent if the till named none' })),
      label: t.Optional(label),
    }),
  ),
  next,
})

/** Answer of GET /api/coupons/mintable. */
export const MintableModel = t.Object({
  coupons: t.Array(
    t.Object({
      id: t.String({ format: 'uuid' }),
      name: t.String(),
      description: t.String(),
      image: nullable(t.String()),
      coupon: BenefitModel,
      npub: t.String(),
      remaining: nullable(t.Integer()),
      expiresAt: nullable(timestamp),
      rules,
      picture: t.Optional(PictureModel),
    }),
  ),
})
