import assert from 'node:assert/strict'
import type { Server, ServerWebSocket } from 'bun'
import type { AnyElysia } from 'elysia'
import { limits } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import { Refusal } from '../base/refusal.ts'
import { modernSuites } from '../tls/suites.ts'
import { createBodies, parseBody } from './body.ts'
import { mayCarry } from './carry.ts'
import { Elysia } from './elysia.ts'
import { serviceEnvelope } from './envelope.ts'
import { toRefusal } from './errors.ts'
import { createInFlight } from './in-flight.ts'
import { startLoopMonitor } from './loop.ts'
import type { Metrics } from './metrics.ts'
import type { MetricsAccess } from './metrics-access.ts'
import { isForwarded, type Origins } from './origin.ts'
import type { RateLimits } from './rate-limit.ts'
import { replyOptions, replyRefusal } from './reply.ts'
import { contextOf, keepContext, type RequestContext } from './request-context.ts'
import { createRouteTable } from './route-table.ts'

export type ServerOptions = {
  hostname: string
  port: number
  /** Https on a port of its own. With the port of http, it replaces http. */
  tls: { cert: string; key: string; port: number } | null
  /** Every route of the product. */
  routes: readonly AnyElysia[]
  sockets: Sockets | null
  origins: Origins
  rateLimits: RateLimits
  metrics: Metrics
  mayReadMetrics: MetricsAccess
  log: Log
  /** Called and awaited once, for the first request that came by any proxy. */
  onForwarded: () => Promise<void>
  /** Called once, for a peer that forwards requests and is not in `TRUSTED_PROXIES`. */
  onUndeclaredProxy: (peer: string) => void
}

/** The WebSocket server of one path. It numbers its connections. */
type Sockets = {
  path: string
  open(socket: Socket, peer: { address: string; origins: readonly string[] }): number
  message(connection: number, text: string): void
  /** Called when everything that was sent to this connection has left. */
  drained(connection: number): void
  close(connection: number): void
}

/** One WebSocket. `send` is false if the text has to wait in our memory. */
type Socket = {
  send(text: string): boolean
  /** Bytes that wait in our memory. */
  buffered(): number
  pause(): void
  resume(): void
  close(code: number, reason: string): void
}

type SocketData = { address: string; origins: readonly string[]; connection: number }

export type HttpServer = {
  /** The address that it listens on, such as `http://127.0.0.1:3000`. Https if there is no http. */
  url: string
  /** The address of https. Null if there is none. */
  secureUrl: string | null
  /** Refuse new requests with 503, wait up to `drainSeconds` for those that run, then close. */
  stop(): Promise<void>
}

const strictTransport = `max-age=${limits.strictTransportSeconds}`

/** Start listening. The checks that all routes share happen here, in the order of the protocol. */
export function startServer(options: ServerOptions): HttpServer {
  const { log, metrics } = options
  const bodies = createBodies()
  const inFlight = createInFlight()
  const app = composeApp(options)
  const table = createRouteTable(app.routes)
  let underWay = 0
  let draining = false
  let warned = false
  let forwarded = false

  const { hostname, port, tls } = options
  const listener = {
    hostname,
    development: false,
    idleTimeout: limits.idleSeconds,
    maxRequestBodySize: limits.serverBodyBytesMax,
    async fetch(request: Request, bun: Server<SocketData>) {
      const started = performance.now()
      const path = pathOf(request)
      const route = table.find(path)
      const pattern = route?.pattern ?? 'unknown'
      loop.enter(pattern)
      const peer = bun.requestIP(request)?.address ?? ''
      const finish = (response: Response) => {
        metrics.request(pattern, request.method, response.status, started)
        log.debug('request', { route: pattern, status: response.status })
        if (options.origins.strict(request, peer)) {
          response.headers.set('Strict-Transport-Security', strictTransport)
        }
        return response
      }
      underWay++
      try {
        if (!forwarded && isForwarded(request.headers)) {
          forwarded = true
          await options.onForwarded()
        }
        const response = await answer(request, bun, peer, path, route)
        return response && finish(response)
      } catch (error) {
        const envelope = route?.envelope ?? table.envelopeOf(path)
        const schemes = route?.rulesOf(request.method).schemes ?? null
        return finish(replyRefusal(toRefusal(error, log), envelope, schemes))
      } finally {
        loop.leave(pattern)
        underWay--
      }
    },
    error: (error: Error) => replyRefusal(toRefusal(error, log), serviceEnvelope, null),
    websocket: {
      maxPayloadLength: limits.relayMessageBytesMax,
      // The relay disconnects slow readers earlier.
      backpressureLimit: limits.relayUnreadBytesMax * 2,
      closeOnBackpressureLimit: true,
      idleTimeout: limits.socketIdleSeconds,
      open(socket: ServerWebSocket<SocketData>) {
        socket.data.connection = options.sockets?.open(toSocket(socket), socket.data) ?? 0
      },
      message(socket: ServerWebSocket<SocketData>, message: string | Buffer) {
        if (typeof message !== 'string') return socket.close(1003, 'text only')
        const { sockets } = options
        loop.enter(sockets?.path ?? 'unknown')
        sockets?.message(socket.data.connection, message)
        loop.leave(sockets?.path ?? 'unknown')
      },
      drain(socket: ServerWebSocket<SocketData>) {
        if (socket.getBufferedAmount() === 0) options.sockets?.drained(socket.data.connection)
      },
      close(socket: ServerWebSocket<SocketData>) {
        options.sockets?.close(socket.data.connection)
      },
    },
  }
  const plain =
    tls && tls.port === port && port !== 0 ? null : Bun.serve<SocketData>({ ...listener, port })
  const secure = tls && serveSecurely(tls)
  const servers = [plain, secure].filter((server) => server !== null)
  const loop = startLoopMonitor(log)
  metrics.watch(loop)

  function serveSecurely({ cert, key, port }: NonNullable<typeof tls>) {
    try {
      return Bun.serve<SocketData>({ ...listener, port, tls: { cert, key, ciphers: modernSuites } })
    } catch (cause) {
      void plain?.stop(true)
      throw cause
    }
  }

  function upgrade(
    request: Request,
    bun: Server<SocketData>,
    address: string,
    origins: readonly string[],
  ): Response | undefined {
    const upgraded = bun.upgrade(request, { data: { address, origins, connection: 0 } })
    if (!upgraded) throw new Refusal('body-invalid')
    return undefined
  }

  async function answer(
    request: Request,
    bun: Server<SocketData>,
    peer: string,
    path: string,
    route: ReturnType<typeof table.find>,
  ): Promise<Response | undefined> {
    const { method } = request
    if (!route) throw new Refusal('not-found')
    if (method === 'OPTIONS') return replyOptions(route.methods)
    if (!route.methods.includes(method)) {
      const response = replyRefusal(new Refusal('method-not-allowed'), route.envelope, null)
      return withAllow(response, route.methods)
    }
    const address = options.origins.client(request, peer)
    const rules = route.rulesOf(method)
    if (draining && !rules.whileDraining) throw new Refusal('shutting-down', { retryAfter: 5 })
    const supervised =
      rules.supervision === 'always' ||
      (rules.supervision === 'metrics' && options.mayReadMetrics(request, peer))
    let over: Refusal | null = null
    if (!supervised) {
      over = options.rateLimits.request(address)
      if (over && !mayCarry(request, rules)) throw over
      if (!warned && options.origins.undeclaredProxy(request, peer)) {
        warned = true
        options.onUndeclaredProxy(peer)
      }
    }
    // Some clients end relay addresses with a slash.
    if (path.replace(/\/$/, '') === options.sockets?.path && isUpgrade(request)) {
      return upgrade(request, bun, address, options.origins.acceptedForRelay(request, peer))
    }
    const working = supervised ? null : inFlight.begin(address, route.pattern)
    const context: RequestContext = {
      method,
      pattern: route.pattern,
      envelope: route.envelope,
      rules,
      address,
      origins: () => options.origins.accepted(request, peer),
      asked: () => options.origins.asked(request, peer),
      supervised,
      working,
      secure: () => options.origins.secure(request, peer),
      body: new Uint8Array(),
      object: null,
      excessive: false,
      spend: null,
      over,
      known: false,
      harmless: false,
    }
    const asGet = method === 'HEAD' ? asGetRequest(request) : withOrigin(request)
    keepContext(asGet, context)
    let response: Response
    try {
      response = await app.fetch(asGet)
      await context.spend?.()
    } finally {
      working?.end()
    }
    assert(!over || context.known || !response.ok, 'a route did not ask what carries its request')
    // A mistake gives its request back to the address, so that others behind it do not pay for it.
    const refused = response.status >= 400 && response.status < 500
    if (refused && !supervised && !context.harmless) {
      if (!over) options.rateLimits.mistake(address, context.known)
      else if (!context.known && response.status !== 429) throw over
    }
    if (response.status === 405) withAllow(response, route.methods)
    return method === 'HEAD' ? withoutBody(response) : response
  }

  return {
    url: urlOf(plain ?? secure),
    secureUrl: secure && urlOf(secure),
    async stop() {
      draining = true
      const deadline = performance.now() + limits.drainSeconds * 1000
      while (underWay > 0 && performance.now() < deadline) await Bun.sleep(10)
      // New connections are refused at once. Open ones have a moment for their last answers.
      const left = Promise.all(servers.map((server) => server.stop()))
      await Promise.race([left, Bun.sleep(limits.lingerSeconds * 1000)])
      await Promise.all(servers.map((server) => server.stop(true)))
      loop.stop()
      bodies.stop()
    },
  }

  function composeApp({ routes }: ServerOptions) {
    // By default Elysia expects host names of four letters or more. http://pi is shorter.
    const composed = new Elysia({ normalize: false, handler: { standardHostname: false } })
      .onParse({ as: 'global' }, async ({ request }) => {
        const context = contextOf(request)
        context.working?.pause()
        const reading = bodies.read(request, context.rules.bodyBytesMax, context.address)
        context.body = await reading.finally(() => context.working?.resume())
        loop.enter(context.pattern)
        const { object, excessive } = parseBody(context.body)
        context.object = object
        context.excessive = excessive
        return object
      })
      .onError({ as: 'global' }, ({ error, request }) => {
        const { envelope, rules } = contextOf(request)
        return replyRefusal(toRefusal(error, log), envelope, rules.schemes)
      })
    for (const instance of routes) composed.use(instance)
    return composed.compile()
  }
}

function urlOf(server: Server<SocketData> | null): string {
  return server?.url.href.replace(/\/$/, '') ?? ''
}

function isUpgrade(request: Request): boolean {
  return request.headers.get('upgrade')?.toLowerCase() === 'websocket'
}

function toSocket(socket: ServerWebSocket<SocketData>): Socket {
  return {
    send: (text) => socket.send(text) > 0,
    buffered: () => socket.getBufferedAmount(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close(code, reason) {
      // A client that does not read would not see the reason either.
      if (socket.getBufferedAmount() > 0) socket.terminate()
      else socket.close(code, reason)
    },
  }
}

/** The path of a request as it was sent, without its query. */
function pathOf(request: Request): string {
  // Without a Host header (HTTP/1.0) the URL is only a path.
  const start = request.url.startsWith('/') ? 0 : request.url.indexOf('/', 'https://'.length)
  const end = request.url.indexOf('?', start)
  return end === -1 ? request.url.slice(start) : request.url.slice(start, end)
}

/** The request with a host in its URL. The router needs one, and without a usable Host header there is none. */
function withOrigin(request: Request): Request {
  return request.url.startsWith('http://')
    ? request
    : new Request(`http://localhost${targetOf(request)}`, request)
}

/** A HEAD as a GET. Its host is replaced, since a Host header may hold what no URL may. */
function asGetRequest(request: Request): Request {
  const { headers } = request
  return new Request(`http://localhost${targetOf(request)}`, { method: 'GET', headers })
}

/** Path and query as they were sent. */
function targetOf({ url }: Request): string {
  return url.slice(url.startsWith('/') ? 0 : url.indexOf('/', 'https://'.length))
}

/** A 405 with the methods of its path, as RFC 9110 demands, whichever route refused. */
function withAllow(response: Response, methods: readonly string[]): Response {
  response.headers.set('Allow', methods.join(', '))
  return response
}

async function withoutBody(response: Response): Promise<Response> {
  const { status, headers } = response
  if (headers.get('Content-Type')?.startsWith('text/event-stream')) {
    // A stream has no end, so it has no length.
    await response.body?.cancel()
    return new Response(null, { status, headers })
  }
  headers.set('Content-Length', String((await response.arrayBuffer()).byteLength))
  return new Response(null, { status, headers })
}
