import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { limits } from '../base/limits.ts'
import { loopbackAddress, publicAddress } from './address.ts'
import { createHostResolver, type ResolveHost } from './resolve.ts'

/** Reason of a failed outgoing request. It may be shown, because it discloses nothing about the local network. */
export type OutboundReason =
  | 'url'
  | 'resolve'
  | 'address'
  | 'connect'
  | 'certificate'
  | 'redirect'
  | 'encoding'
  | 'too-large'
  | 'protocol'
  | 'timeout'
  | 'busy'

/** The only error of outgoing HTTP. The other server, or the network, caused it. */
export class OutboundError extends Error {
  readonly reason: OutboundReason
  /** False if no byte of the request was sent. True if the other server may have all of it. */
  readonly sent: boolean

  constructor(reason: OutboundReason, sent = false) {
    super(`outbound: ${reason}`)
    this.reason = reason
    this.sent = sent
  }
}

type OutboundAnswer = {
  status: number
  headers: IncomingHttpHeaders
  body: Uint8Array
}

type OutboundRequest = {
  /** Deadline from name resolution to the last byte of the answer. */
  deadlineMs: number
  /** Largest body of the answer. */
  bodyBytesMax: number
  /** Accepted media types. JSON if absent. */
  accept?: string
  /** JSON body. The request is a POST with it, else a GET. */
  json?: unknown
  /** Idempotency-Key header of a POST. */
  idempotencyKey?: string
}

/** Sends a GET or POST to an https URL of the public Internet, or to a private origin of the settings, once, without redirects. Throws OutboundError only. */
export type FetchPublic = (url: URL, request: OutboundRequest) => Promise<OutboundAnswer>

/** Settings for tests and for development. */
export type OutboundSettings = {
  /** Origins that may be private and plain http (`ALLOW_PRIVATE_SERVICES`). The other settings are for tests only. */
  privateOrigins?: ReadonlySet<string>
  /** Name resolver, called once per request. */
  resolve?: ResolveHost
  /** Allow 127.0.0.0/8 and ::1. */
  allowLoopback?: boolean
  /** Certificate authority (PEM) in place of the public ones. */
  ca?: string
}

/**
 * Create the client for all outgoing HTTP. It does not use `fetch`, which obeys proxies of the environment, and
 * whose certificate check `NODE_TLS_REJECT_UNAUTHORIZED=0` switches off.
 */
export function createFetchPublic(settings: OutboundSettings = {}): FetchPublic {
  const resolve = settings.resolve ?? createHostResolver()
  const allowed = createAddressRule(settings)

  return async (url, { deadlineMs, bodyBytesMax, accept, json, idempotencyKey }) => {
    const near = isPrivate(settings, url)
    const host = checkedHost(url, near)
    const deadline = new AbortController()
    const { signal } = deadline
    const timer = setTimeout(() => deadline.abort(), deadlineMs)
    try {
      const found = isIP(host) ? [host] : await addressesOf(host, resolve, signal)
      const servername = isIP(host) ? '' : host
      const body = json === undefined ? null : Buffer.from(JSON.stringify(json))
      const headers = { ...headersOf(url, body, idempotencyKey), ...(accept && { accept }) }
      const target = { url, servername, headers, body, bodyBytesMax, signal, ca: settings.ca }
      return await exchangeWith(
        candidates(found.filter((address) => near || allowed(address))),
        target,
      )
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Create the check of a URL's text. The addresses of its host name are checked at the request. */
export function createUrlRule(settings: OutboundSettings = {}): (url: URL) => boolean {
  const allowed = createAddressRule(settings)
  return (url) => {
    const near = isPrivate(settings, url)
    const host = hostOf(url, near)
    if (near) return host !== null
    // A name without a dot exists in the local network only.
    return host !== null && (isIP(host) ? allowed(host) : host.includes('.'))
  }
}

function createAddressRule({ allowLoopback }: OutboundSettings): (address: string) => boolean {
  return (address) => publicAddress(address) || (allowLoopback === true && loopbackAddress(address))
}

function isPrivate({ privateOrigins }: OutboundSettings, { origin }: URL): boolean {
  return privateOrigins?.has(origin) === true
}

function checkedHost(url: URL, near: boolean): string {
  const host = hostOf(url, near)
  if (host === null) throw new OutboundError('url')
  return host
}

/** The host of a usable URL, or null. */
function hostOf(url: URL, near: boolean): string | null {
  if ((url.protocol !== 'https:' && !near) || url.username !== '' || url.password !== '')
    return null
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // A name with a trailing dot is the same host, but its certificate has another name.
  return host === '' || host.endsWith('.') ? null : host
}

function headersOf(url: URL, body: Buffer | null, idempotencyKey: string | undefined) {
  return {
    host: url.host,
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'cuponera',
    ...(body && { 'content-type': 'application/json', 'content-length': String(body.length) }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  }
}

/** Resolve a host name before the deadline. Throws OutboundError `timeout` or `resolve`. */
function addressesOf(host: string, resolve: ResolveHost, signal: AbortSignal): Promise<string[]> {
  return new Promise((found, reject) => {
    signal.addEventListener('abort', () => reject(new OutboundError('timeout')), { once: true })
    resolve(host, signal).then(
      (addresses) =>
        addresses.length > 0 ? found(addresses) : reject(new OutboundError('resolve')),
      () => reject(new OutboundError('resolve')),
    )
  })
}

/** One address of each family, because this machine may lack a route for one of them. */
function candidates(usable: string[]): string[] {
  return [usable.find(isIPv4), usable.find(isIPv6)].filter((address) => address !== undefined)
}

/**
 * Send the request to the first address that accepts a connection. Forbidden addresses were removed before and
 * are not an error, because behind DNS64 a public name also has a NAT64 address.
 */
async function exchangeWith(addresses: string[], target: Target): Promise<OutboundAnswer> {
  let failure = new OutboundError('address')
  for (const address of addresses) {
    try {
      return await exchange(address, target)
    } catch (error) {
      if (!(error instanceof OutboundError) || error.reason !== 'connect') throw error
      failure = error
    }
  }
  throw failure
}

type Target = {
  url: URL
  /** Name for SNI and the certificate. Empty if the URL has an IP address. */
  servername: string
  headers: Record<string, string>
  /** Body of a POST. Null for a GET. */
  body: Buffer | null
  bodyBytesMax: number
  signal: AbortSignal
  ca: string | undefined
}

function exchange(address: string, target: Target): Promise<OutboundAnswer> {
  const { url, servername, headers, body, bodyBytesMax, signal, ca } = target
  return new Promise((resolve, reject) => {
    let connected = false
    let sent = false
    const plain = url.protocol === 'http:'
    const request = (plain ? httpRequest : httpsRequest)({
      method: body ? 'POST' : 'GET',
      host: address,
      port: url.port === '' ? (plain ? 80 : 443) : Number(url.port),
      path: url.pathname + url.search,
      servername,
      // No connection pool: a connection must never serve another host name behind the same address.
      agent: false,
      rejectUnauthorized: true,
      maxHeaderSize: limits.outboundHeaderBytesMax,
      headers,
      ...(ca === undefined ? {} : { ca }),
    })
    // The first reason counts. Later errors come from `destroy` and find a settled promise.
    const fail = (reason: OutboundReason) => {
      reject(new OutboundError(reason, sent))
      request.destroy()
    }
    signal.addEventListener('abort', () => fail('timeout'), { once: true })
    request.on('error', (error) => fail(connected ? reasonOf(error) : 'connect'))
    // An early end (broken body, upgrade, reset) shows only as `close`.
    request.on('close', () => fail('protocol'))
    request.on('socket', (socket) => {
      // The address of the connected socket is checked before any byte is sent.
      socket.on('connect', () => {
        connected = true
        if (socket.remoteAddress !== address) fail('address')
      })
      // The request is written after the handshake only. Else `sent` could not tell if a byte was sent.
      socket.on(plain ? 'connect' : 'secureConnect', () => {
        if (request.destroyed) return
        sent = true
        request.end(body)
      })
    })
    request.on('response', (response) => {
      const reason = refusedHead(response, bodyBytesMax)
      if (reason !== null) return fail(reason)
      const chunks: Uint8Array[] = []
      let bytes = 0
      response.on('data', (chunk: Uint8Array) => {
        bytes += chunk.length
        if (bytes > bodyBytesMax) return fail('too-large')
        chunks.push(chunk)
      })
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, body: Buffer.concat(chunks) })
      })
    })
  })
}

/** The reason to refuse an answer by its status and headers, before its body is read, or null. */
function refusedHead(response: IncomingMessage, bodyBytesMax: number): OutboundReason | null {
  const { statusCode = 0, headers } = response
  if (statusCode >= 300 && statusCode < 400) return 'redirect'
  // The request asked for no compression. A compressed body could expand beyond any bound.
  if (!/^(identity)?$/i.test(headers['content-encoding'] ?? '')) return 'encoding'
  if (!/^(chunked)?$/i.test(headers['transfer-encoding'] ?? '')) return 'encoding'
  return Number(headers['content-length'] ?? 0) > bodyBytesMax ? 'too-large' : null
}

function reasonOf(error: Error): OutboundReason {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return /CERT|SIGNATURE|ISSUER|CRL/.test(code) ? 'certificate' : 'protocol'
}
