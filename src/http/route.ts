import { type TSchema, Type as t } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import type { PathPart } from '../base/field-models.ts'
import { limits } from '../base/limits.ts'
import type { RefusalCode } from '../base/refusal.ts'
import type { Envelope } from './envelope.ts'

/**
 * The callers of a route. `state` is for supervisors. Readers of `metrics` count as supervisors. An `optional`
 * route answers everybody, and learns the key of those who authenticate.
 */
type Access = 'state' | 'metrics' | 'public' | 'optional' | 'signed' | 'any'

/** Declarations that the routes of an instance share. */
type Feature = {
  /** The section of the OpenAPI document. */
  tag: string
  /** The service's own by default. */
  envelope?: Envelope
  /** Paths of the feature. A 404 on one of them or below has its envelope. */
  paths?: readonly string[]
  /** The parameters of its paths, for the document. */
  parameters?: Record<string, PathPart>
}

type SentHeader = { description: string; required?: true; pattern: string }

type Declaration = {
  summary: string
  access: Access
  /** The section of the document, where it is not that of the feature. */
  tag?: string
  /** Longer bodies are refused. `limits.bodyBytesMax` by default. */
  bodyBytesMax?: number
  /** A body that the operation parses itself. This model is for the document only. */
  body?: TSchema
  /** Status and body of each good answer. */
  answers: Record<number, TSchema>
  /** Headers of the good answers, each with its description. */
  headers?: Record<string, string>
  /** Keys of the query that it refuses to go without. Their model has them optional: their absence has a code of its own. */
  needs?: readonly string[]
  /** Headers that the route reads, for the document. */
  sends?: Record<string, SentHeader>
  /** Refusals beyond `guesses`, `holds` and those of every route with its access and method. */
  refusals?: readonly RefusalCode[]
  /** Codes that an answer with status 200 may carry. */
  told?: readonly RefusalCode[]
  /** A GET with an effect, as in LNURL. It answers no HEAD. */
  acts?: true
  /** The credential that carries a request over the budget of its address. The route calls `carry` first. */
  carrier?: 'nonce' | 'tap' | 'k1'
  /** Refusals of a credential that does not exist. They count as guesses of the sender. */
  guesses?: readonly RefusalCode[]
  /** Refusals of a valid credential. Mistakes of others behind the address do not change them. */
  holds?: readonly RefusalCode[]
  /** The route answers while the service drains, too. */
  whileDraining?: true
  /** A request to upgrade becomes a WebSocket. */
  upgrades?: true
  /** The route reads an Idempotency-Key, which may be required. */
  idempotencyKey?: 'optional' | 'required'
}

/** The rules of a route for the server. The document has none of them. */
export type RouteRules = {
  /** The Authorization schemes of the route, as in WWW-Authenticate. Null if it needs no authentication. */
  schemes: string | null
  bodyBytesMax: number
  carrier: 'authorization' | 'nonce' | 'tap' | 'k1' | null
  guesses: readonly RefusalCode[]
  holds: readonly RefusalCode[]
  supervision: 'always' | 'metrics' | null
  whileDraining: boolean
  upgrades: boolean
  acts: boolean
}

/** The declaration of a route as Elysia keeps it. The document is made from it. */
export type RouteDetail = DocumentDecoration & {
  'x-feature'?: Feature
  'x-rules': RouteRules
  'x-refusals': readonly RefusalCode[]
  'x-told'?: readonly RefusalCode[]
  'x-body'?: TSchema
  'x-needs'?: readonly string[]
}

/** The declaration of an instance, to be spread into its options. Its routes inherit it. */
export function feature(shared: Feature) {
  return { detail: { tags: [shared.tag], 'x-feature': shared } }
}

/** The body of an answer that is not JSON. Several media types, joined by commas, are alternatives. */
export function textModel(contentMediaType: string, description: string): TSchema {
  return t.String({ contentMediaType, description })
}

const busy: readonly RefusalCode[] = ['shutting-down', 'rate-limited', 'overloaded', 'unavailable']
/** A signed request uses up its signature with a write, so that each one may refuse `clock-behind`. */
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
  optional: busy,
  signed,
  any: [...signed, 'auth-session-expired', 'auth-session-invalid'],
}

const schemes: Record<Access, Record<string, string>> = {
  state: {},
  metrics: {},
  public: {},
  optional: {},
  signed: { nostr: 'Nostr' },
  any: { nostr: 'Nostr', bearer: 'Bearer' },
}

const supervisions: Partial<Record<Access, RouteRules['supervision']>> = {
  state: 'always',
  metrics: 'metrics',
}

/** The declaration of a route: its answers, its refusals, and its rules for the server. */
export function route(declared: Declaration): { detail: RouteDetail } {
  const { refusals = [], guesses = [], holds = [], told = [] } = declared
  const judged = [...guesses, ...holds].filter((code) => !told.includes(code))
  return {
    detail: {
      summary: declared.summary,
      ...(declared.tag && { tags: [declared.tag] }),
      security: securityOf(declared.access),
      parameters: [
        ...(declared.idempotencyKey ? [keyHeader(declared.idempotencyKey)] : []),
        ...Object.entries(declared.sends ?? {}).map(sentHeader),
      ],
      responses: answers(declared.answers, declared.headers),
      ...(declared.body && { 'x-body': declared.body }),
      ...(declared.needs && { 'x-needs': declared.needs }),
      ...(declared.told && { 'x-told': declared.told }),
      'x-refusals': [...refused[declared.access], ...judged, ...refusals],
      'x-rules': rulesOf(declared),
    },
  }
}

/** The alternatives of OpenAPI. An empty one stands for a request without authentication. */
function securityOf(access: Access): Record<string, string[]>[] {
  const named = Object.keys(schemes[access === 'optional' ? 'any' : access])
  const alternatives = named.map((name) => ({ [name]: [] }))
  return access === 'optional' ? [{}, ...alternatives] : alternatives
}

function rulesOf(declared: Declaration): RouteRules {
  const taken = Object.values(schemes[declared.access])
  const carrier = taken.length > 0 ? 'authorization' : declared.carrier
  return {
    schemes: taken.length > 0 ? taken.join(', ') : null,
    bodyBytesMax: declared.bodyBytesMax ?? limits.bodyBytesMax,
    carrier: carrier ?? null,
    guesses: declared.guesses ?? [],
    holds: declared.holds ?? [],
    supervision: supervisions[declared.access] ?? null,
    whileDraining: declared.whileDraining ?? false,
    upgrades: declared.upgrades ?? false,
    acts: declared.acts ?? false,
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

function sentHeader([name, { description, required, pattern }]: [string, SentHeader]) {
  const schema = { type: 'string' as const, pattern }
  return { name, in: 'header' as const, required: required ?? false, description, schema }
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
