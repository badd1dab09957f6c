import { type TSchema, Type as t } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import { Refusal, type RefusalCode, refusalCodes } from '../refusal.ts'

type Access = 'public' | 'signed' | 'any'

type Responses = NonNullable<DocumentDecoration['responses']>

type Documented = {
  summary: string
  access: Access
  /** Status and body of each good answer. */
  answers: Record<number, TSchema>
  /** What it refuses beyond what every route does. */
  refusals?: readonly RefusalCode[]
  /** Whether the route reads an Idempotency-Key, and whether it must be there. */
  idempotencyKey?: 'optional' | 'required'
}

export const RefusalModel = t.Object({
  error: t.String({ description: 'One sentence for people, es-AR' }),
  code: t.Union(
    refusalCodes.map((code) => t.Literal(code)),
    { description: 'Stable, for programs' },
  ),
  reason: t.Optional(t.String({ description: 'Why authentication failed' })),
  field: t.Optional(t.String()),
  retryAfter: t.Optional(t.Integer({ description: 'Seconds' })),
})

const everywhere: readonly RefusalCode[] = ['rate-limited', 'unavailable']
const authenticated: readonly RefusalCode[] = ['auth-missing']

/** The OpenAPI side of a route: what it answers and what it refuses. */
export function documented(route: Documented): { detail: DocumentDecoration } {
  const codes = [
    ...(route.refusals ?? []),
    ...(route.access === 'public' ? [] : authenticated),
    ...everywhere,
  ]
  return {
    detail: {
      summary: route.summary,
      security: security[route.access],
      parameters: route.idempotencyKey ? [keyHeader(route.idempotencyKey)] : [],
      responses: { ...answers(route.answers), ...refusals(codes) },
    },
  }
}

const security: Record<Access, NonNullable<DocumentDecoration['security']>> = {
  public: [],
  signed: [{ nostr: [] }],
  any: [{ nostr: [] }, { bearer: [] }],
}

function keyHeader(presence: 'optional' | 'required') {
  return {
    name: 'Idempotency-Key',
    in: 'header' as const,
    required: presence === 'required',
    schema: { type: 'string' as const, minLength: 8, maxLength: 255 },
  }
}

function answers(models: Record<number, TSchema>) {
  const entries = Object.entries(models).map(([status, schema]) => [
    status,
    { description: 'Good', content: { 'application/json': { schema } } },
  ])
  return Object.fromEntries(entries) as Responses
}

function refusals(codes: readonly RefusalCode[]) {
  const byStatus = Map.groupBy(codes, (code) => new Refusal(code).status)
  const entries = [...byStatus].map(([status, list]) => [
    String(status),
    {
      description: list.join(', '),
      content: { 'application/json': { schema: RefusalModel } },
    },
  ])
  return Object.fromEntries(entries) as Responses
}
