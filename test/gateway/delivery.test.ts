/** The promise of a 202, with real processes and real relays that come and go. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { runCommand } from '../support/cli.ts'
import { call, newSigner } from '../support/client.ts'
import { briefSeconds, secondsNow } from '../support/clock.ts'
import { damage, databaseOf, testOfFile } from '../support/database.ts'
import { deliverOneMore } from '../support/delivered.ts'
import { createEvent } from '../support/events.ts'
import { startFaultyRelay, stopRelays, tell } from '../support/faulty-relay.ts'
import { blockWith } from '../support/printed.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

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
const reaches = (server: TestServer, event: NostrEvent, status: string) =>
  until(status, async () => (await outcome(server, event)).status === status)
const relayOf = ({ url }: TestServer) => `${url.replace('http', 'ws')}/relay`

test('an event accepted before a kill, with the relay down, arrives once when both are back', async () => {
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
  const marker = await deliverOneMore(third)
  expect(back.times(event.id)).toBe(1)
  expect(back.stored).toEqual([event, marker])
  expect(await outcome(third, event)).toMatchObject({
    status: 'delivered',
    relays: [{ lastError: null }],
  })
  await third.stop()
  expect(await databaseOf(dataDir).problems()).toEqual([])
})

test('a key that publishes a lot gets low priority, and publishing an event again costs its author nothing', async () => {
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
  const priority = async ({ id }: NostrEvent) => {
    const rows = await databaseOf(dataDir).all<{ priority: number }>(
      'SELECT priority FROM deliveries JOIN outbox ON id = outbox_id WHERE event_id = ?',
      Buffer.from(id, 'hex'),
    )
    return rows[0]?.priority
  }
  expect(await Promise.all([calm, last, other].map(priority))).toEqual([1, 2, 1])
})

test('a delivery in flight at the stop counts as no failure, and is sent again at the start', async () => {
  let silent = true
  const relay = startFaultyRelay({ event: () => silent })
  const dataDir = newDirectory()
  const env = { RELAYS: relay.url }
  const first = await startServer({ dataDir, env })
  const event = await publish(first, createEvent())
  await until('under way', () => relay.times(event.id) === 1)
  expect(await first.stop()).toBe(0)
  const rows = await databaseOf(dataDir).all(
    'SELECT state, attempts, priority, last_error FROM deliveries',
  )
  expect(rows).toEqual([{ state: 'pending', attempts: 0, priority: 1, last_error: null }])
  silent = false
  const second = await startServer({ dataDir, env })
  await reaches(second, event, 'delivered')
  expect(await outcome(second, event)).toMatchObject({ relays: [{ attempts: 1 }] })
})

test('every one of many events that were accepted before a kill arrives', async () => {
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
  await until('all are outside', arrived)
  for (const event of events.slice(-20)) {
    await until('kept', () => has(second, event))
  }
})

test('a refusal that may pass is retried until the relay takes the event', async () => {
  const refusals = ['error: disk', 'rate-limited: slow']
  const relay = startFaultyRelay({
    event(socket, { id }) {
      const refusal = refusals.shift()
      if (refusal) tell(socket, 'OK', id, false, refusal)
      return refusal !== undefined
    },
  })
  const server = await startServer({ env: { RELAYS: relay.url } })
  const event = await publish(server, createEvent())
  await until(
    'refused',
    async () => (await outcome(server, event)).relays[0].lastError === 'error: disk',
  )
  await reaches(server, event, 'delivered')
  expect(await outcome(server, event)).toMatchObject({ relays: [{ attempts: 3, lastError: null }] })
})

test('each relay has its own state, and a silent relay does not delay another one', async () => {
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
  const expiration = ['expiration', String(secondsNow() + 2 * briefSeconds)]
  const event = await publish(server, createEvent({ tags: [expiration] }))
  const states = async () => {
    const { status, relays } = await outcome(server, event)
    const one = (url: string) => relays.find((relay: { url: string }) => relay.url === url).status
    return [status, ...urls.map(one)].join(' ')
  }
  // Another relay that had to wait for the silent one would have expired with it.
  await until(
    'the silent relay ran out of time',
    async () => (await states()) === 'partial delivered expired refused',
  )
  expect((await outcome(server, event)).relays).toContainEqual({
    url: strict.url,
    status: 'refused',
    attempts: 1,
    lastError: 'blocked: not here',
  })
})

test('an event that a relay refused is delivered when somebody publishes it again', async () => {
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
  await deliverOneMore(server)
  expect(relay.times(event.id)).toBe(2)
  await server.stop()
})

test('deliveries to a relay that left RELAYS expire at the next start', async () => {
  const dataDir = newDirectory()
  const first = await startServer({ dataDir, env: { RELAYS: 'ws://127.0.0.1:9' } })
  const event = await publish(first, createEvent())
  await first.stop()
  const second = await startServer({ dataDir })
  await reaches(second, event, 'failed')
  expect((await outcome(second, event)).relays).toEqual([
    { url: 'ws://127.0.0.1:9', status: 'expired', attempts: 0, lastError: 'no longer in RELAYS' },
  ])
})

test('another Cuponera works as a relay', async () => {
  const far = await startServer()
  const near = await startServer({ env: { RELAYS: `embedded,${relayOf(far)}` } })
  const event = await publish(near, createEvent())
  await reaches(near, event, 'delivered')
  expect(await has(far, event)).toBe(true)
})

test('services that name each other and themselves as relays deliver an event once', async () => {
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
  await reaches(one, events[0] as NostrEvent, 'delivered')
  await reaches(two, events[1] as NostrEvent, 'delivered')
  for (const server of [one, two]) {
    for (const event of events) expect(await has(server, event)).toBe(true)
  }
  const traffic = async () => {
    const { text } = await call(one.url, '/metrics')
    return [...text.matchAll(/^cuponera_relay_deliveries_total\{.*state="delivered".*\} (\d+)$/gm)]
      .map(([, count]) => Number(count))
      .reduce((sum, count) => sum + count, 0)
  }
  // One delivery for each of its three relays, and none for the event of the other service.
  expect(await traffic()).toBe(3)
  await deliverOneMore(two)
  await deliverOneMore(one)
  expect(await traffic()).toBe(6)
})

test('the manager key authenticates to a relay that asks (NIP-42), and the event is delivered', async () => {
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
  await reaches(server, event, 'delivered')
  const { pubkey } = (await call(server.url, '/api/coupons/manager')).json
  expect(proofs[0]?.pubkey).toBe(pubkey)
})

test('the command relays and the metrics show the state of each relay', async () => {
  const relay = startFaultyRelay({
    // The refusal later is newer than this end of a connection, so it is the last error.
    open: (socket) => (relay.connections() === 1 ? socket.close() : undefined),
    event(socket, { id, kind }) {
      if (kind === 7) tell(socket, 'OK', id, false, 'blocked: members only')
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
  // As docs/operations.md prints it, but for addresses, counts and times.
  const cells = (line: string) => {
    const [, ...values] = line.split(/ {2,}/)
    return values.map((value) => value.replace(/^\d+$/, 'N').replace(/^\d{4}-\S+Z$/, 'then'))
  }
  const printed = blockWith('docs/operations.md', 'last error').trimEnd().split('\n')
  expect(rows.map(cells)).toEqual(printed.map(cells))
  const outside = rows.find((row) => row.startsWith(relay.url))
  expect(outside).toMatch(/ +0 +\d{4}-\S+Z +1 +1 +\d+ +blocked: members only$/)
  expect(rows.find((row) => row.startsWith('ws://127.0.0.1:9 '))).toMatch(
    / +2 +not connected +0 +0 +- +no connection$/,
  )

  const { text } = await call(server.url, '/metrics')
  expect(text).toContain('cuponera_relay_pending{relay="ws://127.0.0.1:9"} 2\n')
  expect(text).toMatch(
    new RegExp(`^cuponera_relay_connected_age_seconds{relay="${relay.url}"} \\d{1,3}$`, 'm'),
  )
  expect(text).not.toContain('connected_age_seconds{relay="ws://127.0.0.1:9"}')
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
})

testOfFile('the relays of a stopped service, and of an older one', async () => {
  const dataDir = newDirectory()
  const env = { RELAYS: 'ws://127.0.0.1:9' }
  const server = await startServer({ dataDir, env })
  for (let events = 0; events < 2; events++) await publish(server, createEvent())
  await server.stop()
  const stopped = await runCommand(['relays'], { dataDir, env })
  expect(stopped.stdout).toContain('no server is running: only pending events are known\n')
  expect(stopped.stdout).toMatch(/^ws:\/\/127\.0\.0\.1:9 +2$/m)

  await damage(
    dataDir,
    `DROP INDEX deliveries_due;
     ALTER TABLE deliveries DROP COLUMN last_error;
     PRAGMA user_version = 15`,
  )
  const { code, stderr } = await runCommand(['relays'], { dataDir, env })
  expect([code, stderr]).toEqual([
    1,
    'cuponera: the database is of an older version: start the server once\n',
  ])
})
