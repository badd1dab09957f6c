/** The blocks of docs/operations.md for nginx and Caddy, in these programs, in front of a service. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import { relayLimits } from '../../src/base/limits-relay.ts'
import { createProof, type Json, newKey, newSigner, nostrHeader } from '../support/client.ts'
import { type ClosedServer, startClosed } from '../support/closed.ts'
import { createEvent } from '../support/events.ts'
import { findProgram } from '../support/foreign-programs.ts'
import { blockWith } from '../support/printed.ts'
import {
  publicUrl,
  type RunningProxy,
  startCaddy,
  startNginx,
  stopProxies,
} from '../support/proxies.ts'
import { callRaw, connectTo, encodeRequest } from '../support/raw.ts'
import { textFrame } from '../support/raw-socket.ts'
import { cleanUp } from '../support/server.ts'
import { until } from '../support/until.ts'

const page = 'docs/operations.md'
const host = 'cupones.example'
const env = { HOST: '127.0.0.1', RATE_LIMIT: 'on', PUBLIC_URL: publicUrl }
const nginx = findProgram('nginx', 'the blocks for nginx')
const caddy = findProgram('caddy', 'the block for Caddy')

afterAll(async () => {
  await stopProxies()
  await cleanUp()
})

type Call = {
  token?: string
  body?: unknown
  method?: string
  signer?: ReturnType<typeof newSigner>
}

/** One request through a proxy, signed for the public name. */
function ask(proxy: RunningProxy, target: string, sent: Call & { from?: string } = {}) {
  const { token, signer, from } = sent
  const body = sent.body === undefined ? undefined : JSON.stringify(sent.body)
  const method = sent.method ?? (body === undefined ? 'GET' : 'POST')
  const proof = { method, ...(body !== undefined && { body }) }
  const headers: [string, string][] = [['Content-Type', 'application/json']]
  if (token) headers.push(['Authorization', `Bearer ${token}`])
  if (signer) {
    headers.push([
      'Authorization',
      nostrHeader(createProof(signer, `${publicUrl}${target}`, proof)),
    ])
  }
  if (target.endsWith('/refresh')) headers.push(['Idempotency-Key', newKey()])
  const request = { method, target, host, headers, ...(body !== undefined && { body }) }
  return callRaw(proxy.url, { ...request, ...(from && { from }) })
}

/** The same for a request that is granted; its body. */
async function granted(proxy: RunningProxy, target: string, sent: Call & { from?: string } = {}) {
  const { status, json } = await ask(proxy, target, sent)
  expect({ target, json, granted: status < 300 }).toEqual({ target, json, granted: true })
  return json
}

/** Send bytes over a connection of its own; `came` waits until the answer has a text. */
async function hear(
  proxy: RunningProxy,
  bytes: Uint8Array,
  during: (
    write: (bytes: Uint8Array) => void,
    came: (text: string) => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  const socket = connectTo(proxy.url, { name: host })
  let heard = ''
  socket.on('data', (part) => {
    heard += part.toString('latin1')
  })
  try {
    socket.write(bytes)
    await during(
      (more) => void socket.write(more),
      (text) => until(`${text} came`, () => heard.includes(text)),
    )
  } finally {
    socket.destroy()
  }
}

const coupon = { name: 'Café', benefit: { type: 'percent', percent: 10 } }

describe.each([
  ['nginx', nginx, startPrintedNginx],
  [
    'Caddy',
    caddy,
    (at: string, url: string) => startCaddy(at, url, blockWith(page, 'reverse_proxy')),
  ],
] as const)('behind %s', (_, program, startProxy) => {
  if (program === null) return
  const merchant = newSigner()
  let service: ClosedServer
  let proxy: RunningProxy
  let token: string

  beforeAll(async () => {
    service = await startClosed({ env: { ...env, TRUSTED_PROXIES: '127.0.0.1' } })
    proxy = await startProxy(program, service.url)
    const { code } = service
    await granted(proxy, '/api/setup', { body: { code }, signer: merchant })
    token = (await granted(proxy, '/api/auth/session', { body: {}, signer: merchant })).token
  })

  test('a coupon goes from its terms to the till, over https', async () => {
    const { id } = (await granted(proxy, '/api/coupons', { token, body: coupon })).coupon
    const { nonce } = await granted(proxy, '/api/coupons/mint', { token, body: { couponId: id } })
    const fresh = await granted(proxy, '/api/coupons/refresh', { body: { nonce } })
    const claimed = await granted(proxy, '/api/coupons/claim', { body: { nonce: fresh.nonce } })
    expect(claimed).toMatchObject({ status: 'success' })
    // The service knows only from the proxy that the client came over https.
    const { headers } = await ask(proxy, '/livez')
    expect(headers.get('Strict-Transport-Security')).toMatch(/^max-age=/)
  })

  test('an event of the live stream comes while the stream is open', async () => {
    const headers = [['Authorization', `Bearer ${token}`]] as const
    const request = encodeRequest(proxy.url, { target: '/api/coupons/live', host, headers })
    await hear(proxy, request, async (_write, came) => {
      await came('retry:')
      await granted(proxy, '/api/coupons', { token, body: coupon })
      await came('event: coupon')
    })
  })

  test('the relay takes an event and gives it back', async () => {
    const handshake = [
      `GET /relay HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade`,
      `Sec-WebSocket-Key: ${'A'.repeat(22)}==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    ].join('\r\n')
    const note = createEvent({ signer: merchant, content: 'abierto' })
    await hear(proxy, Buffer.from(handshake), async (write, came) => {
      await came('101 Switching Protocols')
      write(textFrame(JSON.stringify(['EVENT', note])))
      await came(`["OK","${note.id}",true`)
      write(textFrame(JSON.stringify(['REQ', 'a', { ids: [note.id] }])))
      await came('"abierto"')
      await came('["EOSE","a"]')
    })
  })

  test('the panel may reach the relay under the public name', async () => {
    const { headers } = await ask(proxy, '/panel')
    expect(headers.get('Content-Security-Policy')).toContain(` ws://${host};`)
  })

  test('nobody reads the metrics through it', async () => {
    expect((await callRaw(service.url, { target: '/metrics' })).text).toContain('cuponera_info')
    for (const target of ['/metrics', '/metrics/', '/metrics?x', '/%6Detrics']) {
      expect({ target, status: (await ask(proxy, target)).status }).toEqual({ target, status: 403 })
    }
    for (const target of ['//metrics', '/./metrics', '/x/../metrics', '/metrics//', '/METRICS']) {
      expect((await ask(proxy, target)).text).not.toContain('cuponera_')
    }
  })

  test('the service counts each client by its own address', async () => {
    const guess = (from: string) =>
      ask(proxy, '/api/setup', { body: { code: '1' }, signer: newSigner(), from })
    const statuses = []
    for (let turn = 0; turn < 11; turn++) statuses.push((await guess('127.0.0.2')).status)
    expect(statuses).toEqual([...Array(10).fill(403), 429])
    expect((await guess('127.0.0.3')).status).toBe(403)
  })
})

/** The two parts of the block, each in its place. */
function startPrintedNginx(program: string, url: string): Promise<RunningProxy> {
  const block = blockWith(page, 'log_format nosecrets')
  const [http = '', server = ''] = block.split('# In server { … }\n')
  return startNginx(program, url, { http, server })
}

/** The block for the panel of La Crypta, with a page of the panel. */
function startPanelNginx(program: string, url: string): Promise<RunningProxy> {
  const http = blockWith(page, 'log_format nosecrets').split('# In server')[0] ?? ''
  const own = 'location / { return 200 "a page of the panel"; }'
  return startNginx(program, url, { http, server: `${blockWith(page, 'refreshed=0')}${own}` })
}

test('each block for a proxy passes requests on to the port of the service', () => {
  for (const text of ['log_format nosecrets', 'refreshed=0', 'reverse_proxy']) {
    expect(blockWith(page, text)).toMatch(
      /(proxy_pass http:\/\/|reverse_proxy )127\.0\.0\.1:3000\b/,
    )
  }
})

describe('nginx', () => {
  if (nginx === null) return

  test('tells the service the client, its scheme and the name that it asked', async () => {
    const service = createServer(({ headers, httpVersion }, response) => {
      const text = JSON.stringify({ ...headers, httpVersion })
      response.writeHead(200, { 'Content-Length': text.length }).end(text)
    })
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    const told = { host, 'x-forwarded-for': '127.0.0.2', 'x-forwarded-proto': 'https' }
    const headers = [['Upgrade', 'websocket']] as const
    const toldBy = async (proxy: RunningProxy, target: string) =>
      (await callRaw(proxy.url, { target, host, headers, from: '127.0.0.2' })).json
    try {
      // A WebSocket begins with these (RFC 6455, 4.1), which the service does not ask for.
      const upgrade = { httpVersion: '1.1', connection: 'upgrade', upgrade: 'websocket' }
      const whole = await startPrintedNginx(nginx, url)
      expect(await toldBy(whole, '/relay')).toMatchObject({ ...told, ...upgrade })
      expect(await toldBy(await startPanelNginx(nginx, url), '/api/coupons')).toMatchObject(told)
    } finally {
      service.close()
    }
  })

  test('ends no connection that the service keeps alive', () => {
    const seconds = /proxy_read_timeout (\d+)s;/.exec(blockWith(page, 'log_format nosecrets'))?.[1]
    expect(Number(seconds)).toBeGreaterThan(relayLimits.socketIdleSeconds)
    // The block of the panel has the timeout of nginx, and no WebSocket.
    expect(limits.liveBeatSeconds).toBeLessThan(60)
  })

  test('writes no credential into its logs, also while the service is away', async () => {
    const service = await startClosed({ env })
    const proxy = await startPrintedNginx(nginx, service.url)
    const secret = 'S3cret'.repeat(4)
    const paths = [
      `/api/nonce/${secret}`,
      `/card/pay/${secret}`,
      `/api/coupons/${newKey()}/mints/${secret}`,
      `/api/coupons/claim?nonce=${secret}`,
      `/api/coupons/${newKey()}/mints?x=${secret}`,
      `/c?${secret}`,
    ]
    for (const path of paths) await ask(proxy, path)
    await service.stop()
    for (const path of paths) expect((await ask(proxy, path)).status).toBe(502)
    const read = (name: string) => readFileSync(join(proxy.logs, name), 'utf8')
    // A line may be written after the answer that it is about.
    const lines = () => read('cuponera.log').split('\n').length - 1
    await until('each request is in the log', () => lines() === 2 * paths.length)
    const access = read('cuponera.log')
    expect(access).toContain('127.0.0.1 "GET /api/nonce/-" ')
    expect(access).toContain('"GET /api/coupons/claim" 502\n')
    expect(access).not.toContain(secret)
    expect(read('cuponera-error.log')).toBe('')
  })

  test('gives the panel of La Crypta a list without refreshed vouchers, and its own pages', async () => {
    const merchant = newSigner()
    const given = { ...env, TRUSTED_PROXIES: '127.0.0.1', MERCHANTS: merchant.pubkey }
    const service = await startClosed({ env: given })
    const proxy = await startPanelNginx(nginx, service.url)
    for (const path of ['/', '/api/rates', '/metrics', '/relay']) {
      expect((await ask(proxy, path)).text).toBe('a page of the panel')
    }
    const { token } = await granted(proxy, '/api/auth/session', { body: {}, signer: merchant })
    const { id } = (await granted(proxy, '/api/coupons', { token, body: coupon })).coupon
    const { nonce } = await granted(proxy, '/api/coupons/mint', { token, body: { couponId: id } })
    await granted(proxy, '/api/coupons/refresh', { body: { nonce } })
    // A page has 100 unless it is asked for more.
    await granted(proxy, '/api/coupons/mint', { token, body: { couponId: id, count: 100 } })
    const { mints } = await granted(proxy, `/api/coupons/${id}/mints`, { token })
    expect(mints.map(({ status }: Json) => status)).toEqual(Array(101).fill('minted'))
    const voided = `/api/coupons/${id}/mints/${mints[0].nonce}`
    await granted(proxy, voided, { token, method: 'DELETE' })
    const read = (name: string) => readFileSync(join(proxy.logs, name), 'utf8')
    await until('the last request is in the log', () => read('cuponera.log').includes('"DELETE '))
    expect(read('cuponera.log')).toContain(`"DELETE /api/coupons/${id}/mints/-" 2`)
    await service.stop()
    expect((await ask(proxy, voided)).status).toBe(502)
    await until('the failed one is, too', () => read('cuponera.log').includes('" 502\n'))
    expect(read('cuponera.log') + read('cuponera-error.log')).not.toContain(mints[0].nonce)
  })
})
