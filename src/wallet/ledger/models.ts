import { Type as t } from '@sinclair/typebox'

const amount = t.Union([t.Integer(), t.String({ pattern: '^-?\\d+$' })], {
  description: 'In the smallest unit; a string beyond 2^53 − 1',
})

export const BalancesModel = t.Object({
  pubkey: t.String(),
  npub: t.String(),
  balances: t.Array(
    t.Object({
      token: t.String(),
      decimals: t.Integer({ description: 'One token is 10^decimals' }),
      issuer: t.String({ description: 'npub' }),
      amount,
    }),
  ),
  movements: t.Array(
    t.Object({
      id: t.String({ description: 'Of the event that started it' }),
      token: t.String(),
      amount,
      counterparty: t.String({ description: 'npub' }),
      memo: t.Union([t.String(), t.Null()]),
      at: t.Integer({ description: 'Unix seconds' }),
    }),
    { description: 'The last ones, newest first' },
  ),
})
