import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** `before` the request reached the server, or `after` it was executed. */
export type Fault = {
  at: 'before' | 'after'
  how: 'cut' | 'hang' | 'half' | { status: number; body: string; headers?: Record<string, string> }
}

export type FaultyProxy = {
  origin: string
  /** The server behind it. */
  target: string
  /** The fault of a request, which is the one with that number of its route (`POST /card`). */
  fault: (route: string, times: number) => Fault | null
  /** Requests of each route. */
  seen: Map<string, number>
  stop(): void
}

/** The page of a proxy whose server is away. */
export const gatewayPage = '<html><body><h1>502 Bad Gateway</h1></body></html>'

/** A proxy in front of one server, which loses requests and answers as it is told. */
export async function startFaultyProxy(): Promise<FaultyProxy> {
  const server = createServer((request, response) => void forward(proxy, request, response))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const proxy: FaultyProxy = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: '',
    fault: () => null,
    seen: new Map(),
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
  return proxy
}

async function forward(
  proxy: FaultyProxy,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await text(request)
  const { method = '', url = '' } = request
  const route = `${method} ${url}`
  const times = (proxy.seen.get(route) ?? 0) + 1
  proxy.seen.set(route, times)
  const found = proxy.fault(route, times)
  if (found?.at === 'before') return answerWrong(found, response)
  const sent = ['GET', 'DELETE'].includes(method) ? null : body
  try {
    const options = { method, headers: sentOn(request), body: sent }
    const real = await fetch(`${proxy.target}${url}`, options)
    const bytes = await real.bytes()
    if (found) return answerWrong(found, response, bytes)
    response.writeHead(real.status, { ...real.headers.toJSON(), 'content-length': bytes.length })
    response.end(bytes)
  } catch {
    // The server is away, as proxies say it.
    answerWrong({ at: 'before', how: { status: 502, body: gatewayPage } }, response)
  }
}

/** Headers for the server, which gets a connection of its own for each request. */
function sentOn({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers({ connection: 'close' })
  for (const name of ['authorization', 'content-type', 'idempotency-key']) {
    const [value] = headersDistinct[name] ?? []
    if (value !== undefined) headers.set(name, value)
  }
  return headers
}

function answerWrong({ how }: Fault, response: ServerResponse, bytes = new Uint8Array(9)): void {
  if (how === 'hang') return
  if (how === 'cut') {
    response.socket?.destroy()
  } else if (how === 'half') {
    response.writeHead(200, { 'content-length': bytes.length })
    response.write(bytes.slice(0, bytes.length / 2), () => response.socket?.destroy())
  } else {
    response.writeHead(how.status, how.headers)
    response.end(how.body)
  }
}
