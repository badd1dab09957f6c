/** Every answer of every route against the document the service gives of itself, field by field. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { limits } from '../../src/base/limits.ts'
import { refusalCodes } from '../../src/base/refusal.ts'
import type { ApiDocument, Operation } from '../../src/http/openapi.ts'
import { renewOwnCertificate } from '../../src/tls/files.ts'
import {
  activateCard,
  asking,
  cardEnv,
  cardEvent,
  delegationOf,
  newCard,
  newHolder as newCardHolder,
  newUid,
  scanPath,
  tapQuery,
} from '../support/cards.ts'
import { damage } from '../support/cli.ts'
import {
  type CallOptions,
  call,
  createDefinition,
  createProof,
  type Json,
  mintOne,
  newKey,
  newSigner,
  nostrHeader,
  openSession,
  percentBenefit,
  sha256Hex,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { startFaultyRelay, stopRelays, tell, until } from '../support/faulty-relay.ts'
import {
  identityEvent,
  managerEnv,
  managerSecret,
  newIdentityNonce,
  walletObject,
} from '../support/identities.ts'
import {
  createInvoice,
  newFundedCard,
  payEnv,
  payEvent,
  tap,
  tapStandard,
} from '../support/payments.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { addAccount, newHolder } from '../support/shops.ts'

/** Routes that refuse only when the machine or the rate says so. */
const alwaysGood = [
  'GET /livez',
  'GET /readyz',
  'GET /openapi.json',
  'GET /docs',
  'GET /api/coupons/manager',
  'GET /relay',
  'GET /panel',
  'GET /caja',
  'GET /caja.webmanifest',
  'GET /sw.js',
  'GET /c',
  'GET /.well-known/nostr.json',
]

let server: TestServer
let document: ApiDocument
let check: ReturnType<typeof createChecker>
let token: string
const owner = newSigner()
const picture = 'https://example.com/te.png'
/** `METHOD /path` to the statuses seen. */
const seen = new Map<string, Set<number>>()
const codesSeen = new Set<string>()

beforeAll(async () => {
  const dataDir = newDirectory()
  mkdirSync(join(dataDir, 'keys'))
  mkdirSync(join(dataDir, 'images'))
  // As if it had been fetched before.
  writeFileSync(join(dataDir, 'images', `${sha256Hex(picture)}.png`), 'a picture')
  server = await startServer({ dataDir, env: { RATE_LIMIT: 'off' } })
  document = (await call(server.url, '/openapi.json')).json
  check = createChecker(document)
  token = await openSession(server.url, owner)
})

afterAll(cleanUp)

/** Schemas of the document in which an object may hold nothing but what is written there. */
function createChecker(described: ApiDocument) {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  ajv.addSchema(closed(described) as object, 'document')
  return (pointer: string[], value: unknown) => {
    const path = pointer.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
    const validate = ajv.compile({
      $ref: `document#/${path.replaceAll('{', '%7B').replaceAll('}', '%7D')}`,
    })
    return validate(value) ? [] : (validate.errors ?? [])
  }
}

function closed(part: Json): Json {
  if (Array.isArray(part)) return part.map(closed)
  if (typeof part !== 'object' || part === null) return part
  const copy = Object.fromEntries(Object.entries(part).map(([key, one]) => [key, closed(one)]))
  const schema = part.type === 'object' && part.properties !== undefined
  return schema ? { additionalProperties: false, ...copy } : copy
}

type Asked = CallOptions & { path?: string }

/** One request to a route of the document; its answer is checked against it. Bearer unless told otherwise. */
async function ask(route: string, options: Asked = {}): Promise<Json> {
  const [method = '', template = ''] = route.split(' ')
  const operation = operationOf(method, template)
  const open = operation.security.length === 0
  const identified = options.signer || options.token !== undefined || options.headers?.Authorization
  const credentials = open || identified ? {} : { token }
  const asked = { method, ...credentials, ...options }
  const answer = await call(server.url, options.path ?? template, asked)
  const { status, headers } = answer

  seen.set(route, (seen.get(route) ?? new Set()).add(status))
  const response = operation.responses[status]
  if (!response) throw new Error(`${route} answered ${status}, undocumented: ${answer.text}`)
  const media = headers.get('content-type')?.split(';')[0] ?? ''
  if (!response.content) {
    expect(answer.text).toBe('')
    return
  }
  expect(Object.keys(response.content)).toContain(media)
  const pointer = ['paths', template, method.toLowerCase(), 'responses', String(status)]
  const body = media === 'application/json' ? answer.json : answer.text
  expect({ route, errors: check([...pointer, 'content', media, 'schema'], body) }).toEqual({
    route,
    errors: [],
  })
  if (status >= 400) {
    const { code, retryAfter } = answer.json
    codesSeen.add(code)
    expect(Object.keys(response.content[media]?.examples ?? {})).toContain(code)
    expect(operation['x-refusals']).toContain(code)
    expect(headers.get('retry-after')).toBe(retryAfter === undefined ? null : String(retryAfter))
    expect(headers.has('www-authenticate')).toBe(status === 401)
  } else if (operation['x-told'] && answer.json.code !== undefined) {
    codesSeen.add(answer.json.code)
    expect(operation['x-told']).toContain(answer.json.code)
  } else if (operation.requestBody && typeof options.body === 'object') {
    const schema = ['paths', template, method.toLowerCase(), 'requestBody', 'content']
    expect(check([...schema, 'application/json', 'schema'], options.body)).toEqual([])
  }
  expect(headers.get('access-control-allow-origin')).toBe(
    route === 'GET /metrics' && status === 200 ? null : '*',
  )
  return answer.json
}

/** The same, and the refusal it must come to. */
async function refused(route: string, code: string, options: Asked = {}): Promise<void> {
  expect((await ask(route, options)).code).toBe(code)
}

function operationOf(method: string, template: string): Operation {
  const operation = document.paths[template]?.[method.toLowerCase()]
  if (!operation) throw new Error(`${method} ${template} is not in the document`)
  return operation
}

function announcement(changes: Json = {}, content: unknown = undefined) {
  const addresses = ['mint', 'claim', 'refresh'].map((last) => [
    `${last}Url`,
    `${server.url}/api/coupons/${last}`,
  ])
  return owner.sign({
    kind: 30_078,
    created_at: secondsNow(),
    tags: [['d', 'lacrypta.merchant/coupons']],
    content: JSON.stringify(content ?? { v: 2, ...Object.fromEntries(addresses) }),
    ...changes,
  })
}

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document))
    expect(result).toMatchObject({ valid: true })
    expect(document.openapi).toBe('3.1.0')
  })

  test('names the version, the tags and both ways to authenticate', () => {
    expect(document.info.version).toBe(JSON.parse(readText('package.json')).version)
    const tags = new Set(operations().flatMap(({ operation }) => operation.tags))
    expect(sorted([...tags])).toEqual(sorted(document.tags.map(({ name }) => name)))
    expect(Object.keys(document.components.securitySchemes)).toEqual(['nostr', 'bearer'])
  })

  test('has every route that the sources mount, and no other', () => {
    expect(sorted(operations().map(({ route }) => route))).toEqual(sorted(routesInSources()))
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
      operations().flatMap(({ operation }) => [
        ...operation['x-refusals'],
        ...(operation['x-told'] ?? []),
      ]),
    )
    const nowhere: string[] = refusalCodes.filter((code) => !found.has(code))
    expect(nowhere).toEqual([])
  })

  test('has a parameter for every part of a path, and an id of its own for every operation', () => {
    for (const { path, operation } of operations()) {
      const named = operation.parameters
        .filter((one) => one.in === 'path')
        .map(({ name }) => `{${name}}`)
      expect(named).toEqual(path.match(/\{\w+\}/g) ?? [])
    }
    const ids = operations().map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('leaves no reference without what it refers to', () => {
    const refs = JSON.stringify(document).match(/"#\/components\/[^"]+"/g) ?? []
    expect(refs.length).toBeGreaterThan(100)
    for (const ref of new Set(refs)) {
      const [, , kind = '', name = ''] = ref.replaceAll('"', '').split('/')
      expect(Object.keys(document.components[kind as 'schemas'])).toContain(name)
    }
  })

  test('does not repeat a shared model: it is referred to by name', () => {
    const refresh = operationOf('POST', '/api/coupons/refresh')
    const schema = { $ref: '#/components/schemas/VoucherResult' }
    expect(refresh.responses[201]?.content).toEqual({ 'application/json': { schema } })
  })
})

describe('real answers match the document', () => {
  test('of the state of the process and the document itself', async () => {
    for (const route of alwaysGood) await ask(route)
    await ask('GET /metrics')
    await refused('GET /metrics', 'metrics-closed', { headers: { Via: '1.1 proxy' } })
  })

  test('of the pages', async () => {
    await ask('GET /', { headers: { Accept: 'text/html' } })
    await refused('GET /', 'not-found', { headers: { Accept: 'application/json' } })
    const { text } = await call(server.url, '/panel')
    const [path = ''] = /\/ui\/style-\w+\.css/.exec(text) ?? []
    await ask('GET /ui/{file}', { path })
    await refused('GET /ui/{file}', 'not-found', { path: '/ui/nothing.js' })
  })

  test('of sessions', async () => {
    const route = 'POST /api/auth/session'
    await ask(route, { signer: newSigner() })
    await ask(route, { signer: newSigner(), body: {} })
    await refused(route, 'auth-missing')
    await refused(route, 'auth-missing', { token })
    await refused(route, 'auth-malformed', { headers: { Authorization: 'Nostr e30=' } })
    await refused(route, 'auth-too-large', {
      headers: { Authorization: `Nostr ${'a'.repeat(8200)}` },
    })
    await refused(route, 'too-large', { signer: newSigner(), body: 'x'.repeat(20_000) })
    const proof = (options: Json) => ({
      headers: {
        Authorization: nostrHeader(createProof(owner, `${server.url}/api/auth/session`, options)),
      },
    })
    await refused(route, 'auth-expired', proof({ method: 'POST', createdAt: 1_700_000_000 }))
    await refused(route, 'auth-url-mismatch', proof({ method: 'PUT' }))
    const once = proof({ method: 'POST' })
    await ask(route, once)
    await refused(route, 'auth-replay', once)
  })

  test('of every management route to a stranger', async () => {
    const managed = operations().filter(({ operation }) => operation.security.length > 1)
    expect(managed.length).toBeGreaterThan(14)
    for (const { route } of managed) {
      await refused(route, 'auth-missing', { token: '' })
      await refused(route, 'auth-session-invalid', { token: 'x.y.z' })
    }
  })

  test('of definitions', async () => {
    const route = 'POST /api/coupons'
    const money = { amount: 100.5, currency: 'ARS' }
    const benefits = [
      percentBenefit,
      { type: 'percent', percent: 10, productDs: ['a'], cap: money },
      { type: 'fixed', ...money, productDs: ['a', 'b'] },
      { type: 'multibuy', buyQty: 3, payQty: 2 },
      {
        type: 'buyXgetY',
        buyProductD: 'a',
        giftProductD: 'a',
        cap: { amount: 5, currency: 'SAT' },
      },
      { type: 'freeItems', items: [{ d: 'a', qty: 1 }] },
    ]
    for (const benefit of benefits) {
      const { coupon } = await ask(route, { body: { name: 'Café', benefit } })
      await ask('DELETE /api/coupons/{id}', { path: `/api/coupons/${coupon.id}` })
    }
    // As text: the document need not tell of every null that a request may bring.
    const nulls = { type: 'percent', percent: 5, productDs: null, cap: null }
    await ask(route, { body: JSON.stringify({ name: 'Café', benefit: nulls }) })
    const key = { 'Idempotency-Key': newKey() }
    const full = {
      name: 'Té',
      description: 'Con limón',
      image: picture,
      benefit: percentBenefit,
      maxUses: 5,
      expiresAt: secondsNow() + 1000,
    }
    const { coupon } = await ask(route, { body: full, headers: key })
    await ask(route, { body: full, headers: key })
    await refused(route, 'idempotency-key-reused', {
      body: { ...full, name: 'Otro' },
      headers: key,
    })
    await refused(route, 'idempotency-key-invalid', {
      body: full,
      headers: { 'Idempotency-Key': 'short' },
    })
    await refused(route, 'body-invalid', { body: '[]' })
    await refused(route, 'body-invalid', { body: '' })
    await refused(route, 'field-invalid', { body: { ...full, name: '' } })
    await refused(route, 'field-invalid', { body: { ...full, maxUses: 'many' } })
    await refused(route, 'field-invalid', { body: { ...full, benefit: 5 } })
    await refused(route, 'benefit-invalid', { body: { ...full, benefit: { type: 'nothing' } } })
    await refused(route, 'expiry-past', { body: { ...full, expiresAt: 1 } })
    await refused(route, 'too-large', { body: { ...full, description: 'x'.repeat(17_000) } })

    const pictures = 'GET /api/coupons/images/{hash}'
    const hash = sha256Hex(picture)
    await ask(pictures, { path: `/api/coupons/images/${hash}` })
    await refused(pictures, 'image-unknown', { path: '/api/coupons/images/x' })
    const nowhere = 'https://127.0.0.1/te.png'
    await ask(route, { body: { ...full, image: nowhere } })
    await refused(pictures, 'image-unavailable', {
      path: `/api/coupons/images/${sha256Hex(nowhere)}`,
    })

    const edit = 'PATCH /api/coupons/{id}'
    const path = `/api/coupons/${coupon.id}`
    await ask(edit, { path, body: { archived: true, expiresAt: null, image: null, maxUses: null } })
    await ask(edit, { path, body: { archived: false, name: 'Mate', expiresAt: 1 } })
    await refused(edit, 'nothing-to-change', { path, body: {} })
    await refused(edit, 'field-invalid', { path, body: { name: null } })
    await refused(edit, 'benefit-invalid', { path, body: { benefit: {} } })
    await refused(edit, 'body-invalid', { path, body: '7' })
    await refused(edit, 'coupon-unknown', { path: '/api/coupons/none', body: { name: 'x' } })
    await refused(edit, 'coupon-unknown', { path, body: { name: 'x' }, signer: newSigner() })
    await refused('DELETE /api/coupons/{id}', 'coupon-unknown', { path: '/api/coupons/none' })
  })

  test('of minters', async () => {
    const route = 'POST /api/coupons/minters'
    const minter = newSigner()
    await ask(route, { body: { pubkey: minter.pubkey } })
    await ask(route, { body: { pubkey: minter.pubkey, label: 'Caja' } })
    await ask('GET /api/coupons/minters')
    await refused(route, 'minter-is-owner', { body: { pubkey: owner.pubkey } })
    await refused(route, 'field-invalid', { body: { pubkey: 'nobody' } })
    await refused(route, 'field-invalid', { body: {} })
    await refused(route, 'field-invalid', {
      body: { pubkey: minter.pubkey, label: 'x'.repeat(81) },
    })
    await refused(route, 'body-invalid', { body: 'no' })
    const remove = 'DELETE /api/coupons/minters/{key}'
    const path = `/api/coupons/minters/${minter.pubkey}`
    await ask(remove, { path })
    await refused(remove, 'minter-unknown', { path })
  })

  test('of announcements', async () => {
    const route = 'PUT /api/coupons/discovery'
    const event = announcement()
    await ask(route, { body: { event } })
    await ask(route, { body: { event } })
    await ask('GET /api/coupons')
    await refused(route, 'announcement-older', { body: { event: announcement({ created_at: 5 }) } })
    await refused(route, 'announcement-kind', { body: { event: announcement({ kind: 1 }) } })
    await refused(route, 'announcement-author', { body: { event }, signer: newSigner() })
    await refused(route, 'announcement-id', { body: { event: { ...event, content: '{}' } } })
    await refused(route, 'announcement-signature', {
      body: { event: { ...event, sig: '1'.repeat(128) } },
    })
    await refused(route, 'announcement-d', { body: { event: announcement({ tags: [] }) } })
    await refused(route, 'announcement-content', { body: { event: announcement({}, []) } })
    const plain = announcement({}, { mintUrl: 'http://example.com' })
    await refused(route, 'announcement-url', { body: { event: plain } })
    const ahead = announcement({ created_at: secondsNow() + 2000 })
    await refused(route, 'announcement-future', { body: { event: ahead } })
    await refused(route, 'field-invalid', { body: { event: 5 } })
    await refused(route, 'field-invalid', { body: { event: { id: 1 } } })
    await refused(route, 'body-invalid', { body: 'null' })
    await ask('DELETE /api/coupons/discovery')
    await refused('DELETE /api/coupons/discovery', 'announcement-unknown')
  })

  test('of mints, lists and voids', async () => {
    const route = 'POST /api/coupons/mint'
    const { coupon } = await ask('POST /api/coupons', {
      body: { name: 'Mate', benefit: percentBenefit, maxUses: 6 },
    })
    const couponId = coupon.id
    const { nonce } = await ask(route, { body: { couponId } })
    const key = { 'Idempotency-Key': newKey() }
    const { vouchers } = await ask(route, { body: { couponId, count: 3 }, headers: key })
    await refused(route, 'idempotency-key-reused', { body: { couponId }, headers: key })
    await refused(route, 'idempotency-key-invalid', {
      body: { couponId },
      headers: { 'Idempotency-Key': 'x' },
    })
    await refused(route, 'coupon-exhausted', { body: { couponId, count: 3 } })
    await refused(route, 'field-invalid', { body: { couponId: 'x' } })
    await refused(route, 'field-invalid', { body: { couponId, count: 501 } })
    await refused(route, 'body-invalid', { body: '"x"' })
    await refused(route, 'mint-not-allowed', { body: { couponId }, signer: newSigner() })
    await refused(route, 'coupon-unknown', { body: { couponId: crypto.randomUUID() } })
    await ask('GET /api/coupons/mintable')

    const list = 'GET /api/coupons/{id}/mints'
    const mints = `/api/coupons/${couponId}/mints`
    const page = await ask(list, { path: `${mints}?limit=2` })
    await ask(list, { path: `${mints}?limit=2&cursor=${page.next}` })
    for (const query of ['limit=0', 'limit=501', 'limit=x', 'limit=', 'cursor=!', 'cursor=']) {
      await refused(list, 'page-invalid', { path: `${mints}?${query}` })
    }
    await refused(list, 'coupon-unknown', { path: '/api/coupons/none/mints' })
    // Given twice: whatever the server makes of it, it must be in the document.
    await ask(list, { path: `${mints}?limit=1&limit=2` })

    const [{ handle }] = page.mints
    await ask(list, { path: `${mints}?chain=${handle}` })
    await refused(list, 'field-invalid', { path: `${mints}?chain=x` })
    await refused(list, 'voucher-unknown', { path: `${mints}?chain=${'A'.repeat(22)}` })
    const stats = 'GET /api/coupons/stats'
    expect((await ask(stats)).coupons).toHaveLength(1)
    await ask(stats, { path: '/api/coupons/stats?from=2026-01-01&to=2026-01-31&offset=0' })
    await refused(stats, 'field-invalid', { path: '/api/coupons/stats?from=x' })
    await refused(stats, 'page-invalid', { path: '/api/coupons/stats?cursor=x' })

    const one = 'DELETE /api/coupons/{id}/mints/{name}'
    const path = `${mints}/${nonce}`
    await ask(one, { path })
    await refused(one, 'voucher-voided', { path })
    await refused(one, 'voucher-unknown', { path: `${mints}/none` })
    await refused(one, 'coupon-unknown', { path: `/api/coupons/none/mints/${nonce}` })
    await refused(one, 'field-invalid', { path: `${path}?chain=2` })
    const [first, second, third] = (vouchers as Json[]).map((voucher) => voucher.nonce)
    await ask('POST /api/coupons/claim', { body: { nonce: first } })
    await refused(one, 'voucher-claimed', { path: `${mints}/${first}` })
    const fresh = { headers: { 'Idempotency-Key': newKey() } }
    await ask('POST /api/coupons/refresh', { body: { nonce: second }, ...fresh })
    await refused(one, 'voucher-refreshed', { path: `${mints}/${second}` })
    await ask(one, { path: `${mints}/${second}?chain=1` })
    await ask(list, { path: mints })

    const all = 'DELETE /api/coupons/{id}/mints'
    expect(await ask(all, { path: mints })).toEqual({ voided: 1 })
    await refused(all, 'coupon-unknown', { path: '/api/coupons/none/mints' })
    await refused('POST /api/coupons/claim', 'voucher-cancelled', { body: { nonce: third } })
    await refused('POST /api/coupons/refresh', 'voucher-cancelled', {
      body: { nonce: third },
      ...fresh,
    })

    await ask('DELETE /api/coupons/{id}', { path: `/api/coupons/${couponId}` })
    await refused(route, 'coupon-archived', { body: { couponId } })
    const edit = { path: `/api/coupons/${couponId}`, body: { archived: false, expiresAt: 1 } }
    await ask('PATCH /api/coupons/{id}', edit)
    await refused(route, 'coupon-expired', { body: { couponId } })
  })

  test('of whoever holds a nonce', async () => {
    const expiresAt = secondsNow() + 2
    const brief = { name: 'Breve', benefit: percentBenefit, expiresAt }
    const short = await ask('POST /api/coupons', { body: brief })
    const { coupon } = await ask('POST /api/coupons', {
      body: { name: 'Mate', benefit: percentBenefit },
    })
    const mint = (id: string) => ask('POST /api/coupons/mint', { body: { couponId: id } })
    const { nonce: lapsing } = await mint(short.coupon.id)
    const { nonce } = await mint(coupon.id)
    const look = async (name: string) => {
      await ask('POST /api/coupons/preview', { body: { nonce: name } })
      return ask('GET /api/coupons/claim', { path: `/api/coupons/claim?nonce=${name}` })
    }
    expect((await look(nonce)).status).toBe('minted')

    const refresh = 'POST /api/coupons/refresh'
    const headers = { 'Idempotency-Key': newKey() }
    const { nonce: next } = await ask(refresh, { body: { nonce }, headers })
    await ask(refresh, { body: { nonce }, headers })
    expect((await look(nonce)).status).toBe('refreshed')
    await refused(refresh, 'voucher-refreshed', {
      body: { nonce },
      headers: { 'Idempotency-Key': newKey() },
    })
    await refused(refresh, 'idempotency-key-invalid', { body: { nonce } })

    const claim = 'POST /api/coupons/claim'
    const tags = [['coupon', coupon.id]]
    const zapRequest = newSigner().sign({
      kind: 9734,
      created_at: 1_700_000_000,
      tags,
      content: '',
    })
    const key = { 'Idempotency-Key': newKey() }
    const body = { nonce: next, owner: owner.pubkey, zapRequest, amountMsat: 21_000 }
    await refused(claim, 'voucher-moved', { body: { nonce } })
    const elsewhere = { nonce: next, owner: newSigner().pubkey }
    await refused(claim, 'other-merchant', { body: elsewhere })
    expect((await ask(claim, { body, headers: key })).status).toBe('success')
    await ask(claim, { body, headers: key })
    expect((await ask(claim, { body: { nonce: next } })).status).toBe('claimed')
    expect((await look(next)).status).toBe('claimed')
    await refused(claim, 'idempotency-key-reused', { body: { nonce: next }, headers: key })
    await refused(claim, 'idempotency-key-invalid', { body, headers: { 'Idempotency-Key': 'ñ' } })
    await refused(refresh, 'voucher-claimed', { body: { nonce: next }, headers })

    const books = 'GET /api/coupons/redemptions'
    await ask(books)
    expect(
      (await ask(books, { path: '/api/coupons/redemptions?limit=1' })).redemptions[0].order,
    ).toEqual(zapRequest)
    await refused(books, 'page-invalid', { path: '/api/coupons/redemptions?limit=0' })
    await ask('GET /api/coupons')

    const unknown = { nonce: 'A'.repeat(22) }
    for (const route of [claim, refresh, 'POST /api/coupons/preview']) {
      await refused(route, 'voucher-unknown', { body: unknown, headers })
      await refused(route, 'nonce-invalid', { body: { nonce: 'short' }, headers })
      await refused(route, 'field-invalid', { body: { nonce: 5 }, headers })
      await refused(route, 'field-invalid', { body: {}, headers })
      await refused(route, 'body-invalid', { body: '[1]', headers })
      await refused(route, 'too-large', { body: `{"nonce":"${'x'.repeat(17_000)}"}`, headers })
    }
    const asGet = (query: string) => ({ path: `/api/coupons/claim${query}` })
    await refused('GET /api/coupons/claim', 'voucher-unknown', asGet(`?nonce=${unknown.nonce}`))
    await refused('GET /api/coupons/claim', 'nonce-invalid', asGet('?nonce=short'))
    await refused('GET /api/coupons/claim', 'field-invalid', asGet(''))

    await Bun.sleep(Math.max(0, expiresAt * 1000 + 20 - Date.now()))
    expect((await look(lapsing)).status).toBe('expired')
    await refused(claim, 'voucher-expired', { body: { nonce: lapsing } })
    await refused(refresh, 'voucher-expired', { body: { nonce: lapsing }, headers })
  })

  test('of what happens live', async () => {
    const route = 'GET /api/coupons/live'
    const headers = { Authorization: `Bearer ${await openSession(server.url, newSigner())}` }
    const open = () => fetch(`${server.url}/api/coupons/live`, { headers })
    const streams = await Promise.all(Array.from({ length: limits.livePerKeyMax }, open))
    const { responses } = operationOf('GET', '/api/coupons/live')
    for (const { status, headers } of streams) {
      const media = headers.get('content-type')?.split(';')[0] ?? ''
      expect(Object.keys(responses[status]?.content ?? {})).toEqual([media])
      seen.set(route, (seen.get(route) ?? new Set()).add(status))
    }
    await refused(route, 'live-full', { headers })
    await Promise.all(streams.map((stream) => stream.body?.cancel()))
  })

  test('of a shop with an authority of its own', async () => {
    await refused('GET /tls', 'not-found')
    await refused('GET /tls/cuponera.crt', 'not-found')
    const before = server
    const dataDir = newDirectory()
    await renewOwnCertificate(dataDir, secondsNow())
    server = await startServer({ dataDir, env: { TLS_PORT: '0' } })
    await ask('GET /tls')
    await ask('GET /tls/cuponera.crt')
    server = before
  })

  test('of a service for listed merchants', async () => {
    const before = { server, token }
    server = await startServer({ env: { MERCHANTS: newSigner().pubkey, RATE_LIMIT: 'off' } })
    token = await openSession(server.url, owner)
    const id = crypto.randomUUID()
    const bodies: Record<string, Json> = {
      'POST /api/coupons': { name: 'x', benefit: percentBenefit },
      'PATCH /api/coupons/{id}': { name: 'x' },
      'POST /api/coupons/minters': { pubkey: newSigner().pubkey },
      'PUT /api/coupons/discovery': { event: announcement() },
    }
    for (const { route, path, operation } of operations()) {
      if (!operation['x-refusals'].includes('merchant-not-allowed')) continue
      const asked = path
        .replace('{id}', id)
        .replace('{key}', owner.pubkey)
        .replace('{name}', 'A'.repeat(22))
      const body = bodies[route]
      await refused(route, 'merchant-not-allowed', { path: asked, ...(body && { body }) })
    }
    ;({ server, token } = before)
  })

  test('of the gateway', async () => {
    const note = (changes: Json = {}) => {
      const made = { kind: 1, created_at: secondsNow(), tags: [], content: '' }
      return owner.sign({ ...made, ...changes })
    }
    const publish = 'POST /nostr/publish'
    const event = note()
    await ask(publish, { body: event })
    await refused(publish, 'not-json-event', { body: 'x' })
    await refused(publish, 'not-acceptable', { body: event, headers: { Accept: 'text/html' } })
    await refused(publish, 'event-invalid', { body: { ...event, content: 'x' } })
    await refused(publish, 'delegation-invalid', { body: note({ tags: [['delegation']] }) })
    await refused(publish, 'event-not-publishable', { body: note({ kind: 20_402 }) })
    await refused(publish, 'too-large', { body: 'x'.repeat(300_000) })

    const state = 'GET /nostr/publish/{id}'
    await ask(state, { path: `/nostr/publish/${event.id}` })
    await refused(state, 'event-unknown', { path: '/nostr/publish/x' })

    const balances = 'GET /api/ledger/balances/{key}'
    const ofKey = (key: string) => ({ path: `/api/ledger/balances/${key}` })
    await ask(balances, ofKey(owner.pubkey))
    await refused(balances, 'account-unknown', ofKey('x'))
    await refused(balances, 'account-not-yours', ofKey(newSigner().pubkey))

    const find = 'POST /nostr/fetch'
    await ask(find, { body: { ids: [event.id] } })
    await refused(find, 'not-json-filter', { body: '[]' })
    await refused(find, 'filter-invalid', { body: { limit: -1 } })
  })

  test('of nonces for identities', async () => {
    const manager = newSigner(managerSecret)
    const before = server
    server = await startServer({ env: { RATE_LIMIT: 'off', ...managerEnv } })
    const create = (changes: Json = {}, signer = manager) =>
      signer.sign({ kind: 1112, created_at: secondsNow(), tags: [], content: '', ...changes })
    for (const route of ['POST /api/nonce', 'POST /api/nonce/create']) {
      const body = create({
        tags: [
          ['t', 'create-nonce'],
          ['unique', newKey()],
        ],
      })
      await ask(route, { body })
      await refused(route, 'event-repeated', { body })
      await refused(route, 'identity-event-invalid', { body: 'x' })
      await refused(route, 'identity-event-stale', { body: create({ created_at: 1 }) })
      await refused(route, 'identity-nonce-invalid', { body: create({ tags: [['nonce', 'x']] }) })
      await refused(route, 'identity-not-authorized', { body: create({}, owner) })
      const proposal = (word: string) =>
        create({
          tags: [
            ['nonce', 'n'.repeat(22)],
            ['unique', word + route],
          ],
        })
      await call(server.url, '/api/nonce', { body: proposal('a') })
      await refused(route, 'identity-nonce-taken', { body: proposal('b') })
    }
    server = before
  })

  test('of identities', async () => {
    const before = server
    const manager = newSigner(managerSecret)
    server = await startServer({ env: { RATE_LIMIT: 'off', ...managerEnv } })
    const register = 'POST /api/identity'
    const holder = newSigner().pubkey
    const nonce = await newIdentityNonce(server.url, manager)
    const second = await newIdentityNonce(server.url, manager)
    const refuse = async (
      code: string,
      wanted: Json,
      by = manager,
      using: string | null = second,
    ) => refused(register, code, { body: identityEvent(by, using, wanted) })
    const lud16 = walletObject()
    const ana = { name: 'ana', pubkey: holder, lud16 }
    await ask(register, { body: identityEvent(manager, nonce, ana) })
    await refused(register, 'identity-event-invalid', { body: {} })
    const stale = identityEvent(manager, second, ana, { createdAt: 1 })
    await refused(register, 'identity-event-stale', { body: stale })
    await refuse('identity-name-invalid', { ...ana, name: '' })
    await refuse('identity-pubkey-invalid', { ...ana, pubkey: '' })
    await refuse('identity-lud16-invalid', { ...ana, lud16: '' })
    await refuse('identity-not-authorized', ana, owner)
    await refuse('identity-nonce-missing', ana, manager, null)
    await refuse('identity-nonce-unknown', ana, manager, 'x')
    await refuse('identity-nonce-burned', ana, manager, nonce)
    await refuse('identity-reserved', { ...ana, name: 'admin' })
    await refuse('identity-name-taken', ana)
    await refuse('identity-pubkey-taken', { ...ana, name: 'eva' })
    const solo = { name: 'solo', pubkey: newSigner().pubkey }
    await ask(register, { body: identityEvent(manager, second, solo) })

    const state = 'GET /api/nonce/{nonce}'
    const third = await newIdentityNonce(server.url, manager)
    await ask(state, { path: `/api/nonce/${third}` })
    await refused(state, 'nonce-burned', { path: `/api/nonce/${nonce}` })
    await refused(state, 'nonce-unknown', { path: '/api/nonce/x' })

    const known = 'GET /api/identity'
    await ask(known, { path: '/api/identity?name=ana' })
    await refused(known, 'identity-unknown', { path: '/api/identity?name=eva' })
    await refused(known, 'method-not-allowed')
    await ask('GET /.well-known/nostr.json', { path: '/.well-known/nostr.json?name=ana' })

    for (const path of ['/.well-known/lnurlp', '/api/lud16']) {
      const route = `GET ${path}/{username}`
      await ask(route, { path: `${path}/ana` })
      await ask(route, { path: `${path}/solo` })
      await refused(route, 'account-unknown', { path: `${path}/x` })
    }
    const pay = 'GET /api/lud16/{username}/cb'
    const paying = (name: string, query: string) => ({ path: `/api/lud16/${name}/cb?${query}` })
    await refused(pay, 'account-unknown', paying('x', ''))
    await refused(pay, 'payments-not-taken', paying('solo', ''))
    await refused(pay, 'amount-invalid', paying('ana', ''))
    const comment = `amount=1000&comment=${'x'.repeat(9000)}`
    await refused(pay, 'field-invalid', paying('ana', comment))
    const dead = JSON.stringify(walletObject({ callback: 'https://127.0.0.1:9/' }))
    damage(server.dataDir, `UPDATE accounts SET lud16 = '${dead}' WHERE name = 'ana'`)
    await refused(pay, 'wallet-unreachable', paying('ana', 'amount=1000'))
    const name = 'GET /api/pubkey/{key}'
    await ask(name, { path: `/api/pubkey/${holder}` })
    await refused(name, 'account-unknown', { path: '/api/pubkey/x' })
    server = before
  })

  test('of vouchers on their way', async () => {
    const before = { server, token }
    const other = newSigner()
    const env = {
      RATE_LIMIT: 'off',
      PUBLIC_URL: 'https://cupones.example',
      VOUCHER_SERVICES: `${other.pubkey}|https://127.0.0.1:9/api/coupons/refresh`,
    }
    server = await startServer({ env })
    const holder = newHolder('eva')
    addAccount(server.dataDir, 'eva', holder.signer.pubkey)
    const as = (method: string, path: string, body?: string) => ({
      path,
      headers: {
        Authorization: nostrHeader(
          createProof(holder.signer, `https://cupones.example${path}`, {
            method,
            ...(body && { body }),
          }),
        ),
      },
      ...(body && { body }),
    })
    const session = await call(
      server.url,
      '/api/auth/session',
      as('POST', '/api/auth/session', '{}'),
    )
    token = session.json.token
    const merchant = session.json.token
    const couponId = await createDefinition(server.url, merchant)
    const mint = () => mintOne(server.url, merchant, couponId)

    const take = 'POST /api/lud16/{username}/cb'
    const path = '/api/lud16/eva/cb'
    const offer = async (change: Json = {}) => {
      const { nonce, voucher } = await mint()
      return { path, body: { action: 'voucher', nonce, voucher, ...change } }
    }
    const accepted = await offer()
    await ask(take, accepted)
    await refused(take, 'voucher-invalid', await offer({ voucher: {} }))
    await refused(take, 'vouchers-not-taken', { ...(await offer()), path: '/api/lud16/x/cb' })
    const signedBy = async (signer: typeof other) => {
      const { nonce, voucher } = await mint()
      return { path, body: { action: 'voucher', nonce, voucher: signer.sign(voucher) } }
    }
    await refused(take, 'service-unknown', await signedBy(newSigner()))
    await refused(take, 'service-silent', await signedBy(other))
    await refused(take, 'field-invalid', { path, body: {} })
    await refused(take, 'body-invalid', { path, body: '[]' })
    await refused(take, 'nonce-invalid', { path, body: { ...accepted.body, nonce: 'x' } })

    const send = 'POST /api/transfer'
    const { nonce } = await mint()
    const to = 'eva@cupones.example'
    await ask(send, { body: { nonce, to, comment: 'Hola' } })
    await refused(send, 'voucher-unknown', { body: { nonce: 'A'.repeat(22), to } })
    const { nonce: mine } = await mint()
    await refused(send, 'address-silent', { body: { nonce: mine, to: 'eva@127.0.0.1:9' } })
    await refused(send, 'vouchers-not-taken', { body: { nonce: mine, to: 'x@cupones.example' } })
    await refused(send, 'voucher-refreshed', { body: { nonce, to: 'x@cupones.example' } })
    await refused(send, 'field-invalid', { body: { nonce, to: 'nobody' } })
    await refused(send, 'nonce-invalid', { body: { nonce: 'x', to } })
    await refused(send, 'voucher-invalid', { body: { nonce, to, voucher: {} } })
    const { body: strange } = await signedBy(newSigner())
    await refused(send, 'service-unknown', { body: { ...strange, to } })

    const list = 'GET /api/wallet/vouchers'
    const { vouchers } = await ask(list, as('GET', '/api/wallet/vouchers'))
    expect(vouchers).toHaveLength(2)
    await refused(list, 'auth-missing', { token: '' })
    const drop = 'DELETE /api/wallet/vouchers/{id}'
    const one = `/api/wallet/vouchers/${vouchers[0].id}`
    await ask(drop, as('DELETE', one))
    await refused(drop, 'held-unknown', as('DELETE', one))
    const settings = '/api/wallet/settings'
    await ask(`GET ${settings}`)
    await ask(`PUT ${settings}`, { body: { allowVouchers: false } })
    await refused(`PUT ${settings}`, 'field-invalid', { body: { allowVouchers: 1 } })
    damage(server.dataDir, 'DELETE FROM accounts')
    await refused(`GET ${settings}`, 'account-unknown')
    await refused(`PUT ${settings}`, 'account-unknown', { body: { allowVouchers: true } })
    ;({ server, token } = before)
  })

  test('of gateways whose relays are away, unwilling or not for strangers', async () => {
    const before = server
    const rude = startFaultyRelay({
      req(socket, name) {
        tell(socket, 'CLOSED', name, 'blocked: you')
        return true
      },
    })
    server = await startServer({ env: { RELAYS: 'ws://127.0.0.1:9' } })
    await refused('POST /nostr/fetch', 'relays-silent', { body: {} })
    damage(server.dataDir, 'UPDATE outbox_load SET events = 1000000000')
    const event = newSigner().sign({ kind: 1, created_at: 1, tags: [], content: '' })
    await refused('POST /nostr/publish', 'outbox-full', { body: event })
    server = await startServer({ env: { RELAYS: rude.url } })
    await until('connected', () => rude.open() === 1)
    await refused('POST /nostr/fetch', 'relays-refused', { body: {} })
    server = await startServer({ env: { PUBLIC_URL: 'https://cupones.example' } })
    await refused('POST /nostr/publish', 'not-allowed', { body: event })
    await stopRelays()
    server = before
  })

  test('of cards', async () => {
    const before = server
    server = await startServer({ env: { ...cardEnv, RATE_LIMIT: 'off' } })
    const uid = newUid()
    const holder = newCardHolder()
    const init = 'POST /ntag424'
    const event = (content: object, parts = {}) =>
      ({ body: cardEvent('card-init-request', content, parts) }) as const
    const { otc } = JSON.parse((await ask(init, event({ cid: uid }))).content)
    const expiring = newUid()
    const short = JSON.parse((await ask(init, event({ cid: expiring }))).content)
    const now = secondsNow()
    const window = `kind=1112&created_at>${now - 9}&created_at<${now + 2}`
    await activateCard(server, holder, short.otc, delegationOf(holder, window))
    const forwarded = { headers: { 'X-Forwarded-For': '203.0.113.9' } }
    await refused(init, 'encryption-needed', { ...event({ cid: uid }), ...forwarded })
    await refused(init, 'card-event-invalid', { body: {} })
    await refused(init, 'card-event-stale', event({ cid: uid }, { createdAt: 5 }))
    await refused(init, 'card-content-invalid', event({ cid: 5 }))
    await refused(init, 'card-writer-only', event({ cid: uid }, { signer: newSigner() }))
    await refused(init, 'card-counter-unknown', event({ cid: newUid(), version: 2 }))
    const link = 'PATCH /ntag424'
    const at = (counter: number, tag = uid) => ({ path: `/ntag424?${tapQuery(tag, counter)}` })
    await ask(link, { ...at(1), ...event({ otc: 'volante' }) })
    await refused(link, 'tap-used', { ...at(1), ...event({ otc: 'volante' }) })
    await refused(link, 'card-linked', { ...at(2), ...event({ otc: 'otro' }) })
    const other = newUid()
    await ask(init, event({ cid: other }))
    await refused(link, 'otc-linked', { ...at(1, other), ...event({ otc: 'volante' }) })

    const scan = 'GET /card/scan'
    const tap = (counter: number) => ({ path: scanPath(uid, counter) })
    const asked = (counter: number, action: string) => ({ ...tap(counter), ...asking(action) })
    await refused(scan, 'card-inactive', tap(3))
    await ask(scan, asked(4, 'info'))
    const activate = 'POST /card'
    const activation = (code: string, delegation: object = delegationOf(holder)) => {
      const content = { otc: code, delegation }
      return { body: cardEvent('card-activation-request', content, { signer: holder }) }
    }
    await refused(activate, 'otc-unknown', activation(otc))
    await refused(activate, 'card-delegation-invalid', activation('volante', {}))
    await ask(activate, activation('volante'))
    const many = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO cards (uuid, cid, key_version, counter, design_uuid, design_name, name, holder, delegation, created_at, activated_at)
      SELECT substr(uuid, 1, 32) || printf('%04d', i), randomblob(7), 1, 0, design_uuid, '', '', holder, delegation, 1, 1
      FROM cards, n WHERE holder IS NOT NULL`
    damage(server.dataDir, many)
    const third = newUid()
    const more = JSON.parse((await ask(init, event({ cid: third }))).content)
    await refused(activate, 'cards-full', activation(more.otc))

    for (const [counter, action] of [
      [5, ''],
      [6, 'extendedScan'],
      [7, 'identityQuery'],
      [8, 'info'],
    ] as const) {
      await ask(scan, action === '' ? tap(counter) : asked(counter, action))
    }
    await refused(scan, 'pay-request-unknown', asked(9, 'payRequest'))
    await refused(scan, 'action-unknown', asked(10, 'fly'))
    await refused(scan, 'tap-invalid')
    await refused(scan, 'card-unknown', { path: scanPath(newUid(), 1) })
    const none = asking('extendedScan', ',tokens=NADA')
    await refused(scan, 'token-unknown', { ...tap(11), ...none })
    damage(server.dataDir, `UPDATE cards SET enabled = 0 WHERE cid = x'${uid}'`)
    await refused(scan, 'card-disabled', tap(12))
    damage(server.dataDir, 'UPDATE cards SET enabled = 1, counter_known = 0')
    await refused(scan, 'card-unconfirmed', tap(13))
    await refused(init, 'card-counter-low', event({ cid: uid, ctr: 1 }))

    for (const what of ['data', 'config']) {
      const route = `POST /card/${what}/request`
      const body = cardEvent(`card-${what}-request`, {}, { signer: holder })
      await ask(route, { body })
      await refused(route, 'event-repeated', { body })
    }
    const missing = ['POST /card/reset/request', 'POST /card/reset/claim', 'PATCH /card']
    for (const route of missing) await refused(route, 'not-supported', { body: {} })
    const wipe = 'DELETE /ntag424'
    const removal = (cid: string) => ({ body: cardEvent('card-delete-request', { cid }) })
    await ask(wipe, removal(uid))
    await refused(wipe, 'card-unknown', removal(newUid()))
    const worn = event({ cid: other, version: 255, ctr: 0 })
    await ask(wipe, removal(other))
    await ask(init, worn)
    await ask(wipe, removal(other))
    await refused(init, 'card-versions-over', event({ cid: other }))
    damage(server.dataDir, 'UPDATE cards SET counter_known = 1')
    await Bun.sleep(Math.max(0, (now + 2) * 1000 + 20 - Date.now()))
    await refused(scan, 'delegation-over', { path: scanPath(expiring, 1) })
    const { GATEWAY_PUBKEY: _, ...closed } = cardEnv
    server = await startServer({ env: closed })
    const held = await newCard(server)
    await refused(scan, 'no-gateway', { path: scanPath(held.uid, 1) })
    server = before
  })

  test('of payments', async () => {
    const before = server
    server = await startServer({ env: payEnv })
    const card = await newFundedCard(server, { PESO: 10, BTC: 100_000 })
    const paying = 'POST /card/pay'
    const paid = 'GET /card/pay/{k1}'
    const invoicing = 'GET /card/pay'
    const tokens = { PESO: 1 }
    const pubkey = newSigner().pubkey
    const order = async (more: Json = {}) => {
      const k1 = await tap(server, card)
      return { k1, body: payEvent({ k1, pubkey, tokens, ...more }) }
    }
    const first = await order()
    await ask(paying, { body: first.body })
    await ask(paid, { path: `/card/pay/${first.k1}` })
    await refused(paid, 'k1-unknown', { path: '/card/pay/x' })
    await refused(paid, 'payment-unknown', { path: `/card/pay/${(await order()).k1}` })
    await refused(paying, 'k1-used', { body: payEvent({ k1: first.k1, pubkey, tokens }) })
    await refused(paying, 'card-event-invalid', { body: {} })
    await refused(paying, 'k1-unknown', { body: payEvent({ k1: 'x', pubkey, tokens }) })
    await refused(paying, 'recipient-invalid', { body: (await order({ pubkey: 'x' })).body })
    await refused(paying, 'tokens-invalid', { body: (await order({ tokens: {} })).body })
    const poor = await order({ tokens: { PESO: 11 } })
    await refused(paying, 'funds-insufficient', { body: poor.body })
    expect(await ask(paid, { path: `/card/pay/${poor.k1}` })).toMatchObject({ state: 'refused' })
    const own = await order({ pubkey: card.holder.pubkey })
    await refused(paying, 'ledger-refused', { body: own.body })
    await refused(paying, 'token-unknown', { body: (await order({ tokens: { USD: 1 } })).body })

    const invoice = async (pr: string) => {
      const k1 = await tapStandard(server, card)
      return { path: `/card/pay?k1=${k1}&pr=${pr}` }
    }
    const pr = createInvoice()
    await ask(invoicing, await invoice(pr))
    await refused(invoicing, 'invoice-taken', await invoice(pr))
    await refused(invoicing, 'invoice-invalid', await invoice('x'))
    await refused(invoicing, 'invoice-amountless', await invoice(createInvoice({ amount: '' })))
    await refused(invoicing, 'invoice-expired', await invoice(createInvoice({ createdAt: 1 })))
    await refused(invoicing, 'amount-too-large', await invoice(createInvoice({ amount: '1m' })))

    const stale = await order()
    const late = await order()
    const other = await order()
    damage(server.dataDir, `INSERT INTO card_limits VALUES (1, 1, '', '', 'PESO', 0, 0)`)
    await refused(paying, 'limit-exceeded', { body: (await order()).body })
    damage(server.dataDir, `INSERT INTO trusted_merchants SELECT holder, zeroblob(32) FROM cards`)
    await refused(paying, 'recipient-not-trusted', { body: (await order()).body })
    damage(server.dataDir, 'UPDATE card_scans SET holder = zeroblob(32)')
    await refused(paying, 'holder-changed', { body: other.body })
    damage(server.dataDir, "UPDATE card_scans SET state = 'in-flight' WHERE state = 'free'")
    await refused(paying, 'k1-in-flight', { body: late.body })
    damage(server.dataDir, "UPDATE card_scans SET state = 'free', expires_at = 1")
    await refused(paying, 'k1-expired', { body: stale.body })

    // A ledger elsewhere that says nothing until its time is over.
    const silent = { ...payEnv, LEDGER_PUBKEY: newSigner().pubkey, RELAYS: 'ws://127.0.0.1:9' }
    server = await startServer({ env: silent })
    const held = await newFundedCard(server, {})
    const k1 = await tap(server, held)
    const body = payEvent({ k1, pubkey, tokens })
    const waiting = refused(paying, 'ledger-silent', { body })
    await until('reserved', async () => (await call(server.url, `/card/pay/${k1}`)).status === 200)
    damage(server.dataDir, 'UPDATE card_payments SET expires_at = 1')
    await waiting
    server = before
  })

  test('and every route was seen to succeed and to refuse', () => {
    const lacking = operations().filter(({ route, operation }) => {
      const statuses = [...(seen.get(route) ?? [])]
      const refusing = alwaysGood.includes(route) || statuses.some((status) => status >= 400)
      // A good answer there is that of a wallet elsewhere.
      const good = route === 'GET /api/lud16/{username}/cb' || statuses.some((one) => one < 400)
      if (!offered(operation)) return !refusing
      return !refusing || !good
    })
    expect(lacking.map(({ route }) => route)).toEqual([])
  })

  test('and every refusal was seen, but those that need a fault, a crowd, another service or origin', () => {
    const unseen: string[] = refusalCodes.filter((code) => !codesSeen.has(code))
    expect(unseen).toEqual([
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
      'definitions-full',
      'minters-full',
      'identity-nonces-full',
      'clock-behind',
      'overloaded',
      'unavailable',
    ])
  })
})

/** It has a good answer at all. */
function offered({ responses }: Operation): boolean {
  return Object.keys(responses).some((status) => Number(status) < 400)
}

function operations() {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      return { path, route: `${method.toUpperCase()} ${path}`, operation }
    }),
  )
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
