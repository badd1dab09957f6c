import { type TSchema, Type as t } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import { type RefusalCode, refusalCodes } from '../base/refusal.ts'

/** Who may call a route. `state`: supervisors; never limited, and answered while the service drains. */
type Access = 'state' | 'public' | 'signed' | 'any'

type Documented = {
  summary: string
  access: Access
  /** A body that the operation reads itself: for the document only. */
  body?: TSchema
  /** Status and body of each good answer. */
  answers: Record<number, TSchema>
  /** Headers of the good answers, with what they say. */
  headers?: Record<string, string>
  /** What it refuses beyond what every route of its access and method does. */
  refusals?: readonly RefusalCode[]
  /** Codes that a good answer may carry: what was asked for came to nothing, and that is the answer. */
  told?: readonly RefusalCode[]
  /** A GET that does something, as LNURL has it: no HEAD is answered like it. */
  acts?: true
  /** Carries a request over its address's budget: `carry` is the first thing that the route does. */
  carrier?: 'nonce' | 'tap' | 'k1'
  /** Whether the route reads an Idempotency-Key, and whether it must be there. */
  idempotencyKey?: 'optional' | 'required'
}

/** What a route says of itself, as Elysia keeps it; `openapi.ts` makes the document from it. */
export type RouteDetail = DocumentDecoration & {
  'x-refusals': readonly RefusalCode[]
  'x-told'?: readonly RefusalCode[]
  'x-body'?: TSchema
  'x-acts'?: true
  /** Not for the document: the server asks for it. */
  'x-carrier'?: 'authorization' | 'nonce' | 'tap' | 'k1'
}

export const RefusalModel = t.Object({
  error: t.String({ description: 'One sentence for people, es-AR' }),
  code: t.Union(
    refusalCodes.map((code) => t.Literal(code)),
    { description: 'Stable, for programs' },
  ),
  reason: t.Optional(t.String({ description: 'Why authentication failed' })),
  field: t.Optional(t.String({ description: 'What is wrong, as a dotted path' })),
  retryAfter: t.Optional(t.Integer({ description: 'Seconds' })),
  setup: t.Optional(t.Literal(true, { description: 'A setup code would let the caller in' })),
})

/** The same in the envelope of the wallet gateway. */
export const GatewayRefusalModel = t.Object({
  status: t.Literal('ERROR'),
  reason: RefusalModel.properties.error,
  code: RefusalModel.properties.code,
  field: RefusalModel.properties.field,
  retryAfter: RefusalModel.properties.retryAfter,
})

/** The same in the envelope of the identity routes. */
export const IdentityRefusalModel = t.Object({
  status: t.Optional(t.Literal(false, { description: 'Of a nonce that cannot be used' })),
  success: t.Literal(false),
  reason: t.String({ description: 'One sentence: English where clients know it, else es-AR' }),
  code: RefusalModel.properties.code,
  field: RefusalModel.properties.field,
  retryAfter: RefusalModel.properties.retryAfter,
})

/** The body of an answer that is not JSON; of several media types, by comma, it is one. */
export function textModel(contentMediaType: string, description: string): TSchema {
  return t.String({ contentMediaType, description })
}

const busy: readonly RefusalCode[] = ['shutting-down', 'rate-limited', 'overloaded', 'unavailable']
/** A signature is used up by a write, whatever the request then comes to. */
const signed: readonly RefusalCode[] = [
  ...busy,
  'auth-missing',
  'auth-too-large',
  'auth-malformed',
  'auth-expired',
  'auth-url-mismatch',
  'auth-origin-unknown',
  'auth-replay',
  'clock-behind',
]
const refused: Record<Access, readonly RefusalCode[]> = {
  state: [],
  public: busy,
  signed,
  any: [...signed, 'auth-session-expired', 'auth-session-invalid'],
}

const security: Record<Access, NonNullable<DocumentDecoration['security']>> = {
  state: [],
  public: [],
  signed: [{ nostr: [] }],
  any: [{ nostr: [] }, { bearer: [] }],
}

/** The OpenAPI side of a route: what it answers and what it refuses. */
export function documented(route: Documented): { detail: RouteDetail } {
  const carrier = security[route.access].length > 0 ? 'authorization' : route.carrier
  return {
    detail: {
      summary: route.summary,
      security: security[route.access],
      parameters: route.idempotencyKey ? [keyHeader(route.idempotencyKey)] : [],
      responses: answers(route.answers, route.headers),
      ...(route.body && { 'x-body': route.body }),
      ...(route.told && { 'x-told': route.told }),
      ...(route.acts && { 'x-acts': route.acts }),
      ...(carrier && { 'x-carrier': carrier }),
      'x-refusals': [...refused[route.access], ...(route.refusals ?? [])],
    },
  }
}

function keyHeader(presence: 'optional' | 'required') {
  return {
    name: 'Idempotency-Key',
    in: 'header' as const,
    required: presence === 'required',
    description: 'Chosen by the caller, not to be guessed; the same request again, the same answer',
    schema: { type: 'string' as const, minLength: 8, maxLength: 255, pattern: '^[!-~]+$' },
  }
}

function answers(models: Record<number, TSchema>, told: Record<string, string> = {}) {
  const described = Object.entries(told).map(([name, description]) => {
    return [name, { description, schema: { type: 'string' as const } }] as const
  })
  const headers = described.length > 0 && { headers: Object.fromEntries(described) }
  const entries = Object.entries(models).map(([status, schema]) => {
    if (schema.type === 'null') return [status, { description: 'Done, without a body', ...headers }]
    const media: string = schema.contentMediaType ?? 'application/json'
    const content = Object.fromEntries(media.split(', ').map((one) => [one, { schema }]))
    return [status, { description: 'Done', ...headers, content }]
  })
  return Object.fromEntries(entries) as NonNullable<DocumentDecoration['responses']>
}
