/** Requests whose answers are held against the document that the service gives of itself. */
import { beforeAll, expect, test } from 'bun:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ApiDocument, Operation } from '../../src/http/openapi.ts'
import type { Signer } from '../../src/nostr/event.ts'
import { type CallOptions, call, type Json, newKey, newSigner, requestOf } from './client.ts'
import { type PrintedExchanges, type PrintedRequest, readPrinted } from './printed-exchanges.ts'
import { startServer, type TestServer } from './server.ts'
import { callAs } from './shops.ts'

type Asked = CallOptions & { path?: string }

/** One key's way to one server. */
export type Caller = {
  server: TestServer
  signer: Signer
  token: string
  /** A request to a route such as `GET /panel`; its JSON. Bearer where the route asks who is calling. */
  ask: (route: string, options?: Asked) => Promise<Json>
  /** The same, and the refusal that it must come to. */
  refused: (route: string, code: string, options?: Asked) => Promise<void>
  /** The request that the pages print for a route, with values of today; its JSON. */
  send: (route: string, today?: Today) => Promise<Json>
}

/** In place of what is printed. */
export type Today = {
  /** Parameters of the path, by name. */
  path?: Record<string, string>
  query?: Record<string, string>
  /** Of a request with a key of its own. */
  headers?: Record<string, string>
  /** Fields of the body, or a function that makes it from the printed one. */
  body?: Json | ((printed: Json) => unknown)
  signer?: Signer
  /** Which of the requests of the route; 0 is the first. */
  nth?: number
}

/** A request as it was sent, with its answer. */
export type Exchange = {
  /** With its query. */
  path: string
  headers: Record<string, string>
  body: unknown
  status: number
  /** JSON, or text where that is documented. */
  answer: unknown
  /** The headers of the answer. */
  answered: Headers
}

export type Documented = {
  document: ApiDocument
  operations: { path: string; route: string; operation: Operation }[]
  operationOf: (method: string, template: string) => Operation
  /** Blocks of the reference. */
  printed: PrintedExchanges
  /** The body that the pages print first for a route such as `POST /card`. */
  exampleOf: (route: string) => Json
  /** `METHOD /path` to the statuses seen. */
  seen: Map<string, Set<number>>
  codesSeen: Set<string>
  /** `METHOD /path` to its requests, with their answers. */
  exchanges: Map<string, Exchange[]>
  /** A key with a session, at this server or at another one, whose public address may differ. */
  newCaller: (options?: { at?: TestServer; origin?: string; signer?: Signer }) => Promise<Caller>
  /** A test of answers; a failed one is not reported again for its missing answers. */
  scenario: (name: string, run: () => Promise<void>) => void
  /** Whether every scenario came to its end. */
  complete: () => boolean
}

/** The document of a server, and the checks against it. */
export async function readDocument(server: TestServer): Promise<Documented> {
  const document: ApiDocument = (await call(server.url, '/openapi.json')).json
  const check = createChecker(document)
  const seen: Documented['seen'] = new Map()
  const codesSeen = new Set<string>()
  const exchanges: Documented['exchanges'] = new Map()
  const printed = readPrinted(Object.keys(document.paths))
  let open = 0

  const operationOf = (method: string, template: string): Operation => {
    const operation = document.paths[template]?.[method.toLowerCase()]
    if (!operation) throw new Error(`${method} ${template} is not in the document`)
    return operation
  }

  const askAt = async (url: string, token: string, route: string, options: Asked) => {
    const [method = '', template = ''] = route.split(' ')
    const operation = operationOf(method, template)
    const identified =
      options.signer || options.token !== undefined || options.headers?.Authorization
    const credentials = operation.security.length === 0 || identified ? {} : { token }
    const path = options.path ?? template
    const sent = requestOf(url, path, { method, ...credentials, ...options })
    const { status, headers, text, json } = await call(url, path, sent)

    seen.set(route, (seen.get(route) ?? new Set()).add(status))
    const one = {
      path,
      headers: sent.headers,
      body: options.body,
      status,
      answer: json,
      answered: headers,
    }
    exchanges.set(route, [...(exchanges.get(route) ?? []), one])
    const response = operation.responses[status]
    if (!response) throw new Error(`${route} answered ${status}, undocumented: ${text}`)
    const media = headers.get('content-type')?.split(';')[0] ?? ''
    if (!response.content) {
      expect(text).toBe('')
      return
    }
    expect(Object.keys(response.content)).toContain(media)
    const described = ['paths', template, method.toLowerCase()]
    const pointer = [...described, 'responses', String(status), 'content', media, 'schema']
    const errors = check(pointer, media === 'application/json' ? json : text)
    expect({ route, errors }).toEqual({ route, errors: [] })
    if (status >= 400) {
      const { code, retryAfter } = json
      codesSeen.add(code)
      expect(Object.keys(response.content[media]?.examples ?? {})).toContain(code)
      expect(operation['x-refusals']).toContain(code)
      expect(headers.get('retry-after')).toBe(retryAfter === undefined ? null : String(retryAfter))
      expect(headers.has('www-authenticate')).toBe(status === 401)
    } else if (operation['x-told'] && json.code !== undefined) {
      codesSeen.add(json.code)
      expect(operation['x-told']).toContain(json.code)
    } else if (operation.requestBody?.content['application/json'] && isObject(options.body)) {
      const schema = [...described, 'requestBody', 'content', 'application/json', 'schema']
      expect(check(schema, options.body)).toEqual([])
    }
    const closed = route === 'GET /metrics' && status === 200
    expect(headers.get('access-control-allow-origin')).toBe(closed ? null : '*')
    return json
  }

  return {
    document,
    operations: Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        return { path, route: `${method.toUpperCase()} ${path}`, operation }
      }),
    ),
    operationOf,
    printed,
    exampleOf: (route) => requestOn(printed, route).body,
    seen,
    codesSeen,
    exchanges,
    async newCaller({ at = server, origin = at.url, signer = newSigner() } = {}) {
      const options = { method: 'POST', body: {}, signer }
      const { token } = (await callAs(at.url, origin, '/api/auth/session', options)).json
      const ask: Caller['ask'] = (route, options = {}) => askAt(at.url, token, route, options)
      return {
        ...{ server: at, signer, token, ask },
        send(route, today = {}) {
          const { path, body, headers } = withToday(requestOn(printed, route, today.nth), today)
          const { Authorization: scheme, ...rest } = headers
          const signed = scheme?.startsWith('Nostr ') ? (today.signer ?? signer) : undefined
          const [method = ''] = route.split(' ')
          const plain = { method, headers: rest, body }
          const asked = signed ? requestOf(origin, path, { ...plain, signer: signed }) : plain
          const options = { path, body, headers: asked.headers }
          return ask(route, scheme === undefined ? { ...options, token: '' } : options)
        },
        async refused(route, code, options) {
          expect({ route, code: (await ask(route, options)).code }).toEqual({ route, code })
        },
      }
    },
    scenario(name, run) {
      test(name, async () => {
        open++
        await run()
        open--
      })
    },
    complete: () => open === 0,
  }
}

function requestOn({ requests }: PrintedExchanges, route: string, nth = 0): PrintedRequest {
  const found = requests.filter((one) => one.route === route)[nth]
  if (!found) throw new Error(`the pages print no request ${nth} of ${route}`)
  return found
}

function withToday(printed: PrintedRequest, { path = {}, query = {}, ...today }: Today) {
  const [asked = '', named = ''] = printed.path.split('?')
  const [, template = ''] = printed.route.split(' ')
  const names = template.split('/').map((part) => /^\{(\w+)\}$/.exec(part)?.[1])
  const parts = asked.split('/').map((part, at) => path[names[at] ?? ''] ?? part)
  const search = new URLSearchParams(named)
  for (const [name, value] of Object.entries(query)) search.set(name, value)
  const { Host: _, ...headers } = printed.headers
  if (headers['Idempotency-Key'] !== undefined) headers['Idempotency-Key'] = newKey()
  const { body } = today
  return {
    path: [parts.join('/'), ...(search.size > 0 ? [search] : [])].join('?'),
    headers: { ...headers, ...today.headers },
    body:
      typeof body === 'function'
        ? body(printed.body)
        : body === undefined
          ? printed.body
          : { ...printed.body, ...body },
  }
}

function isObject(body: unknown): boolean {
  return typeof body === 'object' && !(body instanceof Uint8Array)
}

/** One server for the scenarios of a describe, each of which brings keys and names of its own. */
export function sharedServer(env: Record<string, string>): () => TestServer {
  let server: TestServer | undefined
  beforeAll(async () => {
    server = await startServer({ env })
  })
  return () => {
    if (!server) throw new Error('the server is started before all scenarios')
    return server
  }
}

/** Schemas of the document in which an object has no other properties. */
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
