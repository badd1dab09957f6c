import { type TSchema, Type as t } from '@sinclair/typebox'
import {
  authReasonOf,
  authReasons,
  type Refusal,
  readyCauses,
  refusalCodes,
  sentenceOf,
} from '../base/refusal.ts'

/** The form of a refusal that the clients of a feature read. */
export type Envelope = {
  /** The prefix of its examples and of its model in the OpenAPI document. */
  name: string
  model: TSchema
  /** The JSON of a body. `schemes` are the Authorization schemes of the route, null for none. */
  bodyOf(refusal: Refusal, schemes: string | null): object
}

export const RefusalModel = t.Object({
  error: t.String({ description: 'One sentence for people, es-AR' }),
  code: t.Union(
    refusalCodes.map((code) => t.Literal(code)),
    { description: 'Stable, for programs' },
  ),
  reason: t.Optional(
    t.Union(
      authReasons.map((reason) => t.Literal(reason)),
      { description: 'Why authentication failed' },
    ),
  ),
  cause: t.Optional(
    t.Union(
      readyCauses.map((cause) => t.Literal(cause)),
      { description: 'Why the service is not ready' },
    ),
  ),
  field: t.Optional(t.String({ description: 'What is wrong, as a dotted path' })),
  retryAfter: t.Optional(t.Integer({ description: 'Seconds' })),
  setup: t.Optional(t.Literal(true, { description: 'A setup code would let the caller in' })),
})

/** The same in the envelope of the wallet gateway. */
const GatewayRefusalModel = t.Object({
  status: t.Literal('ERROR'),
  reason: RefusalModel.properties.error,
  code: RefusalModel.properties.code,
  field: RefusalModel.properties.field,
  retryAfter: RefusalModel.properties.retryAfter,
})

/** The service's own envelope. Paths of no feature have it, too. */
export const serviceEnvelope: Envelope = {
  name: '',
  model: RefusalModel,
  bodyOf(refusal, schemes) {
    const { code, detail } = refusal
    const reason = code === 'too-large' && schemes ? 'too-large' : authReasonOf(refusal)
    return { error: sentenceOf(refusal), code, reason, ...detail }
  },
}

/** The envelope of the wallet gateway: LNURL's `status` and `reason` (LUD-06). */
export const gatewayEnvelope: Envelope = {
  name: 'gateway',
  model: GatewayRefusalModel,
  bodyOf(refusal) {
    const { code, detail } = refusal
    return { status: 'ERROR', reason: sentenceOf(refusal), code, ...detail }
  },
}
