import { afterEach, describe, expect, jest, test } from 'bun:test'
import { createSocket } from 'node:dgram'
import { readFile } from 'node:fs/promises'
import { type Server, type Socket, createServer as tcpServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { createServer, type TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { limits as ours } from '../../src/base/limits.ts'
import { publicAddress } from '../../src/outbound/address.ts'
import {
  createFetchPublic,
  type FetchPublic,
  OutboundError,
  type OutboundReason,
  type OutboundSettings,
} from '../../src/outbound/fetch-public.ts'
import { createNip05Resolver } from '../../src/outbound/nip05.ts'
import { createHostResolver } from '../../src/outbound/resolve.ts'
import { inside, spellings, urlSpellings } from '../support/address-forms.ts'
import {
  expiredCertificate,
  literalCertificate,
  shopCertificate,
  testAuthority,
} from '../support/certificates.ts'
import { until } from '../support/until.ts'

/** A deadline that only a request without an answer meets, even on a busy machine. */
const bounds = { deadlineMs: 30_000, bodyBytesMax: 1000 }
/** Some machines and containers have no IPv6 at all. */
const noIpv6 = !Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

type Shop = {
  port: number
  /** Everything that was sent to it, decrypted. */
  requests: string[]
  /** The names asked for in the TLS handshake. */
  names: (string | false | null | undefined)[]
  connections: () => number
}
type Reply = string | Uint8Array | ((socket: TLSSocket) => void)

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

/** A TLS server that answers every request with the same raw bytes, then closes. */
function openShop(
  reply: Reply,
  { certificate = shopCertificate, address = '127.0.0.1', port = 0 } = {},
): Promise<Shop> {
  const requests: string[] = []
  const names: Shop['names'] = []
  const server = createServer(certificate, (socket) => {
    names.push((socket as TLSSocket & { servername?: string | false }).servername)
    socket.on('error', () => {})
    socket.once('data', (data) => {
      requests.push(data.toString())
      if (typeof reply === 'function') reply(socket)
      else socket.end(reply)
    })
  })
  // A client that turns away inside the handshake.
  server.on('tlsClientError', () => {})
  return listen(server, address, port, requests, names)
}

function listen(
  server: Server,
  address: string,
  port: number,
  requests: string[] = [],
  names: Shop['names'] = [],
): Promise<Shop> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => {})
  })
  cleanups.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return new Promise((resolve, reject) => {
    server.on('error', reject)
    server.listen(port, address, () => {
      const bound = server.address()
      if (typeof bound !== 'object' || bound === null) return reject(new Error('no port'))
      resolve({
        port: bound.port,
        requests,
        names,
        connections: () => connections,
      })
    })
  })
}

/** A name server for one zone: an IPv4 address per query for A, null for no such name, or silence. */
function openNameServer(
  answer: (query: number) => string | null,
): Promise<{ address: string; queries: string[] }> {
  const queries: string[] = []
  let asked = 0
  const server = createSocket('udp4')
  cleanups.push(() => server.close())
  server.on('message', (message, from) => {
    const labels: string[] = []
    let at = 12
    for (let size = message[at] ?? 0; size > 0; size = message[at] ?? 0) {
      labels.push(message.toString('latin1', at + 1, at + 1 + size))
      at += 1 + size
    }
    const forA = message.readUInt16BE(at + 1) === 1
    queries.push(`${labels.join('.')} ${forA ? 'A' : 'AAAA'}`)
    const found = forA ? answer(asked++) : ''
    if (found === 'silence') return
    const octets = found ? found.split('.').map(Number) : []
    const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...octets]
    const header = [0x81, found === null ? 0x83 : 0x80, 0, 1, 0, octets.length / 4, 0, 0, 0, 0]
    server.send(
      Buffer.concat([
        message.subarray(0, 2),
        Buffer.from(header),
        message.subarray(12, at + 5),
        Buffer.from(octets.length > 0 ? record : []),
      ]),
      from.port,
      from.address,
    )
  })
  return new Promise((resolve) => {
    server.bind(0, '127.0.0.1', () => {
      resolve({ address: `127.0.0.1:${server.address().port}`, queries })
    })
  })
}

/** A client that resolves every name to 127.0.0.1 and trusts the test authority. */
function loopback(settings: OutboundSettings = {}): FetchPublic {
  const resolve = async () => ['127.0.0.1']
  return createFetchPublic({
    resolve,
    allowLoopback: true,
    ca: testAuthority,
    ...settings,
  })
}

function shopUrl(shop: Shop, host = 'shop.test', path = '/'): URL {
  return new URL(`https://${host}:${shop.port}${path}`)
}

/** The failure reason of a request, or its other outcome. */
async function outcome(work: Promise<unknown>): Promise<OutboundReason | unknown> {
  try {
    return await work
  } catch (error) {
    return error instanceof OutboundError ? error.reason : error
  }
}

/** The reason of a failed outgoing request; any other outcome fails the test. */
async function failure(work: Promise<unknown>): Promise<{ reason: OutboundReason; sent: boolean }> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof OutboundError)) throw error
  return { reason: error.reason, sent: error.sent }
}

describe('an outgoing request', () => {
  test('returns status, headers and body, and sends no unnecessary header', async () => {
    const shop = await openShop(
      'HTTP/1.1 404 Not Found\r\nX-One: 1\r\ncontent-length: 4\r\n\r\nnada',
    )
    const answer = await loopback()(shopUrl(shop, 'shop.test', '/a/b?c=d%20e#f'), bounds)
    expect(answer.status).toBe(404)
    expect(answer.headers['x-one']).toBe('1')
    expect(Buffer.from(answer.body).toString()).toBe('nada')
    expect(shop.names).toEqual(['shop.test'])
    const [line, ...headers] = shop.requests[0]?.trimEnd().toLowerCase().split('\r\n') ?? []
    expect(line).toBe('get /a/b?c=d%20e http/1.1')
    expect(new Set(headers)).toEqual(
      new Set([
        `host: shop.test:${shop.port}`,
        'accept: application/json',
        'accept-encoding: identity',
        'user-agent: cuponera',
        'connection: close',
      ]),
    )
  })

  const bodies: [what: string, head: string, body: string][] = [
    ['of a declared length', 'content-length: 5', 'abcde'],
    ['in chunks', 'transfer-encoding: chunked', '2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n'],
    ['that ends with the connection', 'x: y', 'abcde'],
    ['marked as identity', 'content-encoding: identity', 'abcde'],
    ['after an early hint', 'x: y', 'abcde'],
  ]
  test.each(bodies)('reads a body %s', async (what, head, body) => {
    const early = what.includes('early') ? 'HTTP/1.1 103 Early Hints\r\n\r\n' : ''
    const shop = await openShop(`${early}HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`)
    const answer = await loopback()(shopUrl(shop), bounds)
    expect(Buffer.from(answer.body).toString()).toBe('abcde')
  })

  const urls: string[] = [
    'http://shop.test/',
    'ws://shop.test/',
    'file:///etc/passwd',
    'data:application/json,{}',
    'https://user@shop.test/',
    'https://user:password@shop.test/',
    'https://:password@shop.test/',
    'https://shop.test./',
  ]
  test.each(urls)('is not made to %s', async (text) => {
    let asked = 0
    const resolve = async () => {
      asked += 1
      return ['127.0.0.1']
    }
    expect(await outcome(loopback({ resolve })(new URL(text), bounds))).toBe('url')
    expect(asked).toBe(0)
  })

  test('reveals nothing about our own network when it fails', async () => {
    const refused = loopback({ resolve: async () => ['127.0.0.1'] })(
      new URL('https://shop.test:1/'),
      bounds,
    )
    const error = await refused.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OutboundError)
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/127|ECONN/)
    expect((error as OutboundError).message).toBe('outbound: connect')
    expect((error as OutboundError).cause).toBeUndefined()
  })
})

describe('the address of a request', () => {
  test('is the checked one, although the resolver changes its answer', async () => {
    const checked = await openShop(ok, { address: '127.0.0.2' })
    const rebound = await openShop(ok, {
      address: '127.0.0.1',
      port: checked.port,
    })
    const answers = [['127.0.0.2'], ['127.0.0.1'], ['127.0.0.1']]
    const asked: string[] = []
    const resolve = async (host: string) => {
      asked.push(host)
      return answers.shift() ?? []
    }
    const { status } = await loopback({ resolve })(shopUrl(checked), bounds)
    expect(status).toBe(200)
    expect(asked).toEqual(['shop.test'])
    expect([checked.connections(), rebound.connections()]).toEqual([1, 0])
  })

  test('is never looked up by the system, although it knows the name', async () => {
    const checked = await openShop(ok, { address: '127.0.0.2' })
    const machine = await openShop(ok, {
      address: '127.0.0.1',
      port: checked.port,
    })
    const resolve = async () => ['127.0.0.2']
    await loopback({ resolve })(shopUrl(checked, 'localhost'), bounds)
    expect([checked.connections(), machine.connections()]).toEqual([1, 0])
  })

  test('is looked up and checked for every request', async () => {
    const shop = await openShop(ok)
    const answers = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1']]
    const fetchPublic = loopback({
      resolve: async () => answers.shift() ?? [],
    })
    expect((await fetchPublic(shopUrl(shop), bounds)).status).toBe(200)
    expect(await outcome(fetchPublic(shopUrl(shop), bounds))).toBe('address')
    expect((await fetchPublic(shopUrl(shop), bounds)).status).toBe(200)
    expect(shop.connections()).toBe(2)
  })

  const answers: [what: string, addresses: string[]][] = [
    ['loopback', ['127.0.0.1']],
    ['IPv6 loopback', ['::1']],
    ['mapped loopback', ['::ffff:127.0.0.1']],
    ['private', ['10.0.0.1', '192.168.1.1']],
    ['the metadata service', ['169.254.169.254']],
    ['NAT64', ['64:ff9b::7f00:1']],
    ['a zone', ['2606:4700:4700::1111%lo']],
    ['octal', ['0177.0.0.1']],
    ['a name', ['localhost']],
  ]
  test.each(answers)('is refused when the name resolves to %s', async (_, addresses) => {
    const shop = await openShop(ok)
    const fetchPublic = createFetchPublic({
      resolve: async () => addresses,
      ca: testAuthority,
    })
    expect(await outcome(fetchPublic(shopUrl(shop), bounds))).toBe('address')
    expect(shop.connections()).toBe(0)
  })

  test('is the public one when a name has others too, IPv4 before IPv6', async () => {
    const shop = await openShop(ok)
    for (const addresses of [
      ['64:ff9b::808:808', '127.0.0.1'],
      ['10.0.0.1', '127.0.0.1'],
      ['::1', '127.0.0.1'],
    ]) {
      const answer = await loopback({ resolve: async () => addresses })(shopUrl(shop), bounds)
      expect(answer.status).toBe(200)
    }
    expect(shop.connections()).toBe(3)
  })

  const literals: string[] = [
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://１２７.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fe80::1]/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://0.0.0.0/',
    'https://[::]/',
  ]
  test.each(literals)('is refused in the URL as %s without a lookup', async (text) => {
    let asked = 0
    const resolve = async () => {
      asked += 1
      return ['93.184.216.34']
    }
    expect(await outcome(createFetchPublic({ resolve })(new URL(text), bounds))).toBe('address')
    expect(asked).toBe(0)
  })

  test('is refused in every notation of a resolver, and no connection is made', async () => {
    const shop = await openShop(ok)
    const forms = [...inside.map(([address]) => address), ...spellings]
    const reached: string[] = []
    for (const form of forms) {
      const fetchPublic = createFetchPublic({ resolve: async () => [form], ca: testAuthority })
      if ((await outcome(fetchPublic(shopUrl(shop), bounds))) !== 'address') reached.push(form)
    }
    expect(reached).toEqual([])
    expect(forms.length).toBeGreaterThan(300)
    expect(shop.connections()).toBe(0)
  })

  test('is refused in every notation of a URL, and no connection is made', async () => {
    const shop = await openShop(ok)
    const fetchPublic = createFetchPublic({
      resolve: async () => ['127.0.0.1'],
      ca: testAuthority,
    })
    const forms = [...inside.map(([address]) => address), ...spellings]
    const texts = [
      ...forms.flatMap((form) => [
        `https://${form}:${shop.port}/`,
        `https://[${form}]:${shop.port}/`,
      ]),
      ...urlSpellings,
    ]
    const urls = texts.flatMap((text) => URL.parse(text) ?? [])
    // A spelling that every URL parser takes for a public host is one: 8.8 is 8.0.0.8.
    const guarded = urls.filter(({ hostname }) => !publicAddress(hostname.replace(/^\[|\]$/g, '')))
    const reached: string[] = []
    for (const url of guarded) {
      const reason = await outcome(fetchPublic(url, bounds))
      if (reason !== 'address' && reason !== 'url') reached.push(url.href)
    }
    expect(reached).toEqual([])
    expect(guarded.length).toBeGreaterThan(250)
    expect(shop.connections()).toBe(0)
  })

  test('must be in the certificate when the URL contains it', async () => {
    const named = await openShop(ok)
    const literal = await openShop(ok, { certificate: literalCertificate })
    expect(await outcome(loopback()(shopUrl(named, '127.0.0.1'), bounds))).toBe('certificate')
    expect((await loopback()(shopUrl(literal, '127.0.0.1'), bounds)).status).toBe(200)
    expect(literal.requests[0]).toContain(`host: 127.0.0.1:${literal.port}\r\n`)
    expect([named.requests.length, named.connections()]).toEqual([0, 1])
  })

  test('has its own failure reason when it cannot be found', async () => {
    const url = new URL('https://shop.test/')
    const fails = () => Promise.reject(new Error('ENOTFOUND shop.test'))
    expect(await outcome(loopback({ resolve: fails })(url, bounds))).toBe('resolve')
    expect(await outcome(loopback({ resolve: async () => [] })(url, bounds))).toBe('resolve')
  })

  test.skipIf(noIpv6)(
    'is compared with the address of the connected socket before anything is sent',
    async () => {
      const shop = await openShop(ok, { address: '::1' })
      // Allowed, and connected to; but the socket calls it by its other name.
      const resolve = async () => ['0:0:0:0:0:0:0:1']
      const request = { ...bounds, json: {} }
      expect(await failure(loopback({ resolve })(shopUrl(shop), request))).toEqual({
        reason: 'address',
        sent: false,
      })
      expect([shop.connections(), shop.requests.length]).toEqual([1, 0])
    },
  )

  test.skipIf(noIpv6)(
    'of the other family is tried when the first one refuses, and no third',
    async () => {
      const six = await openShop(ok, { address: '::1' })
      const resolve = async () => ['127.0.0.9', '127.0.0.1', '::1']
      expect((await loopback({ resolve })(shopUrl(six), bounds)).status).toBe(200)
      const four = await openShop(ok)
      const third = async () => ['127.0.0.9', '127.0.0.1']
      expect(await outcome(loopback({ resolve: third })(shopUrl(four), bounds))).toBe('connect')
      expect([six.connections(), four.connections()]).toEqual([1, 0])
    },
  )

  test.skipIf(noIpv6)(
    'of the other family is not tried after a wrong answer of the first',
    async () => {
      const four = await openShop('')
      const six = await openShop(ok, { address: '::1', port: four.port })
      const resolve = async () => ['::1', '127.0.0.1']
      expect(await outcome(loopback({ resolve })(shopUrl(four), bounds))).toBe('protocol')
      expect([four.connections(), six.connections()]).toEqual([1, 0])
    },
  )
})

describe('the name of a host', () => {
  test('is looked up once, so that a rebinding name server gains nothing', async () => {
    const checked = await openShop(ok, { address: '127.0.0.2' })
    const rebound = await openShop(ok, {
      address: '127.0.0.1',
      port: checked.port,
    })
    // Answers with time to live 0: first the harmless address, ever after the other.
    const zone = await openNameServer((query) => (query === 0 ? '127.0.0.2' : '127.0.0.1'))
    const fetchPublic = loopback({
      resolve: createHostResolver([zone.address]),
    })
    expect((await fetchPublic(shopUrl(checked), bounds)).status).toBe(200)
    expect(zone.queries).toEqual(['shop.test A', 'shop.test AAAA'])
    expect([checked.connections(), rebound.connections()]).toEqual([1, 0])
  })

  test('is refused when it leads to a private address', async () => {
    const shop = await openShop(ok)
    const zone = await openNameServer(() => '127.0.0.1')
    const resolve = createHostResolver([zone.address])
    expect(await outcome(createFetchPublic({ resolve })(shopUrl(shop), bounds))).toBe('address')
    expect([zone.queries.length, shop.connections()]).toEqual([2, 0])
  })

  test('has its own failure reason when it does not exist', async () => {
    const zone = await openNameServer(() => null)
    const resolve = createHostResolver([zone.address])
    const url = new URL('https://shop.test/')
    expect(await outcome(createFetchPublic({ resolve })(url, bounds))).toBe('resolve')
  })

  test('is no longer looked up when nobody waits for it', async () => {
    const zone = await openNameServer(() => 'silence')
    const resolve = createHostResolver([zone.address])
    const end = new AbortController()
    const patient = resolve('first.test', end.signal).then(() => 'the first')
    const givenUp = resolve('shop.test', AbortSignal.timeout(50))
    // Asked before, the first one ends first when a signal ends nothing.
    expect(await Promise.race([patient, givenUp])).toEqual([])
    end.abort()
    await patient
  })

  test('with a silent name server ends at the deadline and delays nothing else', async () => {
    const zone = await openNameServer(() => 'silence')
    const fetchPublic = createFetchPublic({
      resolve: createHostResolver([zone.address]),
    })
    const lookups = Array.from({ length: 100 }, (_, i) =>
      outcome(
        fetchPublic(new URL(`https://h${i}.test/`), {
          ...bounds,
          deadlineMs: 1500,
        }),
      ),
    )
    const read = readFile(import.meta.path).then(() => 'the file is read')
    expect(await Promise.race([...lookups, read])).toBe('the file is read')
    expect(new Set(await Promise.all(lookups))).toEqual(new Set(['timeout']))
  })
})

describe('a rebinding name', () => {
  const mixed: [what: string, addresses: string[]][] = [
    ['a private address first', ['10.0.0.1', '127.0.0.2']],
    ['a private address last', ['127.0.0.2', '192.168.0.1']],
    ['private addresses of both families', ['fd00::1', '127.0.0.2', '169.254.169.254']],
    ['mapped and translated ones', ['::ffff:10.0.0.1', '64:ff9b::a00:1', '127.0.0.2']],
  ]
  test.each(mixed)('with %s is only reached at an allowed address', async (_, addresses) => {
    const shop = await openShop(ok, { address: '127.0.0.2' })
    const other = await openShop(ok, { address: '127.0.0.1', port: shop.port })
    expect((await loopback({ resolve: async () => addresses })(shopUrl(shop), bounds)).status).toBe(
      200,
    )
    expect([shop.connections(), other.connections()]).toEqual([1, 0])
  })

  test('that was public and becomes private gets no second request', async () => {
    const shop = await openShop(ok, { address: '127.0.0.2' })
    const inner = await openShop(ok, { address: '127.0.0.1', port: shop.port })
    const zone = await openNameServer((query) => (query === 0 ? '127.0.0.2' : '10.0.0.1'))
    const fetchPublic = loopback({ resolve: createHostResolver([zone.address]) })
    const post = { ...bounds, json: { nonce: 'secret' } }
    expect((await fetchPublic(shopUrl(shop), post)).status).toBe(200)
    expect(await failure(fetchPublic(shopUrl(shop), post))).toEqual({
      reason: 'address',
      sent: false,
    })
    expect([shop.connections(), inner.connections()]).toEqual([1, 0])
  })
})

describe('a POST', () => {
  const post = {
    ...bounds,
    json: { nonce: 'AbC', comment: 'ñandú' },
    idempotencyKey: 'a-key-of-ours',
  }

  test('sends its body once, whole, with its key', async () => {
    const shop = await openShop(ok)
    expect((await loopback()(shopUrl(shop, 'shop.test', '/cb?a=1'), post)).status).toBe(200)
    const [head = '', body = ''] = shop.requests[0]?.split('\r\n\r\n') ?? []
    const [line, ...headers] = head.toLowerCase().split('\r\n')
    expect(line).toBe('post /cb?a=1 http/1.1')
    expect(new Set(headers)).toEqual(
      new Set([
        `host: shop.test:${shop.port}`,
        'accept: application/json',
        'accept-encoding: identity',
        'user-agent: cuponera',
        'content-type: application/json',
        'content-length: 35',
        'idempotency-key: a-key-of-ours',
        'connection: close',
      ]),
    )
    expect(JSON.parse(body)).toEqual(post.json)
    expect(shop.connections()).toBe(1)
  })

  test('is not repeated elsewhere when it is redirected', async () => {
    const other = await openShop(ok)
    const shop = await openShop(
      `HTTP/1.1 307 X\r\nlocation: https://shop.test:${other.port}/\r\ncontent-length: 0\r\n\r\n`,
    )
    expect(await failure(loopback()(shopUrl(shop), post))).toEqual({
      reason: 'redirect',
      sent: true,
    })
    expect(other.connections()).toBe(0)
  })

  /** Long enough for a request to leave on a busy machine. */
  const quick = { ...post, deadlineMs: 1500 }
  const unsent: [reason: OutboundReason, send: () => Promise<unknown>][] = [
    ['url', async () => loopback()(new URL('http://shop.test/'), post)],
    [
      'resolve',
      async () => loopback({ resolve: async () => [] })(new URL('https://shop.test/'), post),
    ],
    [
      'address',
      async () =>
        createFetchPublic({ resolve: async () => ['10.0.0.1'] })(
          new URL('https://shop.test/'),
          post,
        ),
    ],
    ['connect', async () => loopback()(new URL('https://shop.test:1/'), post)],
    ['certificate', async () => loopback()(shopUrl(await openShop(ok), 'other.test'), post)],
    ['timeout', async () => loopback()(shopUrl(await listen(tcpServer(), '127.0.0.1', 0)), quick)],
    [
      'timeout',
      async () =>
        loopback({ resolve: () => new Promise(() => {}) })(new URL('https://shop.test/'), quick),
    ],
    [
      'protocol',
      async () =>
        loopback()(
          shopUrl(
            await listen(
              tcpServer((socket) => socket.end('SSH-2.0\r\n')),
              '127.0.0.1',
              0,
            ),
          ),
          post,
        ),
    ],
  ]
  test.each(unsent)('reports a failure before it left (%s)', async (reason, send) => {
    expect(await failure(send())).toEqual({ reason, sent: false })
  })

  const sent: [reason: OutboundReason, reply: Reply][] = [
    ['protocol', ''],
    ['protocol', (socket) => socket.destroy()],
    ['protocol', 'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nok'],
    ['too-large', `HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(1001)}`],
    ['encoding', 'HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 2\r\n\r\nok'],
    ['timeout', () => {}],
  ]
  test.each(sent)('reports a failure after it left (%s)', async (reason, reply) => {
    const shop = await openShop(reply)
    const options = reason === 'timeout' ? quick : post
    expect(await failure(loopback()(shopUrl(shop), options))).toEqual({ reason, sent: true })
    expect(shop.requests).toHaveLength(1)
  })

  test('counts as sent when the far side hung up before it read all', async () => {
    const shop = await openShop((socket) => socket.destroy())
    const large = { ...bounds, json: 'a'.repeat(4_000_000) }
    expect(await failure(loopback()(shopUrl(shop), large))).toEqual({
      reason: 'protocol',
      sent: true,
    })
  })
})

describe('the certificate', () => {
  test('must name the host of the URL', async () => {
    const shop = await openShop(ok)
    expect(await outcome(loopback()(shopUrl(shop, 'other.test'), bounds))).toBe('certificate')
    expect([shop.requests.length, shop.connections()]).toEqual([0, 1])
  })

  test('must come from a trusted authority', async () => {
    const shop = await openShop(ok)
    const fetchPublic = createFetchPublic({
      resolve: async () => ['127.0.0.1'],
      allowLoopback: true,
    })
    expect(await outcome(fetchPublic(shopUrl(shop), bounds))).toBe('certificate')
    expect(shop.requests).toEqual([])
  })

  test('must not have expired', async () => {
    const shop = await openShop(ok, { certificate: expiredCertificate })
    expect(await outcome(loopback()(shopUrl(shop), bounds))).toBe('certificate')
    expect(shop.requests).toEqual([])
  })
})

describe('the environment', () => {
  const cases: [what: string, host: string, trust: string, printed: string][] = [
    ['lead through a proxy', 'shop.test', 'trusted', '200'],
    ['excuse the certificate of another name', 'other.test', 'trusted', 'certificate'],
    ['excuse a certificate nobody vouches for', 'shop.test', 'untrusted', 'certificate'],
  ]
  test.each(cases)('cannot %s', async (_, host, trust, printed) => {
    const shop = await openShop(ok)
    const proxy = await listen(tcpServer(), '127.0.0.1', 0)
    const through = `http://127.0.0.1:${proxy.port}`
    const child = Bun.spawn(
      [
        process.execPath,
        `${import.meta.dir}/../support/outbound-child.ts`,
        shopUrl(shop, host).href,
        trust,
      ],
      {
        env: {
          ...process.env,
          NODE_TLS_REJECT_UNAUTHORIZED: '0',
          HTTPS_PROXY: through,
          https_proxy: through,
          HTTP_PROXY: through,
          ALL_PROXY: through,
          NODE_USE_ENV_PROXY: '1',
        },
        stderr: 'ignore',
      },
    )
    cleanups.push(() => child.kill())
    expect((await new Response(child.stdout).text()).trim()).toBe(printed)
    expect(proxy.connections()).toBe(0)
  })
})

describe('an answer', () => {
  const refused: [what: string, reply: string | Uint8Array, reason: OutboundReason][] = [
    ...[300, 301, 302, 303, 304, 307, 308, 399].map((status): [string, string, OutboundReason] => [
      `that redirects (${status})`,
      `HTTP/1.1 ${status} X\r\nlocation: https://shop.test/\r\ncontent-length: 0\r\n\r\n`,
      'redirect',
    ]),
    [
      'that declares too long a body',
      'HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n',
      'too-large',
    ],
    [
      'whose body grows too long by connection end',
      `HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(1001)}`,
      'too-large',
    ],
    [
      'whose body grows too long in chunks',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(1001)}0\r\n\r\n`,
      'too-large',
    ],
    [
      'that is compressed',
      Buffer.concat([
        Buffer.from('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n'),
        gzipSync('a'.repeat(100_000)),
      ]),
      'encoding',
    ],
    ...['br', 'zstd', 'deflate', 'x-gzip', 'gzip, identity', 'identity, gzip'].map(
      (encoding): [string, string, OutboundReason] => [
        `that is encoded as ${encoding}`,
        `HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: 2\r\n\r\nok`,
        'encoding',
      ],
    ),
    [
      'that is compressed in transfer',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      'encoding',
    ],
    [
      'whose headers are too long',
      `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(ours.outboundHeaderBytesMax)}\r\ncontent-length: 2\r\n\r\nok`,
      'protocol',
    ],
    ['that is no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n\r\n', 'protocol'],
    ['that breaks off', 'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nok', 'protocol'],
    [
      'that breaks off between chunks',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n',
      'protocol',
    ],
    [
      'that wants another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
      'protocol',
    ],
    ['that is empty', '', 'protocol'],
  ]
  test.each(refused)('%s is refused', async (_, reply, reason) => {
    const shop = await openShop(reply)
    expect(await outcome(loopback()(shopUrl(shop), bounds))).toBe(reason)
    expect(shop.connections()).toBe(1)
  })

  test('of exactly the allowed length is taken', async () => {
    const shop = await openShop(`HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(1000)}`)
    expect((await loopback()(shopUrl(shop), bounds)).body).toHaveLength(1000)
  })

  test('that never ends is cut off once it is too long', async () => {
    let hungUp = () => {}
    const closed = new Promise<void>((resolve) => {
      hungUp = resolve
    })
    const shop = await openShop((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const drip = setInterval(() => socket.write('a'.repeat(100)), 1)
      socket.on('close', () => {
        clearInterval(drip)
        hungUp()
      })
    })
    expect(await outcome(loopback()(shopUrl(shop), bounds))).toBe('too-large')
    await closed
  })
})

describe('the deadline', () => {
  /** Long enough for a request to leave on a busy machine. */
  const deadlineMs = 1500
  const slow: [what: string, reply: (socket: TLSSocket) => void][] = [
    ['says nothing', () => {}],
    ['sends one header and no more', (socket) => socket.write('HTTP/1.1 200 OK\r\nx: y\r\n')],
    ['hints for ever', (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n')],
    [
      'drips its headers',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        drip(socket, 'x: y\r\n')
      },
    ],
    [
      'drips its body',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
        drip(socket, 'a')
      },
    ],
  ]

  function drip(socket: TLSSocket, text: string) {
    const timer = setInterval(() => socket.write(text), 20)
    socket.on('close', () => clearInterval(timer))
  }

  async function expectTimeout(work: Promise<unknown>) {
    const from = performance.now()
    expect(await outcome(work)).toBe('timeout')
    expect(performance.now() - from).toBeGreaterThan(deadlineMs - 20)
  }

  test.each(slow)('ends a request to a server that %s', async (_, reply) => {
    const shop = await openShop(reply)
    await expectTimeout(loopback()(shopUrl(shop), { ...bounds, deadlineMs }))
    expect(shop.requests).toHaveLength(1)
  })

  test('ends a request whose server never completes the handshake', async () => {
    const silent = await listen(tcpServer(), '127.0.0.1', 0)
    await expectTimeout(loopback()(shopUrl(silent), { ...bounds, deadlineMs }))
    expect(silent.connections()).toBe(1)
  })

  test('ends a request whose resolver never answers', async () => {
    const resolve = () => new Promise<string[]>(() => {})
    const url = new URL('https://shop.test/')
    await expectTimeout(loopback({ resolve })(url, { ...bounds, deadlineMs }))
  })

  test('counts the time of the resolver and of the server together', async () => {
    const shop = await openShop(() => {})
    const resolve = async () => {
      await Bun.sleep(0.8 * deadlineMs)
      return ['127.0.0.1']
    }
    const both = loopback({ resolve })(shopUrl(shop), { ...bounds, deadlineMs })
    // With a deadline for each of the two it would end at 1.8 times the deadline, after the other.
    const later = { ...bounds, deadlineMs: 1.5 * deadlineMs }
    const other = loopback()(shopUrl(shop), later)
    const first = await Promise.race([
      outcome(both).then((reason) => `both: ${reason}`),
      outcome(other).then((reason) => `other: ${reason}`),
    ])
    expect(first).toBe('both: timeout')
    await outcome(other)
  })

  test('leaves no connection open', async () => {
    let closed = 0
    const shop = await openShop((socket) => {
      socket.on('close', () => {
        closed += 1
      })
    })
    await outcome(loopback()(shopUrl(shop), { ...bounds, deadlineMs }))
    await until('the connection is closed', () => closed === 1)
  })
})

describe('a NIP-05 lookup', () => {
  const key = '3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d'
  const json = (text: string) =>
    `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  const bare = (text: string) => `HTTP/1.1 200 OK\r\n\r\n${text}`
  const document = JSON.stringify({ names: { ana: key } })

  /** The real client with another port: the tests cannot open 443. */
  function resolver(shop: Shop) {
    const fetchPublic = loopback()
    return createNip05Resolver((url, limits) => {
      expect([limits.deadlineMs, limits.bodyBytesMax]).toEqual([
        ours.nip05DeadlineMs,
        ours.nip05BodyBytesMax,
      ])
      return fetchPublic(shopUrl(shop, url.hostname, url.pathname + url.search), limits)
    })
  }

  test('requests the well-known document for one name and reads its key', async () => {
    const shop = await openShop(json(document))
    expect(await resolver(shop)('ana', 'shop.test', key)).toBe(key)
    expect(shop.requests[0]).toStartWith('GET /.well-known/nostr.json?name=ana HTTP/1.1\r\n')
  })

  const nothing: [what: string, reply: string | Uint8Array, domain?: string][] = [
    ['does not know the name', json('{"names":{}}')],
    ['answers with another status', json(document).replace('200 OK', '404 Not Found')],
    ['answers with 201', json(document).replace('200 OK', '201 Created')],
    ['fails', json(document).replace('200 OK', '500 Internal Server Error')],
    ['redirects', 'HTTP/1.1 302 Found\r\nlocation: https://shop.test/\r\n\r\n'],
    ['sends no JSON', json('<html>')],
    ['sends nothing', json('')],
    ['sends JSON nested without end', json('['.repeat(ours.nip05BodyBytesMax))],
    ['sends no UTF-8', Buffer.from(bare(document.replace('}}', ',"eva":"\u00e1"}}')), 'latin1')],
    ['sends more than it may', json(document.padEnd(ours.nip05BodyBytesMax + 1))],
    ['hangs up', ''],
    ['has another name in its certificate', json(document), 'other.test'],
  ]
  test.each(nothing)('finds no key when the server %s', async (_, reply, domain = 'shop.test') => {
    const shop = await openShop(reply)
    expect(await resolver(shop)('ana', domain, key)).toBeNull()
    expect(shop.connections()).toBe(1)
  })

  test('accepts a document of exactly the allowed length', async () => {
    const shop = await openShop(json(document.padEnd(ours.nip05BodyBytesMax)))
    expect(await resolver(shop)('ana', 'shop.test', key)).toBe(key)
  })

  test('does not hide an internal fault', async () => {
    const fault = new TypeError('ours')
    const resolve = createNip05Resolver(() => Promise.reject(fault))
    expect(await outcome(resolve('ana', 'shop.test', key))).toBe(fault)
  })

  test('runs a few at once, keeps a short line in order and refuses the rest', async () => {
    const started: string[] = []
    const finish: (() => void)[] = []
    const resolve = createNip05Resolver((url) => {
      started.push(url.searchParams.get('name') ?? '')
      return new Promise((done) => {
        finish.push(() => done({ status: 200, headers: {}, body: Buffer.from(document) }))
      })
    })
    const { takenMax, waitingMax } = ours.nip05Slots.of.host
    const places = takenMax + waitingMax
    const ask = (name: string) => resolve(name, 'shop.test', name)
    const lookups = Array.from({ length: places }, (_, i) => ask(`n${i}`))
    expect(await outcome(ask('late'))).toBe('busy')
    expect(started).toHaveLength(takenMax)

    for (let i = 0; i < places; i += 1) {
      finish[i]?.()
      await Bun.sleep(0)
      expect(started).toHaveLength(Math.min(places, takenMax + i + 1))
    }
    await Promise.all(lookups)
    expect(started).toEqual(Array.from({ length: places }, (_, i) => `n${i}`))

    // All places are free again, also after failures.
    started.length = 0
    const more = Array.from({ length: takenMax }, () => ask('again'))
    await Bun.sleep(0)
    expect(started).toHaveLength(takenMax)
    for (const done of finish) done()
    await Promise.all(more)
  })

  test('of four slow domains leaves room for others', async () => {
    const slow = Promise.withResolvers<void>()
    const resolve = createNip05Resolver(async ({ host }) => {
      if (host.startsWith('slow-')) await slow.promise
      return { status: 200, headers: {}, body: Buffer.from(document) }
    })
    const { takenMax, waitingMax } = ours.nip05Slots.of.host
    const many = Array.from({ length: 4 * (takenMax + waitingMax) }, (_, at) =>
      resolve('ana', `slow-${at % 4}.test`, `merchant ${at % 4}`),
    )
    expect(await outcome(resolve('ana', 'slow-0.test', 'another'))).toBe('busy')
    expect(await resolve('ana', 'shop.test', 'another')).toBe(key)
    slow.resolve()
    expect(new Set(await Promise.all(many))).toEqual(new Set([key]))
  })

  test('frees its place when it fails', async () => {
    let calls = 0
    const resolve = createNip05Resolver(() => {
      calls += 1
      return Promise.reject(new OutboundError('timeout'))
    })
    const { takenMax } = ours.nip05Slots.of.host
    for (let i = 0; i < takenMax * 2; i += 1) {
      expect(await resolve('ana', 'shop.test', key)).toBeNull()
    }
    expect(calls).toBe(takenMax * 2)
  })

  test('waits in line for a limited time, then frees its place for the next', async () => {
    jest.useFakeTimers()
    cleanups.push(() => jest.useRealTimers())
    let started = 0
    const finish: (() => void)[] = []
    const resolve = createNip05Resolver(() => {
      started += 1
      return new Promise((done) => {
        finish.push(() => done({ status: 404, headers: {}, body: new Uint8Array() }))
      })
    })
    const { waitMs, of } = ours.nip05Slots
    const { takenMax } = of.host
    const ask = (name: string) => resolve(name, 'shop.test', key)
    const running = Array.from({ length: takenMax }, () => ask('ana'))
    const late = outcome(ask('late'))
    let waits = true
    const noted = late.then(() => {
      waits = false
    })
    jest.advanceTimersByTime(waitMs - 1)
    for (let i = 0; i < 20; i += 1) await null
    expect(waits).toBe(true)
    jest.advanceTimersByTime(1)
    expect(await late).toBe('busy')
    await noted
    jest.useRealTimers()
    for (const done of finish.splice(0)) done()
    await Promise.all(running)
    const next = Array.from({ length: takenMax }, () => ask('next'))
    await Bun.sleep(0)
    expect(started).toBe(takenMax * 2)
    for (const done of finish) done()
    await Promise.all(next)
  })
})
