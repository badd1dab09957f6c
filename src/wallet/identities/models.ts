import { Type as t } from '@sinclair/typebox'

export const NewNonceModel = t.Object({
  success: t.Literal(true),
  nonce: t.String({ description: 'Lets somebody register one identity' }),
})

export const OpenNonceModel = t.Object({ status: t.Literal(true) })

const pubkey = t.String({ pattern: '^[0-9a-f]{64}$' })

export const RegisteredModel = t.Object({
  success: t.Literal(true),
  id: t.String({ format: 'uuid' }),
  pubkey,
})

export const NamesModel = t.Object({
  names: t.Record(t.String(), pubkey, { description: 'At most one name, in lower case' }),
  relays: t.Record(t.String(), t.Array(t.String()), { description: 'By public key' }),
})

const sentText = t.Optional(t.String({ error: 'text expected' }))

export const NameModel = t.Object({ name: sentText }, { additionalProperties: true })

export const PaymentModel = t.Object(
  { amount: sentText, comment: sentText, nostr: sentText },
  { additionalProperties: true },
)

export const PayModel = t.Object(
  {
    tag: t.Literal('payRequest'),
    callback: t.String({ description: 'On this service' }),
    minSendable: t.Integer({ description: 'Millisatoshi' }),
    maxSendable: t.Integer({ description: 'Millisatoshi; 1 when the holder has no wallet' }),
    metadata: t.String({ description: 'JSON' }),
    allowVouchers: t.Boolean(),
    accountPubKey: pubkey,
    federationId: t.String(),
  },
  { additionalProperties: true, description: 'And whatever else the holder registered' },
)

export const InvoiceModel = t.Object(
  {},
  { additionalProperties: true, description: 'What the wallet answers, as it stands' },
)

export const UsernameModel = t.Object({
  status: t.Literal('OK'),
  username: t.String(),
  federationId: t.String(),
})
