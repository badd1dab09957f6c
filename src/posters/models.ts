import { Type as t } from '@sinclair/typebox'
import {
  nullable,
  optional,
  request,
  sentText,
  timestamp,
  uuidPattern,
} from '../base/field-models.ts'
import { BenefitModel, PictureModel, RulesModel } from '../coupons/models.ts'

export const PosterModel = t.Object({
  id: t.String({ format: 'uuid' }),
  couponId: t.String({ format: 'uuid' }),
  label: nullable(t.String()),
  perPerson: t.Integer({ description: 'Vouchers for one key' }),
  perDay: nullable(t.Integer({ description: 'Vouchers in one day of the time zone' })),
  total: nullable(t.Integer()),
  timeZone: t.String({ description: 'IANA name' }),
  startsAt: nullable(timestamp),
  endsAt: nullable(timestamp),
  paused: t.Boolean(),
  taken: t.Integer(),
  takenToday: t.Integer(),
  createdAt: timestamp,
  updatedAt: timestamp,
})

/** Types only. `parseNewPoster` and `parsePosterChanges` check the values. */
const chosen = {
  label: optional(t.String({ description: 'At most 80 characters' })),
  perPerson: optional(t.Integer({ description: '1 to 100; unset: 1' })),
  perDay: optional(t.Integer({ description: '1 to 1 000 000' })),
  total: optional(t.Integer({ description: '1 to 1 000 000' })),
  startsAt: optional(timestamp),
  endsAt: optional(timestamp),
}

/** Body of POST /api/posters. */
export const NewPosterModel = request({
  couponId: sentText({ pattern: uuidPattern }),
  ...chosen,
  timeZone: optional(t.String({ description: 'IANA name; unset: UTC' })),
})

/** Body of PATCH /api/posters/{id}. */
export const PosterChangesModel = request({ ...chosen, paused: t.Optional(t.Boolean()) })

export const PosterStateModel = t.Union([
  t.Literal('open'),
  t.Literal('paused'),
  t.Literal('not-started'),
  t.Literal('ended'),
  t.Literal('exhausted'),
  t.Literal('today-exhausted'),
])

/** Answer of GET /api/posters/{id}. */
export const ShownPosterModel = t.Object({
  poster: t.Object({
    id: t.String({ format: 'uuid' }),
    state: PosterStateModel,
    startsAt: nullable(timestamp),
    endsAt: nullable(timestamp),
  }),
  name: t.String(),
  description: t.String(),
  image: nullable(t.String()),
  coupon: BenefitModel,
  npub: t.String({ description: "The owner's" }),
  expiresAt: nullable(timestamp),
  rules: t.Optional(RulesModel),
  picture: t.Optional(PictureModel),
})
