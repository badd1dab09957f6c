import { Type as t } from '@sinclair/typebox'

export const NewNonceModel = t.Object({
  success: t.Literal(true),
  nonce: t.String({ description: 'Lets somebody register one identity' }),
})
