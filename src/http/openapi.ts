import type { TSchema } from '@sinclair/typebox'
import type { PathPart } from '../base/field-models.ts'
import { nextTurn } from '../base/next-turn.ts'
import {
  httpStatusOf,
  Refusal,
  type RefusalCode,
  refusalCodes,
  sentenceOf,
} from '../base/refusal.ts'
import { type Envelope, serviceEnvelope } from './envelope.ts'
import { explainFields, type FieldWords } from './openapi-fields.ts'
import { type CatalogueRow, illustrate, type Reference } from './reference.ts'
import type { RouteDetail } from './route.ts'

/** JSON Schema 2020-12, as far as TypeBox writes it. */
export type Schema = {
  $ref?: string
  type?: string
  title?: string
  description?: string
  const?: unknown
  enum?: unknown[]
  pattern?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  allOf?: Schema[]
  /** The form of other keys than those of `properties`; false allows none. */
  additionalProperties?: Schema | boolean
  format?: string
  default?: unknown
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
}

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Schema
  example?: string
}

type Media = { schema: Schema; example?: unknown; examples?: Record<string, { $ref: string }> }

export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security: Record<string, string[]>[]
  parameters: Parameter[]
  requestBody?: { required: true; content: Record<string, Media> }
  responses: Record<string, Response>
  /** Every refusal code of this operation, in order of precedence. */
  'x-refusals': RefusalCode[]
  /** Codes that a good answer may carry. */
  'x-told'?: RefusalCode[]
}

type Response = {
  description: string
  headers?: Record<string, { description: string; schema: Schema }>
  /** Absent where there is no body. */
  content?: Record<string, Media>
}

/** An OpenAPI 3.1 document with what this service writes into one. */
export type ApiDocument = {
  openapi: '3.1.0'
  info: {
    title: string
    version: string
    description: string
    contact: object
    license: object
  }
  servers: { url: string }[]
  tags: { name: string; description: string; 'x-displayName'?: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Schema>
    examples: Record<string, { value: unknown }>
    securitySchemes: Record<string, { description: string } & Record<string, string>>
  }
  /** Every code of the operations: its statuses, its sentence on the wire, and in English what it means. */
  'x-codes': Record<string, { statuses: string; sentence: string; meaning?: string }>
}

/** A route as Elysia keeps it. */
type DescribedRoute = { method: string; path: string; hooks: Hooks }

type Hooks = { detail?: RouteDetail; body?: TSchema; query?: TSchema }

/** Parts of the document that no route declares. */
export type DocumentParts = {
  version: string
  /** The tags of the routes, in the order of the document. */
  sections: Record<string, string>
  securitySchemes: ApiDocument['components']['securitySchemes']
  /** Schemas that become references. The name is the key without the ending `Model`. */
  models: Record<string, TSchema>
  words: FieldWords
  /** The page of an operation such as `GET /api/coupons/{id}`, or undefined. */
  reference: (name: string) => Reference | undefined
  /** The rows of the catalogue of errors, by code. */
  catalogue: ReadonlyMap<string, CatalogueRow>
}

/** The document of these routes. Making it takes long, so others are served meanwhile. */
export async function describeApi(
  routes: readonly DescribedRoute[],
  { version, sections, securitySchemes, models, words, reference, catalogue }: DocumentParts,
): Promise<ApiDocument> {
  const envelopes = [...new Set(routes.map(({ hooks }) => envelopeOf(hooks)))]
  // Compared by text, because Elysia and TypeBox copy a schema when they decorate it.
  const named = [
    ...Object.entries(models).map(([name, model]) => [name.replace(/Model$/, ''), model] as const),
    ...envelopes.map((envelope) => [modelName(envelope), envelope.model] as const),
  ].map(([name, model]) => [JSON.stringify(model), name] as const)
  const names = new Map(named)
  const paths: ApiDocument['paths'] = {}
  for (const { method, path, hooks } of routes) {
    const pattern = path.replace(/(?<=.)\/$/, '').replace(/:(\w+)/g, '{$1}')
    paths[pattern] ??= {}
    const operation = describeOperation(method, pattern, hooks, names)
    const name = `${method} ${pattern}`
    paths[pattern][method.toLowerCase()] = illustrate(operation, pattern, reference(name))
    await nextTurn()
  }
  const schemas = named.map(
    ([text, name]) => [name, nameParts(plainRecord(JSON.parse(text)), names)] as const,
  )
  const written = JSON.stringify([paths, schemas])
  const used = schemas.filter(([name]) => written.includes(`"${refTo(name)}"`))
  const document: ApiDocument = {
    openapi: '3.1.0',
    info: {
      title: 'Cuponera',
      version,
      description:
        'Coupons on Nostr. Timestamps are Unix seconds; `null` is unset. Unknown keys in a request are ignored.',
      contact: { name: 'Cuponera' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(sections).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries(used.toSorted(([a], [b]) => (a < b ? -1 : 1))),
      examples: describeRefusals(envelopes, JSON.stringify(paths)),
      securitySchemes,
    },
    'x-codes': describeCodes(paths, catalogue),
  }
  await nextTurn()
  explainFields(document, words)
  return document
}

function describeOperation(method: string, path: string, hooks: Hooks, names: Names): Operation {
  const { detail, body, query } = hooks
  if (!detail) throw new Error(`${method} ${path} is not route`)
  const codes = new Set(detail['x-refusals'])
  const told = detail['x-told']
  const imply = (...implied: RefusalCode[]) => {
    for (const code of implied) codes.add(code)
  }
  if (method !== 'GET') imply('too-large', 'request-timeout', 'clock-behind')
  if (body) imply('body-invalid', 'field-invalid')
  if (query) imply('field-invalid')
  const sent = body ?? detail['x-body']
  const refusals = refusalCodes.filter((code) => codes.has(code))
  const good = nameParts(JSON.parse(JSON.stringify(detail.responses)), names)
  if (told) limitCodes(good as Record<string, Response>, told)
  const needs = detail['x-needs'] ?? []
  return {
    operationId: operationId(method, path),
    tags: detail.tags ?? [],
    summary: detail.summary ?? '',
    description: '',
    security: detail.security ?? [],
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
        pathParameter(name, detail['x-feature']?.parameters?.[name]),
      ),
      ...(query ? queryParameters(nameParts(JSON.parse(JSON.stringify(query)), names), needs) : []),
      ...((detail.parameters ?? []) as Parameter[]),
    ],
    ...(sent && { requestBody: { required: true, content: contentOf(sent, names) } }),
    responses: {
      ...(good as Record<string, Response>),
      ...refusalResponses(refusals, envelopeOf(hooks)),
    },
    'x-refusals': refusals,
    ...(told && { 'x-told': refusalCodes.filter((code) => told.includes(code)) }),
  }
}

function envelopeOf({ detail }: Hooks): Envelope {
  return detail?.['x-feature']?.envelope ?? serviceEnvelope
}

/** The model of an envelope's refusals: its name with a capital, as in GatewayRefusal. */
function modelName({ name }: Envelope): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}Refusal`
}

function exampleName(code: RefusalCode, { name }: Envelope): string {
  return name === '' ? code : `${name}.${code}`
}

/** Method and path in one word, as in deleteCouponsIdMints. */
function operationId(method: string, path: string): string {
  const words = path.match(/[a-z0-9]+/gi) ?? []
  const rest = words
    .filter((word) => word !== 'api')
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
  return method.toLowerCase() + rest.join('')
}

function pathParameter(name: string, part: PathPart | undefined): Parameter {
  const { description, pattern } = part ?? {}
  return {
    name,
    in: 'path',
    required: true,
    ...(description && { description }),
    schema: { type: 'string', ...(pattern && { pattern }) },
  }
}

function queryParameters(
  { properties = {}, required = [] }: Schema,
  needs: readonly string[],
): Parameter[] {
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name) || needs.includes(name),
    ...(description && { description }),
    schema,
  }))
}

function refusalResponses(codes: readonly RefusalCode[], envelope: Envelope) {
  const byStatus = Map.groupBy(codes, (code) => httpStatusOf({ code }))
  const entries = [...byStatus].map(([status, list]): [string, Response] => {
    const examples = list.map((code) => {
      return [code, { $ref: `#/components/examples/${exampleName(code, envelope)}` }]
    })
    // Every envelope has a name of its own: comparing its long model here took half of the time.
    const schema = { $ref: refTo(modelName(envelope)) }
    const media: Media = { schema, examples: Object.fromEntries(examples) }
    limitCode(media, list)
    const content = { 'application/json': media }
    const headers = refusalHeaders[status]
    return [String(status), { description: list.join(', '), ...(headers && { headers }), content }]
  })
  return Object.fromEntries(entries)
}

/** A code that a good answer carries is one of `codes`. */
function limitCodes(responses: Record<string, Response>, codes: readonly RefusalCode[]): void {
  for (const { content = {} } of Object.values(responses)) {
    for (const media of Object.values(content)) limitCode(media, codes)
  }
}

function limitCode(media: Media, codes: readonly RefusalCode[]): void {
  const listed = refusalCodes.filter((code) => codes.includes(code))
  media.schema = { allOf: [media.schema, { properties: { code: { enum: listed } } }] }
}

const retryAfter = {
  'Retry-After': { description: 'Seconds', schema: { type: 'integer' } },
}
const refusalHeaders: Record<number, NonNullable<Response['headers']>> = {
  401: { 'WWW-Authenticate': { description: 'Schemes', schema: { type: 'string' } } },
  429: retryAfter,
  503: retryAfter,
}

/** Each refusal that `paths` refer to, as it goes out. */
function describeRefusals(
  envelopes: readonly Envelope[],
  paths: string,
): ApiDocument['components']['examples'] {
  const entries = refusalCodes.flatMap((code) => {
    const refusal = new Refusal(code)
    return envelopes.map((envelope) => {
      const value: unknown = JSON.parse(JSON.stringify(envelope.bodyOf(refusal, null)))
      return [exampleName(code, envelope), { value }] as const
    })
  })
  const used = new Set(paths.match(/(?<="#\/components\/examples\/)[^"]+/g))
  return Object.fromEntries(entries.filter(([name]) => used.has(name)))
}

function describeCodes(
  paths: ApiDocument['paths'],
  catalogue: DocumentParts['catalogue'],
): ApiDocument['x-codes'] {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const used = new Set(
    operations.flatMap((one) => [...one['x-refusals'], ...(one['x-told'] ?? [])]),
  )
  const entries = refusalCodes.flatMap((code) => {
    if (!used.has(code)) return []
    const refusal = new Refusal(code)
    const row = catalogue.get(code) ?? { statuses: String(httpStatusOf(refusal)) }
    return [[code, { ...row, sentence: sentenceOf(refusal) }] as const]
  })
  return Object.fromEntries(entries)
}

/** The content of a request. A model of another media type than JSON names it. */
function contentOf(schema: TSchema, names: Names) {
  const media: string | undefined = schema.contentMediaType
  if (media === undefined) return json(schema, names)
  return Object.fromEntries(media.split(', ').map((one) => [one, { schema: { ...schema } }]))
}

function json(schema: TSchema, names: Names) {
  const plain = nameParts({ part: JSON.parse(JSON.stringify(schema)) }, names).part as Schema
  return { 'application/json': { schema: plain } }
}

/** `error` with a text is a message of the validator, not a property. */
function withoutMessage(part: Schema & { error?: unknown }): Schema {
  if (typeof part.error !== 'string') return part
  const { error: _, ...rest } = part
  return rest
}

type Names = ReadonlyMap<string, string>

function refTo(name: string): string {
  return `#/components/schemas/${name}`
}

/** The same tree with every named schema inside it as a reference, and unions of constants as `enum`. */
function nameParts(tree: Record<string, unknown>, names: Names): Record<string, unknown> {
  return Object.fromEntries(Object.entries(tree).map(([key, part]) => [key, namePart(part, names)]))
}

/** TypeBox writes the values of a record under a pattern that takes any key. */
function plainRecord(schema: Schema): Schema {
  const { patternProperties, ...rest } = schema as Schema & {
    patternProperties?: Record<string, Schema>
  }
  const values = patternProperties?.['^(.*)$']
  return values ? { ...rest, additionalProperties: values } : schema
}

function namePart(part: unknown, names: Names): unknown {
  if (Array.isArray(part)) return part.map((item) => namePart(item, names))
  if (typeof part !== 'object' || part === null) return part
  const name = names.get(JSON.stringify(part))
  if (name !== undefined) return { $ref: refTo(name) }
  const { anyOf, ...rest } = plainRecord(withoutMessage(part as Schema))
  // The model of a part that is parsed by hand is an object with a title, the name of its real model.
  if (rest.title !== undefined && [...names.values()].includes(rest.title)) {
    return { $ref: refTo(rest.title) }
  }
  if (anyOf?.every((option) => option.const !== undefined)) {
    return { type: 'string', ...rest, enum: anyOf.map((option) => option.const) }
  }
  return nameParts({ ...rest, ...(anyOf && { anyOf }) }, names)
}
