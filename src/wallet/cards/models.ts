import { Type as t } from '@sinclair/typebox'
import { sentText } from '../../base/field-models.ts'

/** Parameters that a tag puts into its address. */
export const TapModel = t.Object({
  p: t.Optional(sentText({ description: '32 hex digits' })),
  c: t.Optional(sentText({ description: '16 hex digits' })),
})
