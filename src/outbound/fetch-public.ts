import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { limits } from '../base/limits.ts'
import { loopbackAddress, publicAddress } from './address.ts'
import { createHostResolver, type ResolveHost } from './resolve.ts'

/** Why an outgoing request came to nothing. Safe to show: it says nothing about our own network. */
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

/** The one error of outgoing HTTP: the far side, or the way there, is to blame. */
export class OutboundError extends Error {
  readonly reason: OutboundReason
  /** False: not a byte of the request has left this process. True: the far side may have all of it. */
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
  /** From the resolution of the name to the last byte of the answer. */
  deadlineMs: number
  /** Of the answer. */
  bodyBytesMax: number
  /** The media types wanted; absent: JSON. */
  accept?: string
  /** Makes it a POST with this as its body, in JSON. */
  json?: unknown
  /** Sent with a POST. */
  idempotencyKey?: string
}

/** GET or POST to an https URL of the public Internet, once. Throws nothing but OutboundError. */
export type FetchPublic = (url: URL, request: OutboundRequest) => Promise<OutboundAnswer>

/** For tests only, and nothing in the environment reaches them. */
export type OutboundSettings = {
  /** Asked once a request. */
  resolve?: ResolveHost
  /** Also connect to 127.0.0.0/8 and ::1. */
  allowLoopback?: boolean
  /** A certificate authority to trust in place of the public ones (PEM). */
  ca?: string
}

/**
 * Build the only way out over HTTP. Not `fetch`: it would go through a proxy named in the
 * environment, and `NODE_TLS_REJECT_UNAUTHORIZED=0` would switch its certificate check off.
 */
export function createFetchPublic(settings: OutboundSettings = {}): FetchPublic {
  const resolve = settings.resolve ?? createHostResolver()
  const allowed = createAddressRule(settings)

  return async (url, { deadlineMs, bodyBytesMax, accept, json, idempotencyKey }) => {
    const host = checkedHost(url)
    const deadline = new AbortController()
    const { signal } = deadline
    const timer = setTimeout(() => deadline.abort(), deadlineMs)
    try {
      const found = isIP(host) ? [host] : await addressesOf(host, resolve, signal)
      const servername = isIP(host) ? '' : host
      const body = json === undefined ? null : Buffer.from(JSON.stringify(json))
      const headers = { ...headersOf(url, body, idempotencyKey), ...(accept && { accept }) }
      const target = { url, servername, headers, body, bodyBytesMax, signal, ca: settings.ca }
      return await exchangeWith(candidates(found.filter(allowed)), target)
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Build the check of what a URL says by itself; where its name leads shows when it is asked. */
export function createUrlRule(settings: OutboundSettings = {}): (url: URL) => boolean {
  const allowed = createAddressRule(settings)
  return (url) => {
    const host = hostOf(url)
    // A name without a dot is known to this network alone.
    return host !== null && (isIP(host) ? allowed(host) : host.includes('.'))
  }
}

function createAddressRule({ allowLoopback }: OutboundSettings): (address: string) => boolean {
  return (address) => publicAddress(address) || (allowLoopback === true && loopbackAddress(address))
}

function checkedHost(url: URL): string {
  const host = hostOf(url)
  if (host === null) throw new OutboundError('url')
  return host
}

/** The name or address that a usable URL leads to, or null. */
function hostOf(url: URL): string | null {
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') return null
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // A name with a trailing dot is the same host under another certificate name.
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

/** The addresses of a name, unless the deadline comes first or there are none. */
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

/** One address of each family, since this machine may have no route for either. */
function candidates(usable: string[]): string[] {
  return [usable.find(isIPv4), usable.find(isIPv6)].filter((address) => address !== undefined)
}

/**
 * The answer of the first address that lets us connect. Addresses that may not be used are passed
 * over before, not fatal: behind DNS64 a good name also has a NAT64 address.
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
  /** The name for SNI and the certificate; empty when the URL names the address itself. */
  servername: string
  headers: Record<string, string>
  /** Null: a GET. */
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
    const request = httpsRequest({
      method: body ? 'POST' : 'GET',
      host: address,
      port: url.port === '' ? 443 : Number(url.port),
      path: url.pathname + url.search,
      servername,
      // No pool: a connection is never shared with another name behind the same address.
      agent: false,
      rejectUnauthorized: true,
      maxHeaderSize: limits.outboundHeaderBytesMax,
      headers,
      ...(ca === undefined ? {} : { ca }),
    })
    // The first reason counts: what follows from tearing down finds a settled promise.
    const fail = (reason: OutboundReason) => {
      reject(new OutboundError(reason, sent))
      request.destroy()
    }
    signal.addEventListener('abort', () => fail('timeout'), { once: true })
    request.on('error', (error) => fail(connected ? reasonOf(error) : 'connect'))
    // Whatever ends early ends here: a broken body, an upgrade, a reset.
    request.on('close', () => fail('protocol'))
    request.on('socket', (socket) => {
      // The connected socket has the last word on where we are, before anything is said.
      socket.on('connect', () => {
        connected = true
        if (socket.remoteAddress !== address) fail('address')
      })
      // Not earlier: what is handed over before the handshake ended could leave whenever it likes.
      socket.on('secureConnect', () => {
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

/** What the status line and headers alone rule out, before a byte of the body is read. */
function refusedHead(response: IncomingMessage, bodyBytesMax: number): OutboundReason | null {
  const { statusCode = 0, headers } = response
  if (statusCode >= 300 && statusCode < 400) return 'redirect'
  // We asked for identity: a compressed answer could unfold past any bound.
  if (!/^(identity)?$/i.test(headers['content-encoding'] ?? '')) return 'encoding'
  if (!/^(chunked)?$/i.test(headers['transfer-encoding'] ?? '')) return 'encoding'
  return Number(headers['content-length'] ?? 0) > bodyBytesMax ? 'too-large' : null
}

function reasonOf(error: Error): OutboundReason {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return /CERT|SIGNATURE|ISSUER|CRL/.test(code) ? 'certificate' : 'protocol'
}
