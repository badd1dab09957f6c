import { Type as t } from '@sinclair/typebox'

/** What a tag puts into its address. */
export const TapModel = t.Object({
  p: t.Optional(t.String({ description: '32 hex digits', error: 'text expected' })),
  c: t.Optional(t.String({ description: '16 hex digits', error: 'text expected' })),
})
