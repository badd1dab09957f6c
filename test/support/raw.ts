import { createConnection, type Socket } from 'node:net'
import { connect } from 'node:tls'
import type { Answer, Json } from './client.ts'
import { patienceSeconds } from './until.ts'

export type RawRequest = {
  method?: string
  target: string
  /** The Host header; default: the server's own. `null` leaves it out. */
  host?: string | null
  /** In the order given; a name may come twice. */
  headers?: readonly (readonly [name: string, value: string])[]
  /** The client's address, one of the loopback's. */
  from?: string
  /** Sent as it stands; Content-Length is added unless `headers` has one or says how it is transferred. */
  body?: string | Uint8Array
}

const answerMilliseconds = patienceSeconds * 1000

/** One request written byte by byte: errors that `fetch` would correct are sent unchanged. */
export function callRaw(base: string, request: RawRequest): Promise<Answer> {
  const { from, host } = request
  return sendBytes(base, encodeRequest(base, request), { from, ...(host && { name: host }) })
}

/** A connection to a server. `name`: the host that TLS asks for; its certificate is not checked. */
export function connectTo(
  base: string,
  { from, name }: { from?: string | undefined; name?: string } = {},
): Socket {
  const { protocol, hostname, port } = new URL(base)
  const socket = createConnection({
    host: hostname,
    port: Number(port),
    ...(from && { localAddress: from }),
  })
  if (protocol !== 'https:') return socket
  return connect({ socket, ...(name && { servername: name }), rejectUnauthorized: false })
}

/** The bytes of a request. Latin-1 in the head, so that any byte can be sent. */
export function encodeRequest(base: string, request: RawRequest): Buffer {
  const { method = 'GET', target, host = new URL(base).host, headers = [], body } = request
  const sent = Buffer.from(body ?? '')
  const framed = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name))
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(host === null ? [] : [`Host: ${host}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined || framed ? [] : [`Content-Length: ${sent.length}`]),
    'Connection: close',
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), sent])
}

/** Send bytes over a connection of their own, and read the answer until it is complete. */
export function sendBytes(
  base: string,
  bytes: Uint8Array,
  options: { from?: string | undefined; name?: string; milliseconds?: number } = {},
): Promise<Answer> {
  const { milliseconds = answerMilliseconds } = options
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const socket = connectTo(base, options)
  const received: Buffer[] = []
  // The answer to a HEAD has no body, and its end cannot be told where the connection stays open.
  const [head = ''] = Buffer.from(bytes).toString('latin1').split('\r\n\r\n', 1)
  const headOnly =
    /^HEAD .* HTTP\/1\.1(\r\n|$)/.test(head) && !/\r\nconnection: close$/im.test(head)
  const finish = (ended: boolean) => {
    const answer = decode(Buffer.concat(received), ended || headOnly)
    if (answer) resolve(answer)
    else if (ended) reject(new Error('the connection ended without a whole answer'))
    if (answer || ended) socket.destroy()
  }
  socket.setTimeout(milliseconds, () => {
    socket.destroy()
    reject(new Error('no answer came'))
  })
  socket.on('data', (chunk) => {
    received.push(Buffer.from(chunk))
    finish(false)
  })
  socket.on('close', () => finish(true))
  // A server that refuses early may reset what is still being sent: the answer is what counts.
  socket.on('error', () => finish(true))
  socket.write(bytes)
  return promise
}

/** The last answer in the bytes (an interim `100 Continue` is passed over), or null while it is not whole. */
function decode(bytes: Buffer, ended: boolean): Answer | null {
  const text = bytes.toString('latin1')
  const interim = /^HTTP\/1\.1 100 [^\r]*\r\n(?:[^\r]+\r\n)*\r\n/.exec(text)?.[0] ?? ''
  const start = interim.length
  const end = text.indexOf('\r\n\r\n', start)
  if (end < 0) return null
  const [statusLine = '', ...lines] = text.slice(start, end).split('\r\n')
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  const status = Number(statusLine.split(' ')[1])
  const rest = bytes.subarray(Buffer.byteLength(text.slice(0, end + 4), 'latin1'))
  const length = headers.get('content-length')
  const whole = status === 204 || (length !== null && rest.length >= Number(length))
  if (!whole && !ended) return null
  const body = rest.toString('utf8')
  return { status, headers, text: body, json: parse(body) }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
