import { afterAll, expect, test } from 'bun:test'
import { call, newSigner, openSession } from '../support/client.ts'
import { sendBytes } from '../support/raw.ts'
import { cleanUp, startServer } from '../support/server.ts'
import { fuzzHttp, memoryGrowthMax, requestsMin } from './http.ts'
import { chooseSeed, Random } from './random.ts'

afterAll(cleanUp)

const seed = chooseSeed()
test(`strange requests get an answer with an envelope, and no fault, SEED=${seed}`, async () => {
  const report = await fuzzHttp(new Random(seed), 4)
  expect(report.problems).toEqual([])
  expect(report.requests).toBeGreaterThanOrEqual(requestsMin)
  expect(report.memory.end - report.memory.warm).toBeLessThan(memoryGrowthMax)
})

test('a value that cannot be turned into text is refused like any other', async () => {
  const server = await startServer()
  const token = await openSession(server.url, newSigner())
  const hostile = { toString: 1, valueOf: null, toJSON: 1, constructor: null }
  const benefit = { type: 'percent', percent: 5 }
  const bodies: [path: string, body: unknown][] = [
    ['', { name: hostile, benefit }],
    ['', { name: 'x', benefit: hostile }],
    ['', { name: 'x', benefit, description: hostile, image: hostile, maxUses: hostile }],
    ['', { name: 'x', benefit, rules: hostile, maxUses: hostile }],
    ['', { name: 'x', benefit, rules: { times: { timeZone: hostile, windows: hostile } } }],
    ['', { name: 'x', benefit, rules: { minimum: { amount: hostile, currency: hostile } } }],
    ['/mint', { couponId: hostile }],
    ['/mint', { couponId: crypto.randomUUID(), count: hostile }],
    ['/minters', { pubkey: hostile }],
    ['/minters', { pubkey: newSigner().pubkey, label: hostile }],
    ['/preview', { nonce: hostile }],
    ['/claim', { nonce: hostile }],
    ['/claim', { nonce: 'A'.repeat(22), purchase: { amount: hostile, currency: hostile } }],
  ]
  for (const [path, body] of bodies) {
    const answer = await call(server.url, `/api/coupons${path}`, { body, token })
    expect({ path, body, status: answer.status }).toEqual({ path, body, status: 400 })
  }
  expect(server.output()).not.toContain('"fault"')
})

test.each([
  ['no Host header', ''],
  ['an empty one', 'Host:\r\n'],
  ['one that is no host', 'Host: a/b?c\r\n'],
  ['one of a single letter', 'Host: x\r\n'],
])('HTTP/1.0 with %s is answered like any other request', async (_, header) => {
  const server = await startServer()
  const send = (head: string, body = '') =>
    sendBytes(
      server.url,
      Buffer.from(`${head} HTTP/1.0\r\n${header}Content-Length: ${body.length}\r\n\r\n${body}`),
    )
  const body = JSON.stringify({ nonce: 'AAECAwQFBgcICQoLDA0ODw' })
  const answers = [
    await send('GET /livez'),
    await send('GET /api/coupons/manager'),
    await send('HEAD /api/coupons/manager'),
    await send('POST /api/coupons/preview', body),
    await send('GET /api/coupons'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404, 401])
  expect(server.output()).not.toContain('"fault"')
})

test('a client that hangs up in the middle of its body is no fault of ours', async () => {
  const server = await startServer()
  const { hostname, port, host } = new URL(server.url)
  const head = `POST /api/coupons/claim HTTP/1.1\r\nHost: ${host}\r\n`
  const halves = [
    `${head}Content-Length: 10\r\n\r\nabc`,
    `${head}Transfer-Encoding: chunked\r\n\r\n5\r\nabc`,
    `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n`,
  ]
  for (const half of halves) {
    const socket = await Bun.connect({ hostname, port: Number(port), socket: { data() {} } })
    socket.write(half)
    // A later request is answered: by then the server has read the half.
    await call(server.url, '/livez')
    socket.terminate()
  }
  await call(server.url, '/livez')
  expect(server.output()).not.toContain('"fault"')
  const { text } = await call(server.url, '/metrics')
  expect(text).not.toMatch(/requests_total\{.*status="5/)
})

test('a HEAD whose Host no URL can hold is answered like its GET', async () => {
  const server = await startServer()
  for (const host of ['[x', 'a%zz', 'x:99999']) {
    const head = `HEAD /api/coupons/manager HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    const { status } = await sendBytes(server.url, Buffer.from(head))
    expect({ host, status }).toEqual({ host, status: 200 })
  }
  expect(server.output()).not.toContain('"fault"')
})
