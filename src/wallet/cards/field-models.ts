import { Type as t } from '@sinclair/typebox'

export const uuid = t.String({ format: 'uuid' })
export const amount = t.Union([t.Integer(), t.String()], {
  description: 'In the smallest unit; text above 2^53 − 1',
})
