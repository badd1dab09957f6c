import { Type as t } from '@sinclair/typebox'

const noncePattern = '^[A-Za-z0-9_-]{22}$'
export const nonce = t.String({
  pattern: noncePattern,
  description: 'Bearer credential of a voucher',
})
export const handle = t.String({
  pattern: noncePattern,
  description: 'Names a voucher, cannot spend it',
})

const currency = t.Union([t.Literal('ARS'), t.Literal('USD'), t.Literal('SAT')])
export const money = { amount: t.Number({ exclusiveMinimum: 0 }), currency }

export const status = t.Union([
  t.Literal('minted'),
  t.Literal('claimed'),
  t.Literal('refreshed'),
  t.Literal('voided'),
  t.Literal('expired'),
])
