import { Type as t } from '@sinclair/typebox'
import { pubkey, sentText } from '../../base/field-models.ts'
import { NostrEventModel } from '../../nostr/models.ts'

export const NewNonceModel = t.Object({
  success: t.Literal(true),
  nonce: t.String({ description: 'Lets somebody register one identity' }),
})

/** Answer of GET /api/signup. */
export const SignupModel = t.Object({
  enabled: t.Literal(true, { description: 'Anybody may register a name' }),
  milisatoshis: t.Literal(0, { description: 'The price' }),
})

/** Answer of GET /api/signup/request. */
export const SignupEventModel = t.Object({
  requirePayment: t.Literal(false, { description: 'A name costs nothing' }),
  data: t.Object({ buyEvent: NostrEventModel }, { description: 'For POST /api/nonce' }),
})

export const OpenNonceModel = t.Object({ status: t.Literal(true) })

export const RegisteredModel = t.Object({
  success: t.Literal(true),
  id: t.String({ format: 'uuid' }),
  pubkey,
})

export const NamesModel = t.Object({
  names: t.Record(t.String(), pubkey, { description: 'At most one name, in lower case' }),
  relays: t.Record(t.String(), t.Array(t.String()), { description: 'By public key' }),
})

const queryText = t.Optional(sentText({}))

export const NameModel = t.Object({ name: queryText }, { additionalProperties: true })

export const PaymentModel = t.Object(
  { amount: queryText, comment: queryText, nostr: queryText },
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
