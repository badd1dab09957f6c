import { Type as t } from '@sinclair/typebox'
import { pubkey } from '../../../base/field-models.ts'
import { amount, uuid } from '../field-models.ts'

const LimitModel = t.Object({
  name: t.String(),
  description: t.String(),
  token: t.String(),
  amount,
  delta: t.Integer({ description: 'Seconds; 0: in one payment' }),
})

export const CardDataModel = t.Record(
  t.String(),
  t.Object({ design: t.Object({ uuid, name: t.String(), description: t.String() }) }),
)

export const CardConfigModel = t.Object({
  'trusted-merchants': t.Array(t.Object({ pubkey })),
  cards: t.Record(
    t.String(),
    t.Object({
      name: t.String(),
      description: t.String(),
      status: t.Union([t.Literal('ENABLED'), t.Literal('DISABLED')]),
      limits: t.Array(LimitModel, { description: 'Sums that the card may spend' }),
    }),
  ),
})
