/** Every answer of every route against the document the service gives of itself, field by field. */
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { glossary } from '../../src/app/glossary.ts'
import { refusalCodes } from '../../src/base/refusal.ts'
import type { Operation, Schema } from '../../src/http/openapi.ts'
import { call, type Json, sha256Hex } from '../support/client.ts'
import { describeFile, onFile } from '../support/database.ts'
import { readDocument } from '../support/documented.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'
import { testAnnouncements } from './answers/announcements.ts'
import { testCards } from './answers/cards.ts'
import { fetchedPicture, testDefinitions } from './answers/definitions.ts'
import { testExamples } from './answers/examples.ts'
import { testGateway } from './answers/gateway.ts'
import { testIdentities } from './answers/identities.ts'
import { testMerchants } from './answers/merchants.ts'
import { testMoves } from './answers/moves.ts'
import { testPages } from './answers/pages.ts'
import { testPayments } from './answers/payments.ts'
import { testPosters } from './answers/posters.ts'
import { alwaysGood, testService } from './answers/service.ts'
import { testSessions } from './answers/sessions.ts'
import { testTransfers } from './answers/transfers.ts'
import { testHolding, testIssuing } from './answers/vouchers.ts'

const dataDir = newDirectory()
mkdirSync(join(dataDir, 'keys'))
mkdirSync(join(dataDir, 'images'))
writeFileSync(join(dataDir, 'images', `${sha256Hex(fetchedPicture)}.png`), 'a picture')
const server = await startServer({ dataDir, env: { RATE_LIMIT: 'off' } })
const service = await readDocument(server)
const { document, operations, operationOf, seen, codesSeen, exchanges } = service

afterAll(cleanUp)

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document))
    expect(result).toMatchObject({ valid: true })
    expect(document.openapi).toBe('3.1.0')
  })

  test('two linters find nothing but rules that these routes cannot follow', async () => {
    const linters = join(import.meta.dir, '../support/lint-openapi.mjs')
    const linting = Bun.spawn([process.execPath, linters], {
      stdin: new Blob([JSON.stringify(document)]),
      stderr: 'inherit',
    })
    const remarks = (await new Response(linting.stdout).text()).split('\n').filter(Boolean)
    expect(await linting.exited).toBe(0)
    const places = remarks.map((one) => one.replace(/: .*/, '').replaceAll('~1', '/'))
    expect(sorted(places)).toEqual(sorted(lintExceptions))
  }, 300_000)

  test('names the version, the tags and both ways to authenticate', () => {
    expect(document.info.version).toBe(JSON.parse(readText('package.json')).version)
    const tags = new Set(operations.flatMap(({ operation }) => operation.tags))
    expect(sorted([...tags])).toEqual(sorted(document.tags.map(({ name }) => name)))
    expect(Object.keys(document.components.securitySchemes)).toEqual(['nostr', 'bearer'])
  })

  test('has every route that the sources declare, and no other', () => {
    expect(sorted(operations.map(({ route }) => route))).toEqual(sorted(routesInSources()))
  })

  test('has the methods that the server takes on each path', async () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const { headers } = await call(server.url, path.replace(/\{\w+\}/g, 'x'), {
        method: 'OPTIONS',
      })
      const allowed = (headers.get('allow') ?? '')
        .split(', ')
        .filter((one) => !/HEAD|OPTIONS/.test(one))
      expect({ path, methods: sorted(allowed) }).toEqual({
        path,
        methods: sorted(upper(Object.keys(methods))),
      })
    }
  })

  test('has every refusal at some route', () => {
    const found = new Set(
      operations.flatMap(({ operation }) => [
        ...operation['x-refusals'],
        ...(operation['x-told'] ?? []),
      ]),
    )
    const nowhere: string[] = refusalCodes.filter((code) => !found.has(code))
    expect(nowhere).toEqual([])
  })

  test('has a parameter for every part of a path, and a unique id for every operation', () => {
    for (const { path, operation } of operations) {
      const named = operation.parameters
        .filter((one) => one.in === 'path')
        .map(({ name }) => `{${name}}`)
      expect(named).toEqual(path.match(/\{\w+\}/g) ?? [])
    }
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('resolves every reference', () => {
    const refs = JSON.stringify(document).match(/"#\/components\/[^"]+"/g) ?? []
    expect(refs.length).toBeGreaterThan(100)
    for (const ref of new Set(refs)) {
      const [, , kind = '', name = ''] = ref.replaceAll('"', '').split('/')
      expect(Object.keys(document.components[kind as 'schemas'])).toContain(name)
    }
  })

  test('describes every operation, parameter, header and field', () => {
    const lacking = operations.flatMap(({ route, operation }) => {
      const { description, summary, parameters, requestBody, responses } = operation
      const unnamed = parameters.filter((one) => !one.description).map(({ name }) => name)
      const media = [requestBody, ...Object.values(responses)].flatMap((one) =>
        Object.values(one?.content ?? {}),
      )
      const fields = media.flatMap(({ schema }) => undescribed(schema))
      const words = description === '' || summary === '' ? ['words'] : []
      return [...words, ...unnamed, ...fields].map((what) => `${route}: ${what}`)
    })
    const models = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      undescribed(schema).map((field) => `${name}: ${field}`),
    )
    expect([...lacking, ...models]).toEqual([])
  })

  test('has words for fields that exist, and for no other', () => {
    const named = new Set(fieldNames(document))
    const { descriptions, patterns } = glossary
    const unknown = Object.keys({ ...descriptions, ...patterns }).filter((key) => {
      const [model = '', field = key] = key.split('.')
      return !named.has(field) && !(key === model && model in document.components.schemas)
    })
    expect(unknown).toEqual([])
  })

  test('gives the form of every key, id and tap, where a text has one form', () => {
    const parameters = operations.flatMap(({ route, operation }) =>
      operation.parameters.flatMap(({ name, description, schema }) =>
        formless({ description, ...schema } as Schema, `${route} ${name}`),
      ),
    )
    const media = operations.flatMap(({ route, operation: { requestBody, responses } }) =>
      [requestBody, ...Object.values(responses)].flatMap((one) =>
        Object.values(one?.content ?? {}).flatMap(({ schema }) => formless(schema, route)),
      ),
    )
    const models = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      formless(schema, name),
    )
    const several = ['NewMerchant.pubkey', 'NewMinter.pubkey']
    expect(sorted([...new Set([...parameters, ...media, ...models])])).toEqual(several)
  })

  test('lists the words of a refusal, those of the pages', () => {
    const { reason, cause } = document.components.schemas.Refusal?.properties ?? {}
    const named = readText('docs/api/authentication.md').matchAll(/^\| `([a-z-]+)` \| `auth-/gm)
    expect(sorted(reason?.enum as string[])).toEqual(
      sorted([...new Set([...named].map(([, word = '']) => word))]),
    )
    const rows = readText('docs/operations.md').matchAll(/\| `unavailable` \| (`[^|]+`) \|/g)
    expect(sorted(cause?.enum as string[])).toEqual(
      sorted([...rows].flatMap(([, words = '']) => words.replaceAll('`', '').split(', '))),
    )
  })

  test('has an example of every request with a body or a needed parameter, and of every JSON answer', () => {
    const lacking = operations.flatMap(({ route, operation }) => {
      const { parameters, requestBody, responses } = operation
      const named = parameters.filter(({ required, example }) => required && example === undefined)
      const good = Object.entries(responses).filter(([status]) => status < '400')
      const media = [...(requestBody ? [['request', requestBody] as const] : []), ...good].flatMap(
        ([what, { content = {} }]) => {
          const json = content['application/json']
          return json && json.example === undefined ? [what] : []
        },
      )
      return [...named.map(({ name }) => name), ...media].map((what) => `${route}: ${what}`)
    })
    // A page, its files and this document are no answers to a program.
    expect(lacking).toEqual(['GET /c/p/{id}: id', 'GET /ui/{file}: file', 'GET /openapi.json: 200'])
  })

  test('lists the codes that an answer may carry', () => {
    for (const { route, operation } of operations) {
      for (const [status, { content = {} }] of Object.entries(operation.responses)) {
        if (status < '400' && !operation['x-told']) continue
        const codes = content['application/json']?.schema.allOf?.[1]?.properties?.code?.enum
        expect({ route, status, codes }).toEqual({ route, status, codes: expect.any(Array) })
      }
    }
  })

  test('needs the parameters that the text needs', () => {
    const needed = operations.flatMap(({ route, operation }) =>
      operation.parameters
        .filter(({ required, in: place }) => required && place !== 'path')
        .map(({ name }) => `${route}: ${name}`),
    )
    expect(sorted(needed)).toEqual([
      'GET /api/coupons/claim: nonce',
      'GET /api/identity: name',
      'GET /api/lud16/{name}/cb: amount',
      'GET /card/pay: k1',
      'GET /card/pay: pr',
      'GET /card/scan: c',
      'GET /card/scan: p',
      'PATCH /ntag424: c',
      'PATCH /ntag424: p',
      'POST /api/arrival/finish: X-Move-Ticket',
      'POST /api/coupons/refresh: Idempotency-Key',
      'POST /api/posters/{id}/take: Idempotency-Key',
      'PUT /api/arrival/pieces: X-Move-Ticket',
      'PUT /api/arrival/pieces: at',
    ])
  })

  test('refers to shared models by name instead of repeating them', () => {
    const refresh = operationOf('POST', '/api/coupons/refresh')
    const schema = { $ref: '#/components/schemas/VoucherResult' }
    expect(refresh.responses[201]?.content?.['application/json']?.schema).toEqual(schema)
  })
})

describe('real answers match the document:', () => {
  describe('the service', () => testService(service))
  describe('sessions', () => testSessions(service))
  describe('merchants', () => testMerchants(service))
  describeFile('moves', () => testMoves(service))
  describe('definitions', () => testDefinitions(service))
  describe('posters', () => testPosters(service))
  describe('announcements', () => testAnnouncements(service))
  describe('issuing', () => testIssuing(service))
  describe('holding', () => testHolding(service))
  describe('the gateway', () => testGateway(service))
  describe('examples', () => testExamples(service))
  describe('identities', () => testIdentities(service))
  describe('transfers', () => testTransfers(service))
  describe('cards', () => testCards(service))
  describe('payments', () => testPayments(service))
})

/** A service on PostgreSQL moves nowhere. */
const reachable = operations.filter(({ route }) => onFile || !/\/api\/(move|arrival)\b/.test(route))

/** A scenario that broke off fails by itself: its missing answers are not reported again. */
describe('after all scenarios', () => {
  test('every route has succeeded and refused', () => {
    if (!service.complete()) return
    const lacking = reachable.filter(({ route, operation }) => {
      const statuses = [...(seen.get(route) ?? [])]
      const refusing = alwaysGood.includes(route) || statuses.some((status) => status >= 400)
      const good = statuses.some((one) => one < 400)
      if (!offered(operation)) return !refusing
      return !refusing || !good
    })
    expect(lacking.map(({ route }) => route)).toEqual([])
  })

  test('every example was sent: a granted request of its form got an answer of its form', () => {
    if (!service.complete()) return
    const declared = new Set(fieldNames(document))
    const unsent = reachable.flatMap(({ route, operation }) => {
      const { parameters, requestBody, responses } = operation
      const asked = requestBody?.content['application/json']?.example
      const query = parameters.filter((one) => one.in === 'query' && one.example !== undefined)
      const answers = Object.entries(responses).flatMap(([status, { content = {} }]) => {
        const example = content['application/json']?.example
        return status < '400' && example !== undefined ? [[Number(status), example] as const] : []
      })
      return answers.flatMap(([status, example]) => {
        const found = exchanges.get(route)?.some((one) => {
          const named = query.every(({ name }) => new RegExp(`[?&]${name}=`).test(one.path))
          const sent = asked === undefined || sameForm(asked, one.body, declared)
          return one.status === status && named && sent && sameForm(example, one.answer, declared)
        })
        return found ? [] : [`${route}: ${status}`]
      })
    })
    expect(unsent).toEqual([])
  })

  testPages(service, new Set(reachable.map(({ route }) => route)))

  test('every refusal has occurred, except those that need a fault, a crowd, another service or origin', () => {
    if (!service.complete()) return
    const unseen: string[] = refusalCodes.filter((code) => !codesSeen.has(code))
    expect(unseen.filter((code) => onFile || !/^moved?\b/.test(code))).toEqual([
      'shutting-down',
      'request-timeout',
      'rate-limited',
      'auth-origin-unknown',
      'auth-session-expired',
      'address-unknown',
      'transfer-busy',
      'inbox-full',
      'inbox-merchant-full',
      'transfer-pending',
      'transfer-unclear',
      'merchants-full',
      'definitions-full',
      'vouchers-day-full',
      'bytes-day-full',
      'minters-full',
      'identity-nonces-full',
      'clock-behind',
      'disk-low',
      'overloaded',
      'unavailable',
    ])
  })
})

/** The operation documents a success. */
function offered({ responses }: Operation): boolean {
  return Object.keys(responses).some((status) => Number(status) < 400)
}

function sorted(words: string[]): string[] {
  return words.toSorted((a, b) => (a < b ? -1 : 1))
}

function upper(words: string[]): string[] {
  return words.map((word) => word.toUpperCase())
}

function readText(path: string): string {
  return readFileSync(join(import.meta.dir, '../..', path), 'utf8')
}

/** `METHOD /path` of every route that some Elysia instance of the sources declares. */
function routesInSources(): string[] {
  const files = readdirSync(join(import.meta.dir, '../../src'), { recursive: true })
  return files.flatMap((file) => {
    if (!String(file).endsWith('.ts')) return []
    const text = readText(join('src', String(file)))
    const [, options] = /new Elysia\(\{([^}]*name:[^}]*)\}/.exec(text) ?? []
    if (options === undefined) return []
    const [, prefix = ''] = /prefix: '([^']*)'/.exec(options) ?? []
    return [...text.matchAll(/\.(get|post|put|patch|delete)\(\s*'(\/[^']*)'/g)].map(
      ([, method = '', path = '']) =>
        `${method.toUpperCase()} ${`${prefix}${path}`.replace(/(?<=.)\/$/, '').replace(/:(\w+)/g, '{$1}')}`,
    )
  })
}

/** The paths are the La Crypta protocol's; three routes exist to say 501, two never refuse, one redirects. */
const lintExceptions = [
  'redocly no-ambiguous-paths #/paths//api/coupons/minters/{key}',
  'redocly no-ambiguous-paths #/paths//api/coupons/images/{hash}',
  'redocly operation-2xx-response #/paths///get/responses',
  ...['/card/patch', '/card/reset/request/post', '/card/reset/claim/post'].flatMap((route) => [
    `redocly operation-2xx-response #/paths/${route}/responses`,
    `spectral operation-success-response paths/${route}/responses`,
  ]),
  'redocly operation-4xx-response #/paths//livez/get/responses',
  'redocly operation-4xx-response #/paths//readyz/get/responses',
]

/** Fields without words. A reference has those of its model. */
function undescribed(schema: Schema): string[] {
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    ...(hasWords(field) ? [] : [name]),
    ...undescribed(field),
  ])
  const { items, anyOf = [], allOf = [], additionalProperties: values } = schema
  const parts = [items, values, ...anyOf, ...allOf].filter((part) => typeof part === 'object')
  return [...fields, ...parts.flatMap(undescribed)]
}

/** Texts that are told to be a key, an id or hex digits, and nothing else, without a pattern. */
function formless(schema: Schema, path: string): string[] {
  const { anyOf = [], allOf = [], items, properties = {}, additionalProperties: values } = schema
  const told = /\b(npub|hex|UUID)\b/.test(schema.description ?? '')
  const texts = [schema, ...anyOf].filter((one) => one.type === 'string')
  const own = told && texts.some((one) => !one.pattern && !one.format && !one.enum) ? [path] : []
  const parts = [items, values, ...anyOf, ...allOf].filter((part) => typeof part === 'object')
  return [
    ...own,
    ...Object.entries(properties).flatMap(([name, field]) => formless(field, `${path}.${name}`)),
    ...parts.flatMap((part) => formless(part, path)),
  ]
}

function hasWords({ description, anyOf = [], enum: words, type, $ref }: Schema): boolean {
  if (description || (words && type === undefined)) return true
  const model = document.components.schemas[$ref?.split('/').at(-1) ?? '']
  return model?.description ? true : anyOf.some(hasWords)
}

/** Every key that some schema or parameter declares. */
function fieldNames(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return []
  const own = 'properties' in part ? Object.keys(part.properties as object) : []
  const parameter = 'in' in part && 'name' in part ? [String(part.name)] : []
  return [...own, ...parameter, ...Object.values(part).flatMap(fieldNames)]
}

/** The same keys at every depth. Keys that no schema declares are names of things, such as tokens. */
function sameForm(example: unknown, real: unknown, declared: ReadonlySet<string>): boolean {
  if (example === null || real === null) return true
  if (Array.isArray(example) && Array.isArray(real)) {
    if (example.length === 0 || real.length === 0) return true
    return real.some((one) => sameForm(example[0], one, declared))
  }
  if (typeof example !== 'object' || typeof real !== 'object') return typeof example === typeof real
  const keysOf = (one: object) => sorted(Object.keys(one).filter((key) => declared.has(key)))
  const keys = keysOf(example as object)
  if (JSON.stringify(keys) !== JSON.stringify(keysOf(real as object))) return false
  return keys.every((key) => sameForm((example as Json)[key], (real as Json)[key], declared))
}
