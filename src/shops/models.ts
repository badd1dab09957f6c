import { Type as t } from '@sinclair/typebox'
import { nullable, optional, request } from '../base/field-models.ts'
import { limits } from '../base/limits.ts'
import { shopColors } from './color.ts'

const color = t.Union(
  shopColors.map((one) => t.Literal(one)),
  { description: 'The pages have a legible shade of each' },
)

const picture = t.String({ description: 'The logo: an uploaded picture, by its sha256 (hex)' })

/** Settings of the caller's shop. */
export const ShopModel = t.Object({
  name: nullable(t.String()),
  color: nullable(color),
  picture: nullable(picture),
  onlyAuthorizedTills: t.Boolean({ description: 'Only tills of the owner and its minters redeem' }),
})

/** A shop as anyone reads it. */
export const PublicShopModel = t.Object({
  npub: t.String(),
  name: nullable(t.String()),
  color: nullable(color),
  picture: nullable(picture),
})

export const ShopChangesModel = request({
  name: optional(t.String({ description: `1 to ${limits.nameCharsMax} characters; null clears` })),
  color: optional(t.String({ description: shopColors.join(', ') })),
  picture: optional(t.String({ description: 'The hash of an uploaded picture; null clears' })),
  onlyAuthorizedTills: t.Optional(t.Boolean()),
})
