import { Type as t } from '@sinclair/typebox'
import {
  nullable,
  optional,
  pubkey,
  request,
  sentText,
  timestamp,
  uuidPattern,
} from '../base/field-models.ts'
import { limits } from '../base/limits.ts'
import { NostrEventModel } from '../nostr/models.ts'
import { warningCodes } from './announcement.ts'
import { money, nonce, status } from './field-models.ts'

const cap = t.Object(money, { description: 'The most it takes off' })
/** An amount as an answer shows it. */
export const MoneyModel = t.Object(money)
const product = t.String({ description: 'A product reference (d), 1 to 128 characters' })
const products = t.Array(product)

const extra = { cap: t.Optional(cap) }
const listed = { productDs: t.Optional(products), ...extra }

/** Canonical form, as answers show it. */
export const BenefitModel = t.Union([
  t.Object({ type: t.Literal('percent'), percent: t.Number(), ...listed }),
  t.Object({ type: t.Literal('fixed'), ...money, ...listed }),
  t.Object({
    type: t.Literal('multibuy'),
    buyQty: t.Integer(),
    payQty: t.Integer(),
    ...listed,
  }),
  t.Object({ type: t.Literal('buyXgetY'), buyProductD: product, giftProductD: product, ...extra }),
  t.Object({
    type: t.Literal('freeItems'),
    items: t.Array(t.Object({ d: product, qty: t.Integer() })),
    ...extra,
  }),
])

const clock = t.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description: 'HH:MM' })

/** Canonical form, as answers show it. At least one key is present. */
export const RulesModel = t.Object(
  {
    startsAt: t.Optional(timestamp),
    times: t.Optional(
      t.Object({
        timeZone: t.String({ description: 'IANA name; days and hours are read in it' }),
        windows: t.Array(
          t.Object({
            days: t.Array(t.Integer({ minimum: 1, maximum: 7 }), {
              description: 'Weekdays, 1 is Monday',
            }),
            from: clock,
            to: clock,
          }),
          {
            minItems: 1,
            maxItems: limits.ruleWindowsMax,
            description:
              'With `to` at or before `from` it ends on the next day, and belongs to the day on which it begins',
          },
        ),
      }),
    ),
    minimum: t.Optional(t.Object(money, { description: 'The least purchase' })),
    conditions: t.Optional(t.String({ description: 'Text for people' })),
  },
  { description: 'When and with which purchase it is redeemed. Absent without rules' },
)
const rules = t.Optional(RulesModel)
/** The key `picture` of a coupon. */
export const PictureModel = t.String({
  description: 'The uploaded picture: sha256, hex. Absent without one',
})
const picture = t.Optional(PictureModel)

export const DefinitionModel = t.Object({
  id: t.String({ format: 'uuid' }),
  name: t.String(),
  description: t.String(),
  image: nullable(t.String()),
  benefit: BenefitModel,
  maxUses: nullable(t.Integer()),
  minted: t.Integer(),
  claimed: t.Integer(),
  expiresAt: nullable(timestamp),
  archivedAt: nullable(timestamp),
  createdAt: timestamp,
  updatedAt: timestamp,
  rules,
  picture,
})

/** Types only. Lengths, characters and meaning are checked by `parseNewDefinition` and `parseBenefit`. */
const authored = {
  description: optional(t.String({ description: 'At most 500 characters' })),
  image: optional(t.String({ description: 'An https URL, at most 500 characters' })),
  maxUses: optional(t.Integer({ description: '1 to 1 000 000' })),
  expiresAt: optional(timestamp),
  picture: optional(
    t.String({ description: 'The hash of an uploaded picture, in place of `image`' }),
  ),
  rules: optional(
    t.Unsafe<Record<string, unknown>>(
      t.Object({}, { title: 'Rules', description: 'As in answers. null: none' }),
    ),
  ),
}
/** Any object. `parseBenefit` reads it, because its refusal names the wrong field. */
const authoredBenefit = t.Unsafe<Record<string, unknown>>(t.Object({}, { title: 'Benefit' }))

/** Body of POST /api/coupons. */
export const NewDefinitionModel = request({
  name: sentText({ description: '1 to 80 characters' }),
  benefit: authoredBenefit,
  ...authored,
})

/** Body of PATCH /api/coupons/{id}. */
export const ChangesModel = request({
  name: t.Optional(sentText({ description: '1 to 80 characters' })),
  benefit: t.Optional(authoredBenefit),
  archived: t.Optional(t.Boolean()),
  ...authored,
})

export const MinterModel = t.Object({
  pubkey,
  npub: t.String(),
  label: nullable(t.String()),
  createdAt: timestamp,
  mint: t.Optional(t.Literal(false, { description: 'Present on a key that redeems only' })),
})

/** Answer of GET /api/coupons/authorizations. */
export const AuthorizationsModel = t.Object({
  authorizations: t.Array(
    t.Object({
      npub: t.String({ description: "The merchant's" }),
      label: nullable(t.String({ description: 'What the merchant calls the caller' })),
      mint: t.Boolean({ description: 'False: the caller redeems only' }),
    }),
  ),
})

/** Body of POST /api/coupons/minters. */
export const NewMinterModel = request({
  pubkey: sentText({ description: 'npub, nprofile, hex, `nostr:` forms or a NIP-05 identifier' }),
  label: optional(t.String({ description: 'At most 80 characters' })),
  mint: t.Optional(t.Boolean({ description: 'False: it redeems only' })),
})

const voucherFields = {
  couponId: t.String({ format: 'uuid' }),
  coupon: BenefitModel,
  name: t.String(),
  description: t.String(),
  npub: t.String({ description: "The owner's" }),
  image: nullable(t.String()),
  nonce,
  expiresAt: nullable(timestamp),
  rules,
  picture,
}

/** Answer of POST /api/coupons/mint without `count`, and of a refresh. `voucher` is the signed event (kind 20402). */
export const VoucherResultModel = t.Object({ ...voucherFields, voucher: NostrEventModel })

/** Body of POST /api/coupons/mint. */
export const MintModel = request({
  couponId: sentText({ pattern: uuidPattern }),
  count: t.Optional(t.Integer({ minimum: 1, maximum: limits.mintCountMax })),
  batch: optional(
    t.Object(
      { id: t.Optional(t.String()), name: t.Optional(t.String()) },
      {
        description: 'Issued together: in a new batch with this name, or in the batch with this id',
      },
    ),
  ),
  labels: optional(
    t.Array(t.Union([t.String(), t.Null()]), {
      maxItems: limits.mintCountMax,
      description: 'A recipient for each voucher, or null',
    }),
  ),
})

export const MintAnswerModel = t.Union([
  VoucherResultModel,
  t.Object({
    vouchers: t.Array(VoucherResultModel),
    batch: t.Optional(t.Object({ id: t.String({ format: 'uuid' }), name: t.String() })),
  }),
])

/** Answer of a preview. */
export const PreviewModel = t.Object({
  status,
  ...voucherFields,
  claimedAt: nullable(timestamp),
})

/** Any text. `parseNonce` checks it, because its refusal has a code of its own. */
const sentNonce = sentText({ description: '22 characters' })

export const NonceModel = request({ nonce: sentNonce })

/** Body of POST /api/coupons/claim. */
export const ClaimModel = request({
  nonce: sentNonce,
  owner: optional(
    sentText({
      pattern: '^[0-9a-fA-F]{64}$',
      description: 'Merchant of the till, hex. The voucher of another merchant is refused',
    }),
  ),
  // Anything is taken, since a wrong one is dropped: the document shows the form that is kept.
  zapRequest: t.Optional(
    t.Unknown({
      anyOf: [{ title: 'NostrEvent' }, { type: 'string' }],
      description: 'Kind 9734, signed, or its JSON text; dropped when it is not',
    }),
  ),
  amountMsat: t.Optional(
    t.Unknown({
      type: 'integer',
      minimum: 0,
      description: 'Integer, 0 or more; dropped when it is not',
    }),
  ),
  purchase: optional(
    t.Unsafe<Record<string, unknown>>(
      t.Object({}, { title: 'Money', description: 'The purchase: `amount`, `currency`' }),
    ),
  ),
})

/** Answer of a claim. `claimed` is the status of a repeat. */
export const ClaimAnswerModel = t.Object({
  status: t.Union([t.Literal('success'), t.Literal('claimed')]),
  claimedAt: timestamp,
  zapRequestKept: t.Optional(
    t.Boolean({
      description:
        'True if the `zapRequest` was filed with the redemption, false if it was dropped. Present on a success that was sent one',
    }),
  ),
  ...voucherFields,
  voucher: NostrEventModel,
})

/** Answer of PUT /api/coupons/discovery. Warnings are in es-AR. */
export const AnnouncementModel = t.Object({
  event: NostrEventModel,
  warnings: t.Optional(
    t.Array(
      t.Object({ code: t.Union(warningCodes.map((code) => t.Literal(code))), message: t.String() }),
    ),
  ),
})

/** Any object. `parseAnnouncement` reads it, because its refusals name the reason. */
export const NewAnnouncementModel = request({
  event: t.Unsafe<Record<string, unknown>>(t.Object({}, { title: 'NostrEvent' })),
})

/** Answer of GET /api/coupons. */
export const OverviewModel = t.Object({
  coupons: t.Array(DefinitionModel),
  minters: t.Array(MinterModel),
  discovery: nullable(NostrEventModel),
})

export const ManagerModel = t.Object({ pubkey, npub: t.String() })
