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

/** The key `nonce` of a row in a list. Clients of the La Crypta panel show it, and void by it. */
export const listedNonce = t.String({
  pattern: noncePattern,
  description: 'The handle again, for clients that void by `nonce`. Nothing can be spent with it',
})

const phases = [
  t.Literal('minted'),
  t.Literal('claimed'),
  t.Literal('refreshed'),
  t.Literal('voided'),
] as const
export const phase = t.Union([...phases])
export const status = t.Union([...phases, t.Literal('expired')])
