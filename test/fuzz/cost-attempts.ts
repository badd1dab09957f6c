import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiDocument } from '../../src/http/openapi.ts'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { cardEnv, manager, newCard, newHolder } from '../support/cards.ts'
import {
  call,
  createDefinition,
  type Json,
  openSession,
  percentBenefit,
} from '../support/client.ts'
import { createEvent } from '../support/events.ts'
import { callRaw, encodeRequest, type RawRequest } from '../support/raw.ts'
import type { TestServer } from '../support/server.ts'
import { addAccount } from '../support/shops.ts'
import { brokenShapes, jsonShapes, lineShapes, type Shape } from './cost-shapes.ts'

/** Where an attempt is strange: a line or the body of a request, or a frame of the relay. */
export const parts = ['line', 'body', 'frame'] as const

/** One strange request, or frame of the relay, with a harmless one that is as long. */
export type Attempt = {
  name: string
  part: (typeof parts)[number]
  /** The shapes that stopped an earlier version: a short run leaves none of them out. */
  known: boolean
  hostile: () => Uint8Array
  harmless: () => Uint8Array
}

/** Settings of a server whose routes can be reached as deep as possible. */
export const costEnv = {
  ...cardEnv,
  RATE_LIMIT: 'off',
  LOG_LEVEL: 'warn',
  MERCHANTS: 'open',
  IDENTITY_ISSUERS: manager.pubkey,
  IDENTITY_SELF_SIGNUP: 'on',
}

/** Characters of one line of a request: a little less than the parser of HTTP takes for all of its head. */
const headChars = 15_000
const bodyLimits = [2 ** 20, 256 * 1024, 64 * 1024, 16 * 1024, 4096]
const frameChars = 256 * 1024
const eventName = 'NostrEvent'
/** Shapes that stop a server which walks or prints unchecked input. */
const knownShapes = ['deep arrays', 'deep objects', 'open arrays in a key']

type Operation = NonNullable<ApiDocument['paths'][string]>[string]
type Schema = Json

type Facts = {
  base: string
  token: string
  nonce: () => string
  values: Record<string, string>
  holder: Signer
  document: ApiDocument
}

/** Every attempt on a running server, from the document that it gives of itself. */
export async function collectAttempts(server: TestServer): Promise<Attempt[]> {
  const facts = await prepare(server)
  const attempts: Attempt[] = []
  for (const [path, operations] of Object.entries(facts.document.paths)) {
    for (const [method, operation] of Object.entries(operations ?? {})) {
      // The live stream has no end.
      const route = { path, method: method.toUpperCase(), operation: operation as Operation }
      if (path !== '/api/coupons/live') attempts.push(...(await attemptsOn(facts, route)))
    }
  }
  return [...attempts, ...frameAttempts(facts)]
}

async function prepare(server: TestServer): Promise<Facts> {
  const base = server.url
  const token = await openSession(base, manager)
  const couponId = await createDefinition(base, token)
  const body = { couponId, count: 500 }
  const { json } = await call(base, '/api/coupons/mint', { body, token })
  const nonces: string[] = json.vouchers.map(({ nonce }: Json) => nonce)
  const holder = newHolder()
  const card = await newCard(server, holder)
  await addAccount(server.dataDir, 'ana', holder.pubkey)
  await storeLargeEvents(base)
  const page = await call(base, '/panel')
  let turn = 0
  return {
    base,
    token,
    nonce: () => nonces[turn++ % nonces.length] as string,
    values: {
      id: couponId,
      couponId,
      key: npubOf(manager.pubkey),
      pubkey: manager.pubkey,
      username: 'ana',
      to: 'ana@localhost',
      uuid: card.uuid,
      file: /\/ui\/([^"]+)"/.exec(page.text)?.[1] ?? 'x',
      amount: '1000',
    },
    holder,
    document: (await call(base, '/openapi.json')).json,
  }
}

/** Events for the relay: queries of an empty store would cost nothing. */
async function storeLargeEvents(base: string): Promise<void> {
  for (let made = 0; made < 40; made++) {
    const body = createEvent({
      signer: manager,
      content: `${made}${'x'.repeat(frameChars - 1000)}`,
    })
    const { status } = await call(base, '/nostr/publish', { body })
    if (status !== 202) throw new Error(`publishing answered ${status}`)
  }
}

type Route = { path: string; method: string; operation: Operation }

async function attemptsOn(facts: Facts, route: Route): Promise<Attempt[]> {
  const bodyChars = await bodyLimitOf(facts, route)
  return [
    ...bodyAttempts(facts, route, bodyChars),
    ...eventAttempts(facts, route, bodyChars),
    ...parameterAttempts(facts, route),
    ...headerAttempts(facts, route),
  ]
}

/** The longest body that a route accepts. */
async function bodyLimitOf(facts: Facts, route: Route): Promise<number> {
  for (const chars of bodyLimits) {
    const { status } = await callRaw(
      facts.base,
      requestTo(facts, route, { body: ' '.repeat(chars) }),
    )
    if (status !== 413) return chars
  }
  throw new Error(`${nameOf(route)} takes no body of any length`)
}

// ── Bodies

function bodyAttempts(facts: Facts, route: Route, chars: number): Attempt[] {
  const send = (name: string, text: () => string, known = false) =>
    attempt(facts, route, { name: `body ${name}`, known, hostile: () => ({ body: text() }) })
  const whole = Object.entries({ ...jsonShapes, ...brokenShapes }).map(([name, shape]) =>
    send(`of ${name}`, () => shape(chars), knownShapes.includes(name)),
  )
  // Nothing reads the body of a GET.
  if (route.method === 'GET') return whole.filter(({ known }) => known)
  const schema = bodySchemaOf(facts, route.operation)
  const properties = [...new Set(['unasked', ...Object.keys(schema?.properties ?? {})])]
  const inside = properties.flatMap((property) =>
    Object.entries(jsonShapes).map(([name, shape]) => {
      const text = () => textWith(sampleOf(facts, schema ?? {}), property, shape, chars)
      const known = knownShapes.includes(name)
      return send(`with ${property} of ${name}`, text, known)
    }),
  )
  const filters = properties.includes('authors')
    ? Object.entries(filterShapes).map(([name, shape]) => send(name, () => shape(chars)))
    : []
  return [...whole, ...inside, ...filters]
}

function bodySchemaOf(facts: Facts, operation: Operation): Schema | null {
  const content = operation.requestBody?.content as Record<string, { schema: Schema }> | undefined
  const schema = content?.['application/json']?.schema
  return schema ? resolved(facts, schema) : null
}

function resolved({ document }: Facts, schema: Schema): Schema {
  const name = String(schema?.$ref ?? '')
    .split('/')
    .at(-1)
  return name ? (document.components.schemas as Json)[name] : schema
}

/** The JSON text of `sample` in which one property is as large as `chars` allow. */
function textWith(sample: Json, property: string, shape: Shape, chars: number): string {
  const mark = '@'.repeat(20)
  const frame = JSON.stringify({ ...sample, [property]: mark })
  return frame.replace(`"${mark}"`, shape(chars - frame.length + mark.length + 2))
}

/** A value that a schema allows. */
function sampleOf(facts: Facts, asked: Schema, property = ''): Json {
  if (String(asked?.$ref).endsWith(`/${eventName}`)) return eventWith(facts, {})
  const schema = resolved(facts, asked)
  if (property === 'nonce') return facts.nonce()
  if (facts.values[property] !== undefined) return facts.values[property]
  if (property === 'benefit') return percentBenefit
  if (property === 'purchase') return { amount: 1, currency: 'ARS' }
  if (schema.const !== undefined) return schema.const
  const option = schema.anyOf?.[0]
  if (option) return sampleOf(facts, option, property)
  switch (schema.type) {
    case 'object': {
      const entries = Object.entries(schema.properties ?? {}).map(([name, inner]) => [
        name,
        sampleOf(facts, inner, name),
      ])
      return Object.fromEntries(entries)
    }
    case 'array':
      return []
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return true
    default:
      return 'x'
  }
}

const hex = (at: number) => at.toString(16).padStart(64, '0')
const many = (length: number, one: (at: number) => string | number) =>
  Array.from({ length }, (_, at) => one(at))

/** Filters that are valid and ask for as much as a filter can. */
const filterShapes: Record<string, Shape> = {
  'a filter of everything': () => '{"limit":500}',
  'a filter of long lists': () =>
    JSON.stringify({ ids: many(1000, hex), authors: many(1000, hex), kinds: many(1000, Number) }),
  'a filter of every tag': (chars) => {
    const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ']
    const each = Math.min(1000, Math.floor(chars / letters.length / 8) - 2)
    const values = many(each, (at) => `${at}`)
    return JSON.stringify(Object.fromEntries(letters.map((letter) => [`#${letter}`, values])))
  },
  'a filter of one long tag': (chars) => JSON.stringify({ '#t': ['a'.repeat(chars - 20)] }),
  'a filter that searches': () => JSON.stringify({ search: 'a '.repeat(128) }),
}

// ── Events

/** Kind and `t` of the events in requests. */
const asks = [
  [1112, 'create-nonce'],
  [1112, 'create-identity'],
  [1112, 'card-config-change'],
  [1112, 'internal-transaction-start'],
  [21_111, 'card-init-request'],
  [21_111, 'card-delete-request'],
  [21_111, 'card-activation-request'],
  [21_111, 'card-data-request'],
  [21_111, 'card-config-request'],
  [21_111, 'service:withdrawRequest'],
  [30_078, 'x'],
  [20_402, 'x'],
  [9734, 'x'],
  // A deletion.
  [5, 'x'],
] as const

type Parts = { kind?: number; type?: string; tags?: string[][]; content?: string; signer?: Signer }

function eventWith(
  facts: Facts,
  { kind = 1112, type = 'x', tags = [], content = '{}', signer = manager }: Parts,
): NostrEvent {
  const own = [
    ['p', manager.pubkey],
    ['t', type],
    ['d', 'lacrypta.merchant/coupons'],
    ['coupon', facts.values.couponId ?? ''],
    ['nonce', crypto.randomUUID()],
  ]
  return createEvent({ kind, content, signer, tags: [...own, ...tags] })
}

/** The places of a body, and of a frame, where an event stands: null is the whole of it. */
function eventPlaces(facts: Facts, operation: Operation): (string | null)[] {
  const schema = bodySchemaOf(facts, operation)
  if (!schema) return []
  if (schema === (facts.document.components.schemas as Json)[eventName]) return [null]
  const inside = Object.entries(schema.properties ?? {}).filter(
    ([name, inner]) => name === 'zapRequest' || JSON.stringify(inner).includes(`/${eventName}"`),
  )
  return inside.map(([name]) => name)
}

/** Events with a valid signature, so that their content and tags are read. */
function eventAttempts(facts: Facts, route: Route, chars: number): Attempt[] {
  const schema = bodySchemaOf(facts, route.operation)
  return eventPlaces(facts, route.operation).flatMap((place) => {
    const wrap = (text: string) => {
      if (place === null) return text
      const sample = JSON.stringify({ ...sampleOf(facts, schema), [place]: 0 })
      return sample.replace(`"${place}":0`, () => `"${place}":${text}`)
    }
    const room = chars - wrap('').length
    return eventTexts(facts, room).map(({ name, text, known }) =>
      attempt(facts, route, {
        name: `${place ?? 'body'} ${name}`,
        known,
        hostile: () => ({ body: wrap(text()) }),
      }),
    )
  })
}

type Text = { name: string; known: boolean; text: () => string }

/** Signed events of every kind in requests, in at most so many characters. */
function eventTexts(facts: Facts, chars: number): Text[] {
  const room = chars - 1500
  return asks.flatMap(([kind, type]) => {
    const sign = (parts: Parts) => eventWith(facts, { kind, type, ...parts })
    const about = `${kind} ${type}`
    const contents = Object.entries(jsonShapes).flatMap(([name, shape]) => [
      {
        name: `event ${about} whose content is text of ${name}`,
        known: name === 'deep arrays',
        text: () =>
          JSON.stringify(sign({ content: fitting((size) => `{"a":${shape(size)}}`, room) })),
      },
      {
        name: `event ${about} whose content is an object of ${name}`,
        // One kind is enough: such a content is made text before any other check.
        known: kind === asks[0][0] && type === asks[0][1] && knownShapes.includes(name),
        text: () => withObjectContent(sign, name, `{"a":${shape(room)}}`),
      },
    ])
    const tags = Object.entries(tagShapes).map(([name, shape]) => ({
      name: `event ${about} with ${name}`,
      known: false,
      text: () => JSON.stringify(sign({ tags: shape(room) })),
    }))
    const wishes = {
      name: `event ${about} with wishes for cards`,
      known: false,
      text: () => JSON.stringify(sign({ content: cardWishes(facts, room), signer: facts.holder })),
    }
    return type === 'card-config-change' ? [...contents, ...tags, wishes] : [...contents, ...tags]
  })
}

/** The largest text of a shape that is at most so long as JSON inside of JSON. */
function fitting(shape: Shape, chars: number): string {
  const text = shape(chars)
  const longer = JSON.stringify(text).length / chars
  return longer > 1 ? shape(Math.floor(chars / longer)) : text
}

/** An event that is signed as the service reads it: its content as JSON.stringify gives it for an object. */
function withObjectContent(sign: (parts: Parts) => NostrEvent, name: string, json: string): string {
  // A deep one has that form already, and JSON.stringify would take seconds for it.
  const content = name.startsWith('deep') ? json : JSON.stringify(JSON.parse(json))
  const mark = '@'.repeat(20)
  return JSON.stringify({ ...sign({ content }), content: mark }).replace(`"${mark}"`, () => json)
}

const tagShapes: Record<string, (chars: number) => string[][]> = {
  'many tags': (chars) => many(chars / 12, (at) => `${at % 10_000}`).map((at) => ['t', String(at)]),
  'many empty tags': (chars) => Array.from({ length: chars / 3 }, () => []),
  'many letters': (chars) => Array.from({ length: chars / 8 }, () => ['e']),
  'one wide tag': (chars) => [['t', ...Array.from({ length: chars / 4 }, () => 'a')]],
  'one long tag': (chars) => [['t', 'a'.repeat(chars)]],
  'a long expiration': (chars) => [['expiration', '9'.repeat(chars)]],
  'a long delegation': (chars) => [
    ['delegation', manager.pubkey, 'kind=1&'.repeat(chars / 7 - 30), 'a'.repeat(128)],
  ],
  'a delegation of separators': (chars) => [
    ['delegation', manager.pubkey, `kind=1${'&'.repeat(chars - 300)}x`, 'a'.repeat(128)],
  ],
  'many events': (chars) => many(chars / 75, hex).map((id) => ['e', String(id)]),
  'many coordinates': (chars) =>
    many(chars / 95, (at) => `30078:${manager.pubkey}:${at}`).map((one) => ['a', String(one)]),
  'a coordinate of colons': (chars) => [['a', ':'.repeat(chars)]],
}

function cardWishes({ values }: Facts, chars: number): string {
  const limit = { name: 'x', description: 'x', token: 'PESO', amount: 1, delta: 1 }
  const item = {
    name: 'x',
    description: 'x',
    status: 'ENABLED',
    limits: Array.from({ length: chars / 400 }, () => limit),
  }
  const merchants = many(chars / 200, hex).map((pubkey) => ({ pubkey }))
  return JSON.stringify({ 'trusted-merchants': merchants, cards: { [values.uuid ?? '']: item } })
}

// ── Parameters

function parameterAttempts(facts: Facts, route: Route): Attempt[] {
  const parameters = (route.operation.parameters ?? []) as { in: string; name: string }[]
  const places = parameters.filter((one) => one.in !== 'header')
  return [...places, { in: 'query', name: 'unasked' }].flatMap((place) =>
    Object.entries(lineShapes).map(([name, shape]) => {
      const target = (value: string) =>
        place.in === 'path'
          ? targetOf(facts, route, { [place.name]: value })
          : `${targetOf(facts, route)}?${place.name}=${value}`
      return attempt(facts, route, {
        name: `${place.in} ${place.name} of ${name}`,
        known: false,
        hostile: () => ({ target: target(writable(shape(headChars))) }),
        harmless: () => ({ target: target('a'.repeat(headChars)) }),
      })
    }),
  )
}

/** The text as a request line can carry it: spaces and quotes by their number. */
function writable(text: string): string {
  const written = text.replaceAll(
    /[\s"\\]/g,
    (one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  return written.slice(0, headChars)
}

function targetOf(facts: Facts, { path }: Route, given: Record<string, string> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    return given[name] ?? (name === 'nonce' ? facts.nonce() : facts.values[name]) ?? 'x'
  })
}

// ── Headers

/** Every header that the program reads, from its source, and those that Bun and Elysia do. */
const headerNames = [
  ...new Set([
    ...['host', 'cookie', 'range', 'origin', 'if-range', 'if-modified-since', 'connection'],
    ...['sec-websocket-key', 'sec-websocket-protocol', 'sec-websocket-extensions', 'expect'],
    ...['accept', 'accept-language', 'accept-encoding', 'x-forwarded-for', 'forwarded', 'via'],
    ...headersInSource(),
  ]),
].filter((name) => !['content-length', 'transfer-encoding'].includes(name))

function headersInSource(): string[] {
  const folder = join(import.meta.dir, '../../src')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const texts = files
    .filter((path) => path.endsWith('.ts') && !/^(cli|client|outbound|ui.[a-z]+)[\\/]/.test(path))
    .map((path) => readFileSync(join(folder, path), 'utf8'))
  const asked = texts.flatMap((text) => [
    ...text.matchAll(/\bheaders\??\.(?:get|has)\(\s*'([\w-]+)'|\bsaid\('([\w-]+)'\)/g),
  ])
  return asked.map(([, name, said]) => (name ?? said ?? '').toLowerCase())
}

function headerAttempts(facts: Facts, route: Route): Attempt[] {
  const values = [...Object.entries(lineShapes), ...Object.entries(credentialShapes)]
  return headerNames.flatMap((header) =>
    values
      .filter(([name]) => header === 'authorization' || credentialShapes[name] === undefined)
      .map(([name, shape]) => {
        const withValue = (value: string): Partial<RawRequest> =>
          header === 'host' ? { host: value } : { headers: [[header, value]] }
        return attempt(facts, route, {
          name: `${header} of ${name}`,
          known: header === 'if-none-match' && name.startsWith('" "'),
          hostile: () => withValue(shape(headChars)),
          harmless: () => withValue('a'.repeat(headChars)),
        })
      }),
  )
}

/** Values behind the name of a scheme, within the 8 KiB of an Authorization header. */
const credentialShapes: Record<string, Shape> = Object.fromEntries([
  ...Object.entries(jsonShapes).map(([name, shape]) => [
    `a signature of ${name}`,
    () => `Nostr ${btoa(shape(5900))}`,
  ]),
  ...Object.entries(lineShapes).flatMap(([name, shape]) => [
    [`Nostr and ${name}`, () => `Nostr ${shape(8100)}`],
    [`Bearer and ${name}`, () => `Bearer ${shape(8100)}`],
  ]),
  ['Bearer and dots', () => `Bearer ${'a.'.repeat(4000)}`],
])

// ── Frames of the relay

function frameAttempts(facts: Facts): Attempt[] {
  const frame = (name: string, text: () => string, known = false): Attempt => ({
    name: `/relay ${name}`,
    part: 'frame',
    known,
    hostile: () => Buffer.from(text(), 'latin1'),
    harmless: () => Buffer.from(`["CLOSE","${'a'.repeat(text().length - 12)}"]`),
  })
  const room = frameChars - 100
  const shapes = Object.entries(jsonShapes)
  const types = ['EVENT', 'AUTH', 'CLOSE', 'REQ', 'COUNT'].flatMap((type) =>
    shapes.map(([name, shape]) =>
      frame(`${type} ${name}`, () => `["${type}",${shape(room)}]`, knownShapes.includes(name)),
    ),
  )
  const filters = ['REQ', 'COUNT'].flatMap((type) => [
    ...shapes.flatMap(([name, shape]) => [
      frame(`${type} with a filter of ${name}`, () => `["${type}","x",${shape(room)}]`),
      frame(`${type} with ids of ${name}`, () => `["${type}","x",{"ids":${shape(room)}}]`),
      frame(`${type} with a tag of ${name}`, () => `["${type}","x",{"#t":${shape(room)}}]`),
      frame(`${type} with many filters of ${name}`, () => {
        return `["${type}","x"${`,{"#t":${shape(room / 10 - 10)}}`.repeat(10)}]`
      }),
    ]),
    ...Object.entries(filterShapes).flatMap(([name, shape]) => [
      frame(`${type} ${name}`, () => `["${type}","x",${shape(room)}]`),
      frame(`${type} ten times ${name}`, () => {
        return `["${type}","x"${`,${shape(room / 10 - 10)}`.repeat(10)}]`
      }),
    ]),
  ])
  const garbage = [...shapes, ...Object.entries(brokenShapes)].map(([name, shape]) =>
    frame(`garbage of ${name}`, () => shape(room)),
  )
  const events = ['EVENT', 'AUTH'].flatMap((type) =>
    eventTexts(facts, room).map(({ name, known, text }) =>
      frame(`${type} ${name}`, () => `["${type}",${text()}]`, known),
    ),
  )
  return [...types, ...filters, ...garbage, ...events]
}

// ── Requests

type Sent = Partial<RawRequest>

function attempt(
  facts: Facts,
  route: Route,
  strange: { name: string; known: boolean; hostile: () => Sent; harmless?: () => Sent },
): Attempt {
  const { known, hostile } = strange
  const part = strange.harmless ? 'line' : 'body'
  const harmless =
    strange.harmless ??
    (() => ({
      body: `{"a":"${'a'.repeat(Math.max(0, String(hostile().body ?? '').length - 8))}"}`,
    }))
  const bytes = (sent: () => Sent) => () =>
    encodeRequest(facts.base, requestTo(facts, route, sent()))
  const name = `${nameOf(route)} ${strange.name}`
  return { name, part, known, hostile: bytes(hostile), harmless: bytes(harmless) }
}

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`
}

function requestTo(facts: Facts, route: Route, sent: Sent): RawRequest {
  const { body, headers = [], ...rest } = sent
  const given = new Set(headers.map(([name]) => name))
  const own: [string, string][] = [
    ['authorization', `Bearer ${facts.token}`],
    ['content-type', 'application/json'],
    ['idempotency-key', crypto.randomUUID()],
  ]
  return {
    method: route.method,
    target: targetOf(facts, route),
    headers: [...own.filter(([name]) => !given.has(name)), ...headers],
    ...rest,
    // One byte a character, so that a shape is as long as it says.
    ...(body !== undefined && { body: Buffer.from(body as string, 'latin1') }),
  }
}
