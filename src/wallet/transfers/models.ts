import { Type as t } from '@sinclair/typebox'
import { nullable, optional, request, sentText } from '../../base/field-models.ts'
import { limits } from '../../base/limits.ts'
import { BenefitModel } from '../../coupons/models.ts'
import { NostrEventModel } from '../../nostr/models.ts'

/** The event is read by `parseOffer`, which checks that it is the nonce's. */
const sentVoucher = t.Unsafe<Record<string, unknown>>(t.Object({}, { title: 'NostrEvent' }))
const comment = optional(
  sentText({ description: `For the holder, at most ${limits.commentCharsMax} characters` }),
)

export const ArrivalModel = request({
  action: t.Literal('voucher'),
  nonce: sentText({ description: 'Of the voucher; known to its sender' }),
  voucher: sentVoucher,
  comment,
})

export const ReceptionModel = t.Union([
  t.Object({ status: t.Literal('ACCEPTED') }),
  t.Object({ status: t.Literal('ERROR'), reason: t.String(), code: t.String() }),
])

export const TransferModel = request({
  nonce: sentText({ description: '22 characters for vouchers of this service' }),
  voucher: optional(sentVoucher),
  to: sentText({ description: 'A lightning address (LUD-16)' }),
  comment,
})

export const SendingModel = t.Object({
  status: t.Union([
    t.Literal('SENT'),
    t.Literal('NOT_SENT'),
    t.Literal('MOVED'),
    t.Literal('UNKNOWN'),
  ]),
  reason: t.Optional(t.String({ description: 'One sentence for people' })),
  code: t.Optional(t.String()),
})

export const InboxModel = t.Object({
  vouchers: t.Array(
    t.Object({
      id: t.String({ description: 'The handle of its nonce' }),
      status: t.Union(
        ['minted', 'claimed', 'refreshed', 'voided', 'expired', 'unknown'].map((one) =>
          t.Literal(one),
        ),
      ),
      receivedAt: t.Integer(),
      comment: nullable(t.String()),
      couponId: t.String(),
      coupon: BenefitModel,
      name: t.String(),
      description: t.String(),
      image: nullable(t.String()),
      npub: t.String({ description: "The merchant's" }),
      service: nullable(
        t.Object(
          {
            npub: t.String({ description: 'The key that signed the voucher' }),
            url: nullable(
              t.String({
                description: 'Its address: `/api/coupons/preview` and the others follow',
              }),
            ),
          },
          { description: 'Where it is redeemed. null: here' },
        ),
      ),
      expiresAt: nullable(t.Integer()),
      rules: t.Optional(
        t.Unknown({ description: 'As in the voucher; another service may state others' }),
      ),
      sealed: t.Object({
        pubkey: t.String({ description: 'A key made for this voucher alone' }),
        payload: t.String({ description: 'NIP-44 from that key to the holder' }),
      }),
    }),
  ),
})

/** Content of the payload of `sealed`. */
export const SealedContentModel = t.Object({ nonce: t.String(), voucher: NostrEventModel })

export const PreferencesModel = t.Object(
  { allowVouchers: t.Boolean({ error: 'true or false expected' }) },
  { additionalProperties: true },
)
