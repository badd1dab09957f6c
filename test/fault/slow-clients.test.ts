import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createConnection, type Socket } from 'node:net'
import { limits } from '../../src/base/limits.ts'
import { call, createDefinition, mintOne, newSigner, openSession } from '../support/client.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const idleConnections = 2000
/** The memory that the service may use for slow clients. */
const residentBytesMax = 200 * 2 ** 20

let server: TestServer
let nonce: string
const sockets = new Set<Socket>()

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
  const token = await openSession(server.url, newSigner())
  const couponId = await createDefinition(server.url, token)
  nonce = (await mintOne(server.url, token, couponId)).nonce
})

afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await cleanUp()
})

test.concurrent('a slow request head is given up, and good requests are answered meanwhile', async () => {
  const heads = Array.from({ length: 20 }, () =>
    trickle('GET /livez HTTP/1.1\r\nHost: cupones.example\r\nX-Slow: ', 'a'),
  )
  const good = goodRequests(50)
  const answers = await Promise.all(heads)
  expect(new Set(answers)).toEqual(new Set(['']))
  await good
})

test.concurrent('a slow body is answered 408, with a length or in chunks', async () => {
  const head = 'POST /api/coupons/claim HTTP/1.1\r\nHost: cupones.example\r\n'
  const [long, silent, chunked] = await Promise.all([
    trickle(`${head}Content-Length: 5000\r\n\r\n`, 'a'),
    trickle(`${head}Content-Length: 5000\r\n\r\n`, ''),
    trickle(`${head}Transfer-Encoding: chunked\r\n\r\n`, '1\r\na\r\n'),
  ])
  for (const answer of [long, silent, chunked]) {
    expect(answer).toStartWith('HTTP/1.1 408 ')
    expect(answer).toContain('"code":"request-timeout"')
  }
})

test(`${idleConnections} idle connections take little memory, and good requests are answered`, async () => {
  const idle = await Promise.all(Array.from({ length: idleConnections }, connect))
  await goodRequests(100)
  expect(await residentBytes()).toBeLessThan(residentBytesMax)
  for (const socket of idle) socket.destroy()
  await goodRequests(20)
})

test('pipelined requests are answered in order, and garbage behind them ends that connection only', async () => {
  const socket = await connect()
  const get = 'GET /livez HTTP/1.1\r\nHost: cupones.example\r\n\r\n'
  const collected = collect(socket)
  socket.write(`${get.repeat(200)}\u0000\u0001 garbage\r\n\r\n${get.repeat(10)}`)
  await goodRequests(20)
  const answers = (await collected).split('HTTP/1.1 ').slice(1)
  expect(answers.filter((answer) => answer.startsWith('200')).length).toBe(200)
  expect(answers.length).toBeLessThanOrEqual(201)
  expect(answers[200] ?? '400').toStartWith('400')
})

test.each([
  [limits.authorizationBytesMax + 1, 401, 'auth-too-large'],
  [32 * 1024, 431, undefined],
])('an Authorization header of %i bytes is answered %i', async (length, status, code) => {
  const Authorization = 'x'.repeat(length)
  const answer = await call(server.url, '/api/coupons', { headers: { Authorization } })
  expect([answer.status, answer.json?.code]).toEqual([status, code])
  await goodRequests(5)
})

test('a flood of oversized bodies is refused without being kept in memory', async () => {
  const body = 'x'.repeat(1024 * 1024)
  const flood = Array.from({ length: 40 }, () =>
    call(server.url, '/api/coupons/claim', { body }).then(
      ({ status }) => status,
      // Refused before all of it was sent: the connection may close under the sender.
      () => 413,
    ),
  )
  await goodRequests(20)
  expect(new Set(await Promise.all(flood))).toEqual(new Set([413]))
  expect(await residentBytes()).toBeLessThan(residentBytesMax)
})

test('none of the requests above was logged as a fault', () => {
  expect(server.output()).not.toContain('"fault"')
})

/** One after the other; each must be answered well. */
async function goodRequests(count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const { status } = await call(server.url, '/api/coupons/preview', { body: { nonce } })
    expect(status).toBe(200)
  }
}

/** Send a beginning, then a little at a time, until the server ends it; its answer. */
async function trickle(beginning: string, little: string): Promise<string> {
  const socket = await connect()
  const collected = collect(socket)
  socket.write(beginning)
  const timer = setInterval(() => {
    if (little !== '' && socket.writable) socket.write(little)
  }, 400)
  const answer = await collected
  clearInterval(timer)
  return answer
}

function connect(): Promise<Socket> {
  const { hostname, port } = new URL(server.url)
  const socket = createConnection({ host: hostname, port: Number(port) })
  sockets.add(socket)
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })
}

/** Everything that comes until the connection ends. */
function collect(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString()
  })
  socket.on('error', () => undefined)
  return new Promise((resolve) => socket.on('close', () => resolve(text)))
}

async function residentBytes(): Promise<number> {
  const { text } = await call(server.url, '/metrics')
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(text)?.[1])
}
