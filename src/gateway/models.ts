import { Type as t } from '@sinclair/typebox'
import { limits } from '../base/limits.ts'

const list = <T extends ReturnType<typeof t.String | typeof t.Integer>>(item: T) =>
  t.Optional(t.Array(item, { maxItems: limits.filterItemsMax }))
const hex = t.String({ pattern: '^[0-9a-f]{64}$' })
const whole = t.Optional(t.Integer({ minimum: 0 }))

/** A NIP-01 filter. */
export const FilterModel = t.Object(
  {
    ids: list(hex),
    authors: list(hex),
    kinds: list(t.Integer({ minimum: 0, maximum: 65_535 })),
    since: whole,
    until: whole,
    limit: whole,
    search: t.Optional(t.String({ maxLength: limits.filterSearchCharsMax })),
  },
  {
    additionalProperties: t.Array(t.String(), { maxItems: limits.filterItemsMax }),
    description: 'Any other key is `#` and one letter: values of that tag',
  },
)

const status = (...names: string[]) => t.Union(names.map((name) => t.Literal(name)))

export const PublicationModel = t.Object({
  id: t.String(),
  status: status('pending', 'delivered', 'partial', 'failed'),
  relays: t.Array(
    t.Object({
      url: t.String(),
      status: status('pending', 'delivered', 'refused', 'expired'),
      attempts: t.Integer(),
      lastError: t.Union([t.String(), t.Null()]),
    }),
  ),
})
