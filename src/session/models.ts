import { Type as t } from '@sinclair/typebox'
import { pubkey } from '../base/field-models.ts'

export const SessionModel = t.Object({
  token: t.String({ description: 'For `Authorization: Bearer`' }),
  pubkey,
  expiresAt: t.Integer({ description: 'Unix seconds, 12 hours ahead' }),
})
