/** What 202 promises: real processes and real relays that come and go. */
import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import { checkDatabase, noPause } from '../../src/db/check.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { runCommand } from '../support/cli.ts'
import { call, newSigner } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { createEvent } from '../support/events.ts'
import { startFaultyRelay, stopRelays, tell, until } from '../support/faulty-relay.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'

afterEach(stopRelays)
afterAll(cleanUp)

const publish = async ({ url }: TestServer, event: NostrEvent) => {
  expect((await call(url, '/nostr/publish', { body: event })).status).toBe(202)
  return event
}
const outcome = async ({ url }: TestServer, { id }: NostrEvent) =>
  (await call(url, `/nostr/publish/${id}`)).json
const has = async ({ url }: TestServer, { id }: NostrEvent) =>
  (await call(url, '/nostr/fetch', { body: { ids: [id] } })).json.length === 1
const reaches = (server: TestServer, event: NostrEvent, status: string, seconds = 15) =>
  until(status, async () => (await outcome(server, event)).status === status, seconds)
const relayOf = ({ url }: TestServer) => `${url.replace('http', 'ws')}/relay`

test('with the relay down and the process killed, the event arrives once when both are back', async () => {
  const away = startFaultyRelay()
  await away.stop()
  const dataDir = newDirectory()
  const env = { RELAYS: away.url }
  const first = await startServer({ dataDir, env })
  const event = await publish(first, createEvent())
  const waiting = await outcome(first, event)
  expect(waiting).toMatchObject({ status: 'pending', relays: [{ url: away.url, attempts: 0 }] })
  expect(waiting.relays[0].lastError).toMatch(/no connection|not connected/)
  await first.kill()

  const second = await startServer({ dataDir, env })
  const back = startFaultyRelay({}, away.port)
  await reaches(second, event, 'delivered')
  await second.kill()
  const third = await startServer({ dataDir, env })
  await until('connected', () => back.connections() === 2)
  await Bun.sleep(300)
  expect(back.times(event.id)).toBe(1)
  expect(back.stored).toEqual([event])
  expect(await outcome(third, event)).toMatchObject({
    status: 'delivered',
    relays: [{ lastError: null }],
  })
  await third.stop()
  const { problems } = await checkDatabase(join(dataDir, 'cuponera.db'), noPause)
  expect(problems).toEqual([])
}, 40_000)

test('who publishes a lot goes behind others, and what is said again costs its author no turn', async () => {
  const dataDir = newDirectory()
  const env = { RELAYS: 'ws://127.0.0.1:9' }
  const server = await startServer({ dataDir, env })
  const signer = newSigner()
  const repeated = await publish(server, createEvent({ signer }))
  for (let at = 0; at < 2 * limits.publishKeyBurst; at++) await publish(server, repeated)
  const calm = await publish(server, createEvent({ signer }))
  const eager = newSigner()
  let last = calm
  for (let at = 0; at <= 2 * limits.publishKeyBurst; at++) {
    last = await publish(server, createEvent({ signer: eager }))
  }
  const other = await publish(server, createEvent())
  await server.stop()
  using sql = new Sqlite(join(dataDir, 'cuponera.db'))
  const priority = ({ id }: NostrEvent) =>
    sql
      .query<{ priority: number }, [string]>(
        `SELECT priority FROM deliveries JOIN outbox ON id = outbox_id WHERE event_id = unhex(?)`,
      )
      .get(id)?.priority
  expect([calm, last, other].map(priority)).toEqual([1, 2, 1])
}, 20_000)

test('what is under way when the service stops is no failure of the relay, and goes at once at the start', async () => {
  let silent = true
  const relay = startFaultyRelay({ event: () => silent })
  const dataDir = newDirectory()
  const env = { RELAYS: relay.url }
  const first = await startServer({ dataDir, env })
  const event = await publish(first, createEvent())
  await until('under way', () => relay.times(event.id) === 1)
  expect(await first.stop()).toBe(0)
  using sql = new Sqlite(join(dataDir, 'cuponera.db'))
  const rows = sql.query('SELECT state, attempts, priority, last_error FROM deliveries').all()
  expect(rows).toEqual([{ state: 'pending', attempts: 0, priority: 1, last_error: null }])
  silent = false
  const second = await startServer({ dataDir, env })
  await reaches(second, event, 'delivered', 5)
  expect(await outcome(second, event)).toMatchObject({ relays: [{ attempts: 1 }] })
}, 20_000)

test('every event accepted before a kill arrives, also many at once', async () => {
  const relay = startFaultyRelay()
  const dataDir = newDirectory()
  const env = { RELAYS: `embedded,${relay.url}`, RATE_LIMIT: 'off' }
  const first = await startServer({ dataDir, env })
  const events: NostrEvent[] = []
  const senders = Array.from({ length: 8 }, async () => {
    for (;;) {
      const event = createEvent()
      const answer = await call(first.url, '/nostr/publish', { body: event }).catch(() => null)
      if (answer?.status !== 202) return
      events.push(event)
    }
  })
  await until('a few hundred', () => events.length > 300)
  await first.kill()
  await Promise.all(senders)
  const second = await startServer({ dataDir, env })
  const arrived = () => {
    const ids = new Set(relay.stored.map(({ id }) => id))
    return events.every(({ id }) => ids.has(id))
  }
  await until('all are outside', arrived, 15)
  for (const event of events.slice(-20)) {
    await until('kept', () => has(second, event))
  }
}, 40_000)

test('is retried within five seconds, and delivered when the relay has come to its senses', async () => {
  const answers = ['error: disk', 'rate-limited: slow', null]
  const seen: number[] = []
  const relay = startFaultyRelay({
    event(socket, { id }) {
      seen.push(performance.now())
      const said = answers[seen.length - 1]
      if (said) tell(socket, 'OK', id, false, said)
      return said !== null && said !== undefined
    },
  })
  const server = await startServer({ env: { RELAYS: relay.url } })
  const event = await publish(server, createEvent())
  await until(
    'refused',
    async () => (await outcome(server, event)).relays[0].lastError === 'error: disk',
  )
  await reaches(server, event, 'delivered', 25)
  expect((seen[1] ?? Infinity) - (seen[0] ?? 0)).toBeLessThan(5500)
  expect(await outcome(server, event)).toMatchObject({ relays: [{ attempts: 3, lastError: null }] })
}, 40_000)

test('each relay has a state of its own, and one that is silent holds up no other', async () => {
  const good = startFaultyRelay()
  const silent = startFaultyRelay({ event: () => true })
  const strict = startFaultyRelay({
    event(socket, { id }) {
      tell(socket, 'OK', id, false, 'blocked: not here')
      return true
    },
  })
  const urls = [good.url, silent.url, strict.url]
  const server = await startServer({ env: { RELAYS: urls.join(',') } })
  const expiration = ['expiration', String(secondsNow() + 4)]
  const event = await publish(server, createEvent({ tags: [expiration] }))
  const states = async () => {
    const { status, relays } = await outcome(server, event)
    const one = (url: string) => relays.find((relay: { url: string }) => relay.url === url).status
    return [status, ...urls.map(one)].join(' ')
  }
  await until(
    'two are done',
    async () => (await states()) === 'pending delivered pending refused',
    3,
  )
  await until(
    'one is late',
    async () => (await states()) === 'partial delivered expired refused',
    20,
  )
  expect((await outcome(server, event)).relays).toContainEqual({
    url: strict.url,
    status: 'refused',
    attempts: 1,
    lastError: 'blocked: not here',
  })
}, 40_000)

test('what a relay refused for good is given to it again when it is published again', async () => {
  let strict = true
  const relay = startFaultyRelay({
    event(socket, event) {
      if (strict) tell(socket, 'OK', event.id, false, 'restricted: not yet')
      return strict
    },
  })
  const server = await startServer({ env: { RELAYS: relay.url } })
  const event = await publish(server, createEvent())
  await reaches(server, event, 'failed')
  strict = false
  await publish(server, event)
  await reaches(server, event, 'delivered')
  await publish(server, event)
  await Bun.sleep(300)
  expect(relay.times(event.id)).toBe(2)
  await server.stop()
}, 30_000)

test('a relay that is no longer in RELAYS is given up at the next start', async () => {
  const dataDir = newDirectory()
  const first = await startServer({ dataDir, env: { RELAYS: 'ws://127.0.0.1:9' } })
  const event = await publish(first, createEvent())
  await first.stop()
  const second = await startServer({ dataDir })
  await reaches(second, event, 'failed')
  expect((await outcome(second, event)).relays).toEqual([
    { url: 'ws://127.0.0.1:9', status: 'expired', attempts: 0, lastError: 'no longer in RELAYS' },
  ])
}, 20_000)

test('another Cuponera is a relay like any other', async () => {
  const far = await startServer()
  const near = await startServer({ env: { RELAYS: `embedded,${relayOf(far)}` } })
  const event = await publish(near, createEvent())
  await reaches(near, event, 'delivered')
  expect(await has(far, event)).toBe(true)
}, 20_000)

test('two that name each other, and one that names itself, pass nothing round in circles', async () => {
  const [a, b] = await Promise.all([startServer(), startServer()])
  const ports = [a, b].map(({ url }) => new URL(url).port)
  await Promise.all([a.stop(), b.stop()])
  const all = ports.map((port) => `ws://127.0.0.1:${port}/relay`)
  const start = (port: string | undefined) =>
    startServer({
      env: { PORT: String(port), RELAYS: ['embedded', ...all].join(','), RATE_LIMIT: 'off' },
    })
  const [one, two] = await Promise.all([start(ports[0]), start(ports[1])])
  const events = [await publish(one, createEvent()), await publish(two, createEvent())]
  await reaches(one, events[0] as NostrEvent, 'delivered', 20)
  await reaches(two, events[1] as NostrEvent, 'delivered', 20)
  for (const server of [one, two]) {
    for (const event of events) expect(await has(server, event)).toBe(true)
  }
  const traffic = async () => {
    const { text } = await call(one.url, '/metrics')
    return [...text.matchAll(/^cuponera_relay_deliveries_total\{.*state="delivered".*\} (\d+)$/gm)]
      .map(([, count]) => Number(count))
      .reduce((sum, count) => sum + count, 0)
  }
  const before = await traffic()
  await Bun.sleep(1500)
  expect([before, await traffic()]).toEqual([3, 3])
}, 40_000)

test('a relay that wants to know who asks is told with the manager key, and has the event', async () => {
  let known = false
  const proofs: NostrEvent[] = []
  const relay = startFaultyRelay({
    open: (socket) => tell(socket, 'AUTH', 'word'),
    auth(socket, event) {
      known = true
      proofs.push(event)
      tell(socket, 'OK', event.id, true, '')
    },
    event(socket, { id }) {
      if (!known) tell(socket, 'OK', id, false, 'auth-required: who?')
      return !known
    },
  })
  const server = await startServer({ env: { RELAYS: relay.url } })
  const event = await publish(server, createEvent({ signer: newSigner() }))
  await reaches(server, event, 'delivered', 5)
  const { pubkey } = (await call(server.url, '/api/coupons/manager')).json
  expect(proofs[0]?.pubkey).toBe(pubkey)
})

test('the operator sees each relay: a table, and the same in the metrics', async () => {
  const relay = startFaultyRelay({
    // What it refuses later is newer than this.
    open: (socket) => (relay.connections() === 1 ? socket.close() : undefined),
    event(socket, { id, kind }) {
      if (kind === 7) tell(socket, 'OK', id, false, 'blocked: no likes')
      return kind === 7
    },
  })
  const dataDir = newDirectory()
  const env = { RELAYS: `embedded,${relay.url},ws://127.0.0.1:9` }
  const server = await startServer({ dataDir, env })
  await until('connected', () => relay.connections() === 2)
  const events = [
    await publish(server, createEvent()),
    await publish(server, createEvent({ kind: 7 })),
  ]
  await until('one was refused', async () =>
    (await outcome(server, events[1] as NostrEvent)).relays.some(
      ({ status }: { status: string }) => status === 'refused',
    ),
  )
  const run = await runCommand(['relays'], { dataDir, env })
  const rows = run.stdout.trimEnd().split('\n')
  expect(run.code).toBe(0)
  expect(rows[0]).toMatch(/^relay +pending +connected since +delivered +refused +ms +last error$/)
  expect(rows.find((row) => row.startsWith('embedded'))).toMatch(
    /^embedded +0 +\d{4}-\S+Z +2 +0 +\d+ +-$/,
  )
  const outside = rows.find((row) => row.startsWith(relay.url))
  expect(outside).toMatch(/ +0 +\d{4}-\S+Z +1 +1 +\d+ +blocked: no likes$/)
  expect(rows.find((row) => row.startsWith('ws://127.0.0.1:9 '))).toMatch(
    / +2 +not connected +0 +0 +- +no connection$/,
  )

  const { text } = await call(server.url, '/metrics')
  expect(text).toContain('cuponera_relay_pending{relay="ws://127.0.0.1:9"} 2\n')
  expect(text).toMatch(
    new RegExp(`^cuponera_relay_connected_since_seconds{relay="${relay.url}"} 1\\d{9}$`, 'm'),
  )
  expect(text).not.toContain('connected_since_seconds{relay="ws://127.0.0.1:9"}')
  expect(text).toMatch(
    new RegExp(`^cuponera_relay_latency_seconds{relay="${relay.url}"} [0-9.]+$`, 'm'),
  )
  const errors = text.split('\n').filter((line) => line.startsWith('cuponera_relay_last_error{'))
  expect(errors).toEqual([
    `cuponera_relay_last_error{relay="${relay.url}",error="blocked"} 1`,
    'cuponera_relay_last_error{relay="ws://127.0.0.1:9",error="connection"} 1',
  ])
  expect(text).toContain(`cuponera_relay_connected{relay="${relay.url}"} 1\n`)
  expect(text).toContain(
    `cuponera_relay_deliveries_total{relay="${relay.url}",state="refused"} 1\n`,
  )

  await server.stop()
  const stopped = await runCommand(['relays'], { dataDir, env })
  expect(stopped.stdout).toContain('no server is running: only what waits is known\n')
  expect(stopped.stdout).toMatch(/^ws:\/\/127\.0\.0\.1:9 +2$/m)

  const sql = new Sqlite(join(dataDir, 'cuponera.db'))
  sql.run('DROP INDEX deliveries_due')
  sql.run('ALTER TABLE deliveries DROP COLUMN last_error')
  sql.run('PRAGMA user_version = 15')
  sql.close()
  const { code, stderr } = await runCommand(['relays'], { dataDir, env })
  expect([code, stderr]).toEqual([
    1,
    'cuponera: the database is of an older version: start the server once\n',
  ])
}, 20_000)
