/** Every answer of every route against the document the service gives of itself, field by field. */
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { refusalCodes } from '../../src/base/refusal.ts'
import type { Operation } from '../../src/http/openapi.ts'
import { call, sha256Hex } from '../support/client.ts'
import { describeFile, onFile } from '../support/database.ts'
import { readDocument } from '../support/documented.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'
import { testAnnouncements } from './answers/announcements.ts'
import { testCards } from './answers/cards.ts'
import { fetchedPicture, testDefinitions } from './answers/definitions.ts'
import { testGateway } from './answers/gateway.ts'
import { testIdentities } from './answers/identities.ts'
import { testMerchants } from './answers/merchants.ts'
import { testMoves } from './answers/moves.ts'
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
const { document, operations, operationOf, seen, codesSeen } = service

afterAll(cleanUp)

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document))
    expect(result).toMatchObject({ valid: true })
    expect(document.openapi).toBe('3.1.0')
  })

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

  test('refers to shared models by name instead of repeating them', () => {
    const refresh = operationOf('POST', '/api/coupons/refresh')
    const schema = { $ref: '#/components/schemas/VoucherResult' }
    expect(refresh.responses[201]?.content).toEqual({ 'application/json': { schema } })
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
  describe('identities', () => testIdentities(service))
  describe('transfers', () => testTransfers(service))
  describe('cards', () => testCards(service))
  describe('payments', () => testPayments(service))
})

/** A scenario that broke off fails by itself: its missing answers are not reported again. */
describe('after all scenarios', () => {
  test('every route has succeeded and refused', () => {
    if (!service.complete()) return
    const lacking = operations.filter(({ route, operation }) => {
      const statuses = [...(seen.get(route) ?? [])]
      const refusing = alwaysGood.includes(route) || statuses.some((status) => status >= 400)
      // A good answer there is that of a wallet elsewhere.
      const good = route === 'GET /api/lud16/{username}/cb' || statuses.some((one) => one < 400)
      if (!offered(operation)) return !refusing
      return !refusing || !good
    })
    const routes = lacking.map(({ route }) => route)
    expect(routes.filter((route) => onFile || !/\/api\/(move|arrival)\b/.test(route))).toEqual([])
  })

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
