import type { Server } from 'bun'
import { limits } from '../base/limits.ts'
import { modernSuites } from '../tls/suites.ts'
import { type AnswerParts, createAnswers } from './answers.ts'
import { serviceEnvelope } from './envelope.ts'
import { toRefusal } from './errors.ts'
import { startLoopMonitor } from './loop.ts'
import type { Metrics } from './metrics.ts'
import { isForwarded } from './origin.ts'
import { replyRefusal } from './reply.ts'
import type { Asked } from './request-context.ts'
import { pathOf } from './request-url.ts'
import type { RouteMatch } from './route-table.ts'
import { type SocketData, type Sockets, webSocketHandlers } from './web-sockets.ts'

export type ServerOptions = AnswerParts & {
  hostname: string
  port: number
  /** Https on a port of its own. With the port of http, it replaces http. */
  tls: { cert: string; key: string; port: number } | null
  sockets: Sockets | null
  metrics: Metrics
  /** Called and awaited once, for the first request that came by any proxy. */
  onForwarded: () => Promise<void>
}

export type HttpServer = {
  /** The address that it listens on, such as `http://127.0.0.1:3000`. Https if there is no http. */
  url: string
  /** The address of https. Null if there is none. */
  secureUrl: string | null
  /** Refuse new requests with 503, wait up to `drainSeconds` for those that run, then close. */
  stop(): Promise<void>
}

const strictTransport = `max-age=${limits.strictTransportSeconds}`

/** Start listening. */
export function startServer(options: ServerOptions): HttpServer {
  const { log, metrics, origins } = options
  const loop = startLoopMonitor(log)
  const answers = createAnswers(options, loop)
  let underWay = 0
  let forwarded = false

  function finish({ request, peer, pattern, started }: Arrived, response: Response): Response {
    metrics.request(pattern, request.method, response.status, started)
    log.debug('request', { route: pattern, status: response.status })
    if (origins.strict(request, peer)) {
      response.headers.set('Strict-Transport-Security', strictTransport)
    }
    return response
  }

  async function answer(request: Request, bun: Server<SocketData>): Promise<Response | undefined> {
    const path = pathOf(request)
    const asked = new Arrived(request, bun, path, answers.find(path))
    loop.enter(asked.pattern)
    underWay++
    try {
      if (!forwarded && isForwarded(request.headers)) {
        forwarded = true
        await options.onForwarded()
      }
      const response = await answers.answer(asked)
      return response && finish(asked, response)
    } catch (error) {
      return finish(asked, answers.refuse(error, asked))
    } finally {
      asked.answered()
      loop.leave(asked.pattern)
      underWay--
    }
  }

  const servers = listen(options, {
    fetch: answer,
    error: (error) => replyRefusal(toRefusal(error, log), serviceEnvelope, null),
    websocket: webSocketHandlers(options.sockets, loop),
  })
  metrics.watch(loop)

  const { plain, secure } = servers
  const open = [plain, secure].filter((server) => server !== null)
  return {
    url: urlOf(plain ?? secure),
    secureUrl: secure && urlOf(secure),
    async stop() {
      answers.drain()
      const deadline = performance.now() + limits.drainSeconds * 1000
      while (underWay > 0 && performance.now() < deadline) await Bun.sleep(10)
      // New connections are refused at once. Open ones have a moment for their last answers.
      const closed = Promise.all(open.map((server) => server.stop()))
      await Promise.race([closed, Bun.sleep(limits.lingerSeconds * 1000)])
      await Promise.all(open.map((server) => server.stop(true)))
      loop.stop()
      answers.stop()
    },
  }
}

/** A request that has arrived. */
class Arrived implements Asked {
  readonly started = performance.now()
  readonly request: Request
  readonly path: string
  readonly route: RouteMatch | null
  readonly pattern: string
  readonly peer: string
  readonly #bun: Server<SocketData>
  #waits = false

  constructor(request: Request, bun: Server<SocketData>, path: string, route: RouteMatch | null) {
    this.request = request
    this.path = path
    this.route = route
    this.pattern = route?.pattern ?? 'unknown'
    this.peer = bun.requestIP(request)?.address ?? ''
    this.#bun = bun
  }

  upgrade(data: SocketData): boolean {
    return this.#bun.upgrade(this.request, { data })
  }

  patient(): void {
    this.#waits = true
    this.#bun.timeout(this.request, 0)
  }

  answered(): void {
    if (this.#waits) this.#bun.timeout(this.request, limits.idleSeconds)
  }
}

type Handlers = {
  fetch: (request: Request, bun: Server<SocketData>) => Promise<Response | undefined>
  error: (error: Error) => Response
  websocket: ReturnType<typeof webSocketHandlers>
}

/** Open the ports of http and https. Neither stays open if one cannot be opened. */
function listen({ hostname, port, tls }: ServerOptions, handlers: Handlers) {
  const listener = {
    ...handlers,
    hostname,
    development: false,
    // Bun's default outside of development: a second service on a port would get half of the connections.
    reusePort: false,
    idleTimeout: limits.idleSeconds,
    maxRequestBodySize: limits.serverBodyBytesMax,
  }
  const replaced = tls && tls.port === port && port !== 0
  const plain = replaced ? null : Bun.serve<SocketData>({ ...listener, port })
  if (!tls) return { plain, secure: null }
  try {
    const { cert, key } = tls
    const secure = Bun.serve<SocketData>({
      ...listener,
      port: tls.port,
      tls: { cert, key, ciphers: modernSuites },
    })
    return { plain, secure }
  } catch (cause) {
    void plain?.stop(true)
    throw cause
  }
}

function urlOf(server: Server<SocketData> | null): string {
  return server?.url.href.replace(/\/$/, '') ?? ''
}
