import type { Server } from 'bun'
import { type AnyElysia, Elysia } from 'elysia'
import { limits } from '../limits.ts'
import type { Log } from '../log.ts'
import { Refusal } from '../refusal.ts'
import type { Caller } from '../session/caller.ts'
import { parseObject, readBody } from './body.ts'
import { toRefusal } from './errors.ts'
import { factsOf, keepFacts, type RequestFacts } from './facts.ts'
import type { Metrics } from './metrics.ts'
import type { Origins } from './origin.ts'
import type { RateLimits } from './rate-limit.ts'
import { replyOptions, replyRefusal } from './reply.ts'
import { createRouteTable } from './route-table.ts'

export type ServerOptions = {
  hostname: string
  port: number
  /** Every route of the product; instances whose routes take credentials. */
  publicRoutes: readonly AnyElysia[]
  authenticatedRoutes: readonly AnyElysia[]
  origins: Origins
  rateLimits: RateLimits
  metrics: Metrics
  log: Log
  /** Write down that a NIP-98 event was used, for requests whose operation did not. */
  spend: (caller: Caller) => Promise<void>
  /** Told once: a peer speaks for others and is not in `TRUSTED_PROXIES`. */
  onUndeclaredProxy: (peer: string) => void
}

export type HttpServer = {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  url: string
  /** Refuse what is new with 503, wait for what runs, then close. Milliseconds are bounded by `drainSeconds`. */
  stop(): Promise<void>
}

/** Paths for supervisors: never limited. */
const supervised = new Set(['/livez', '/readyz', '/metrics'])

/** Start listening. What every route shares happens here, in the order of the protocol's checks. */
export function startServer(options: ServerOptions): HttpServer {
  const { log, metrics } = options
  const app = composeApp(options)
  const table = createRouteTable(app.routes)
  const authenticated = new Set(
    options.authenticatedRoutes.flatMap(({ routes }) =>
      routes.map(({ method, path }) => `${method} ${path.replace(/\/$/, '')}`),
    ),
  )
  const takesCredentials = (method: string, pattern: string) =>
    authenticated.has(`${method} ${pattern}`)
  let inFlight = 0
  let draining = false
  let warned = false

  const server = Bun.serve({
    hostname: options.hostname,
    port: options.port,
    idleTimeout: limits.idleSeconds,
    maxRequestBodySize: limits.serverBodyBytesMax,
    async fetch(request, bun) {
      const started = performance.now()
      const path = pathOf(request)
      const route = table.find(path)
      const pattern = route?.pattern ?? 'unknown'
      inFlight++
      try {
        const response = await answer(request, bun, path, route)
        metrics.request(pattern, request.method, response.status, started)
        log.debug('request', { route: pattern, status: response.status })
        return response
      } catch (error) {
        const refusal = toRefusal(error, log)
        metrics.request(pattern, request.method, refusal.status, started)
        return replyRefusal(refusal, takesCredentials(request.method, pattern))
      } finally {
        inFlight--
      }
    },
    error: (error) => replyRefusal(toRefusal(error, log), false),
  })

  async function answer(
    request: Request,
    bun: Server<undefined>,
    path: string,
    route: ReturnType<typeof table.find>,
  ): Promise<Response> {
    const { method } = request
    if (!route) throw new Refusal('not-found')
    if (method === 'OPTIONS') return replyOptions(route.methods)
    if (!route.methods.includes(method)) {
      const response = replyRefusal(new Refusal('method-not-allowed'), false)
      response.headers.set('Allow', route.methods.join(', '))
      return response
    }
    const peer = bun.requestIP(request)?.address ?? ''
    const address = options.origins.client(request, peer)
    if (draining && path !== '/livez') throw new Refusal('shutting-down', { retryAfter: 5 })
    if (!supervised.has(path)) {
      if (inFlight > limits.inFlightMax) throw new Refusal('overloaded', { retryAfter: 1 })
      options.rateLimits.request(address)
      if (!warned && options.origins.undeclaredProxy(request, peer)) {
        warned = true
        options.onUndeclaredProxy(peer)
      }
    }
    const origins = () => options.origins.accepted(request, peer)
    const facts: RequestFacts = {
      method,
      address,
      origins,
      body: new Uint8Array(),
      caller: null,
      spent: false,
      harmless: false,
    }
    const asked = withOrigin(request)
    const asGet = method === 'HEAD' ? new Request(asked, { method: 'GET' }) : asked
    keepFacts(asGet, facts)
    const response = await app.fetch(asGet)
    const { caller, spent } = factsOf(asGet)
    if (caller?.spend && !spent) await options.spend(caller)
    // Whatever was refused is its sender's affair, and costs nobody else behind the address.
    const refused = response.status >= 400 && response.status < 500
    if (refused && !supervised.has(path) && !facts.harmless) options.rateLimits.mistake(address)
    return method === 'HEAD' ? withoutBody(response) : response
  }

  return {
    url: server.url.href.replace(/\/$/, ''),
    async stop() {
      draining = true
      const deadline = performance.now() + limits.drainSeconds * 1000
      while (inFlight > 0 && performance.now() < deadline) await Bun.sleep(10)
      // Closes the door, and lets the last answers leave; then whoever still holds a connection.
      await Promise.race([server.stop(), Bun.sleep(limits.lingerSeconds * 1000)])
      await server.stop(true)
    },
  }

  function composeApp({ publicRoutes, authenticatedRoutes }: ServerOptions) {
    // Elysia takes no host name to be shorter than four letters, unless told: http://pi is one.
    const composed = new Elysia({ normalize: false, handler: { standardHostname: false } })
      .onParse({ as: 'global' }, async ({ request }) => {
        const bytes = await readBody(request)
        factsOf(request).body = bytes
        return parseObject(bytes)
      })
      .onError({ as: 'global' }, ({ error, request, route }) =>
        replyRefusal(
          toRefusal(error, log),
          takesCredentials(request.method, (route ?? '').replace(/\/$/, '')),
        ),
      )
    for (const routes of [...publicRoutes, ...authenticatedRoutes]) composed.use(routes)
    return composed.compile()
  }
}

/** The path of a request as it was sent, without its query. */
function pathOf(request: Request): string {
  // Without a Host header (HTTP/1.0) there is no more than the path.
  const start = request.url.startsWith('/') ? 0 : request.url.indexOf('/', 'https://'.length)
  const end = request.url.indexOf('?', start)
  return end === -1 ? request.url.slice(start) : request.url.slice(start, end)
}

/** The router looks for the path behind an origin; without a usable Host header there is none. */
function withOrigin(request: Request): Request {
  return request.url.startsWith('/')
    ? new Request(`http://localhost${request.url}`, request)
    : request
}

async function withoutBody(response: Response): Promise<Response> {
  const { status, headers } = response
  headers.set('Content-Length', String((await response.arrayBuffer()).byteLength))
  return new Response(null, { status, headers })
}
