import { afterAll, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import {
  type Answer,
  call,
  createDefinition,
  mintOne,
  newSigner,
  openSession,
} from '../support/client.ts'
import { databaseOf } from '../support/database.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { problemsIn, verifyMemory, Workload } from '../support/workload.ts'

afterAll(cleanUp)

/** As long as the unit in docs/operations.md waits (TimeoutStopSec) before it kills. */
const endsWithinMs = 15_000

test('SIGTERM under load: requests in flight are answered, later ones refused, and the database is closed clean', async () => {
  const server = await startServer({ env: { RATE_LIMIT: 'off' } })
  const workloads = [1, 2, 3].map((seed) => new Workload(server.url, seed))
  for (const workload of workloads) await workload.prepare()
  const running = workloads.map((workload) => workload.run(6))
  await Promise.all(workloads.map((workload) => workload.reach(21)))
  const { code, took } = await timedStop(server)
  expect(code).toBe(0)
  expect(took).toBeLessThan(endsWithinMs)
  const memories = await Promise.all(running)
  // No connection was cut: a request was answered, refused as shutting down, or never accepted.
  expect(memories.flatMap(({ problems }) => problems)).toEqual([])
  for (const { acknowledged } of memories) expect(acknowledged).toBeGreaterThan(20)
  await expectClean(server)

  const env = { RATE_LIMIT: 'off', PORT: new URL(server.url).port }
  const next = await startServer({ dataDir: server.dataDir, env })
  for (const memory of memories) expect(await verifyMemory(next.url, memory)).toEqual([])
  await next.stop()
})

test.concurrent('a request that began before the drain is answered, and new ones are refused with a Retry-After', async () => {
  const server = await startServer()
  const token = await openSession(server.url, newSigner())
  const couponId = await createDefinition(server.url, token)
  const { nonce } = await mintOne(server.url, token, couponId)
  const body = JSON.stringify({ nonce })
  const begun = await begin(server, body.length, body.slice(0, 10))
  const stopping = timedStop(server)

  const refused = await draining(server)
  expect([refused.status, refused.json.code]).toEqual([503, 'shutting-down'])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await call(server.url, '/livez')).status).toBe(200)

  begun.write(body.slice(10))
  expect(await begun.answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*"status":"success"/)
  const { code, took } = await stopping
  expect(code).toBe(0)
  // As soon as the last request is answered, not at the end of the drain.
  expect(took).toBeLessThan(limits.drainSeconds * 1000)
  await expectClean(server)
})

test.concurrent('a client that never finishes its request delays the end, but not until a service manager would kill', async () => {
  const server = await startServer()
  const token = await openSession(server.url, newSigner())
  const id = await createDefinition(server.url, token)
  await begin(server, 100, '{"nonce":')
  await begin(server, 0, '', 'GET /api/coupons HTTP/1.1\r\nHost: x\r\nX-Half: ')
  const { code, took } = await timedStop(server)
  expect(code).toBe(0)
  expect(took).toBeLessThan(endsWithinMs)
  await expectClean(server)
  expect(await problemsIn(server.dataDir)).toEqual([])
  expect(id).toBeString()
})

test('a second signal during the drain changes nothing: the database is still closed clean', async () => {
  const server = await startServer()
  await openSession(server.url, newSigner())
  const begun = await begin(server, 20, '{')
  const stopping = timedStop(server)
  await draining(server)
  process.kill(server.pid, 'SIGTERM')
  process.kill(server.pid, 'SIGINT')
  expect((await draining(server)).status).toBe(503)
  begun.end()
  const { code } = await stopping
  expect(code).toBe(0)
  await expectClean(server)
})

async function timedStop(server: TestServer): Promise<{ code: number; took: number }> {
  const started = performance.now()
  const code = await server.stop()
  return { code, took: performance.now() - started }
}

/** Resolves with the first refusal of the drain. */
async function draining({ url }: TestServer): Promise<Answer> {
  for (;;) {
    const answer = await call(url, '/api/coupons/manager')
    if (answer.status !== 200) return answer
    await Bun.sleep(5)
  }
}

/** Send a request up to the middle of its body, or any other half of one. */
async function begin(server: TestServer, length: number, part: string, head?: string) {
  const { hostname, port, host } = new URL(server.url)
  const answer = Promise.withResolvers<string>()
  let received = ''
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, bytes) {
        received += bytes.toString()
        if (received.includes('}')) answer.resolve(received)
      },
      close: () => answer.resolve(received),
      error: () => answer.resolve(received),
    },
  })
  const claim = `POST /api/coupons/claim HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${length}\r\n\r\n`
  socket.write(`${head ?? claim}${part}`)
  // A later request is answered: by then the server has read the head of this one.
  await call(server.url, '/livez')
  return {
    answer: answer.promise,
    write: (text: string) => socket.write(text),
    end: () => socket.terminate(),
  }
}

async function expectClean({ dataDir }: TestServer): Promise<void> {
  expect(await databaseOf(dataDir).closedClean()).toBe(true)
  expect(limits.drainSeconds).toBeLessThan(10)
}
