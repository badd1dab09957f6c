import assert from 'node:assert/strict'
import { type TSchema, Type as t } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import { limits } from '../base/limits.ts'
import type { RefusalCode } from '../base/refusal.ts'
import type { Envelope } from './envelope.ts'

/** The callers of a route. `state`: supervisors. `metrics`: as `public`, but readers of metrics count as supervisors. */
type Access = 'state' | 'metrics' | 'public' | 'signed' | 'any'

/** What the routes of an instance have in common. */
type Feature = {
  /** The section of the OpenAPI document. */
  tag: string
  /** Default: the service's own. */
  envelope?: Envelope
  /** Paths that belong to the feature with all below them: a 404 there has its envelope. */
  paths?: readonly string[]
  /** The parameters of its paths, for the document. */
  parameters?: Record<string, string>
}

type Documented = {
  summary: string
  access: Access
  /** The section of the document, where it is not that of the feature. */
  tag?: string
  /** Longer bodies are refused; default: `limits.bodyBytesMax`. */
  bodyBytesMax?: number
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
  /** Refusals of a credential that nobody was given: failures of its sender. */
  guesses?: readonly RefusalCode[]
  /** Refusals of a credential that holds: what others do behind the address does not change them. */
  holds?: readonly RefusalCode[]
  /** Answered while the service drains, too. */
  whileDraining?: true
  /** Whether the route reads an Idempotency-Key, and whether it must be there. */
  idempotencyKey?: 'optional' | 'required'
}

/** The rules of a route for the server; none of them is for the document. */
export type RouteRules = {
  /** The Authorization schemes it takes, as in WWW-Authenticate; null: it asks nobody who he is. */
  schemes: string | null
  bodyBytesMax: number
  carrier: 'authorization' | 'nonce' | 'tap' | 'k1' | null
  guesses: readonly RefusalCode[]
  holds: readonly RefusalCode[]
  supervision: 'always' | 'metrics' | null
  whileDraining: boolean
  acts: boolean
}

/** The declaration of a route, as Elysia keeps it; `openapi.ts` makes the document from it. */
export type RouteDetail = DocumentDecoration & {
  'x-feature'?: Feature
  'x-rules': RouteRules
  'x-refusals': readonly RefusalCode[]
  'x-told'?: readonly RefusalCode[]
  'x-body'?: TSchema
}

/** The declaration of an instance, to be spread into its options; its routes take it over. */
export function feature(shared: Feature) {
  return { detail: { tags: [shared.tag], 'x-feature': shared } }
}

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
  metrics: busy,
  public: busy,
  signed,
  any: [...signed, 'auth-session-expired', 'auth-session-invalid'],
}

const schemes: Record<Access, Record<string, string>> = {
  state: {},
  metrics: {},
  public: {},
  signed: { nostr: 'Nostr' },
  any: { nostr: 'Nostr', bearer: 'Bearer' },
}

const supervisions: Partial<Record<Access, RouteRules['supervision']>> = {
  state: 'always',
  metrics: 'metrics',
}

/** The declaration of a route: what it answers and refuses, and the rules that the server keeps for it. */
export function documented(route: Documented): { detail: RouteDetail } {
  const refusals = [...refused[route.access], ...(route.refusals ?? [])]
  const verdicts = [...(route.guesses ?? []), ...(route.holds ?? [])]
  assert(verdicts.every((code) => [...refusals, ...(route.told ?? [])].includes(code)))
  return {
    detail: {
      summary: route.summary,
      ...(route.tag && { tags: [route.tag] }),
      security: Object.keys(schemes[route.access]).map((name) => ({ [name]: [] })),
      parameters: route.idempotencyKey ? [keyHeader(route.idempotencyKey)] : [],
      responses: answers(route.answers, route.headers),
      ...(route.body && { 'x-body': route.body }),
      ...(route.told && { 'x-told': route.told }),
      'x-refusals': refusals,
      'x-rules': rulesOf(route),
    },
  }
}

function rulesOf(route: Documented): RouteRules {
  const taken = Object.values(schemes[route.access])
  const carrier = taken.length > 0 ? 'authorization' : route.carrier
  return {
    schemes: taken.length > 0 ? taken.join(', ') : null,
    bodyBytesMax: route.bodyBytesMax ?? limits.bodyBytesMax,
    carrier: carrier ?? null,
    guesses: route.guesses ?? [],
    holds: route.holds ?? [],
    supervision: supervisions[route.access] ?? null,
    whileDraining: route.whileDraining ?? false,
    acts: route.acts ?? false,
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
