/** A merchant's announcement on its way to relays, and what is found there. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startGateway } from '../../src/app/gateway.ts'
import { createStores } from '../../src/app/stores.ts'
import { createJobs, systemTime } from '../../src/db/jobs.ts'
import { couponSchema } from '../../src/db/migrations.ts'
import { SqliteEngine } from '../../src/db/sqlite.ts'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { call, newSigner, openSession, verifyEvent } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { deliverOneMore } from '../support/delivered.ts'
import { createEvent } from '../support/events.ts'
import { type FaultyRelay, startFaultyRelay, stopRelays, tell } from '../support/faulty-relay.ts'
import { alone } from '../support/jobs.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

afterEach(stopRelays)
afterAll(cleanUp)

const name = 'lacrypta.merchant/coupons'
type Parts = { createdAt?: number; content?: unknown; d?: string }

const announcement = (signer: Signer, { createdAt, content, d = name }: Parts = {}) =>
  createEvent({
    kind: 30_078,
    createdAt: createdAt ?? secondsNow(),
    tags: [['d', d]],
    content: JSON.stringify(
      content ?? { v: 2, mintUrl: 'https://cupones.example/api/coupons/mint' },
    ),
    signer,
  })
const deletion = (
  signer: Signer,
  event: NostrEvent,
  tag: 'e' | 'a' = 'a',
  createdAt = secondsNow(),
) =>
  createEvent({
    kind: 5,
    createdAt,
    tags: [[tag, tag === 'e' ? event.id : `30078:${event.pubkey}:${name}`]],
    signer,
  })

/** A merchant with its session. */
async function merchant(server: TestServer) {
  const signer = newSigner()
  const token = await openSession(server.url, signer)
  return {
    signer,
    put: async (event: NostrEvent) =>
      (await call(server.url, '/api/coupons/discovery', { method: 'PUT', body: { event }, token }))
        .status,
    withdraw: async () =>
      (await call(server.url, '/api/coupons/discovery', { method: 'DELETE', token })).status,
    stored: async (): Promise<NostrEvent | null> =>
      (await call(server.url, '/api/coupons', { token })).json.discovery,
  }
}

/** The questions about announcements that a relay got. */
const asked = (relay: FaultyRelay) =>
  relay.received.filter(
    ([type, , filter]) =>
      type === 'REQ' && (filter as { kinds?: number[] }).kinds?.includes(30_078),
  )
const state = async ({ url }: TestServer, { id }: NostrEvent) =>
  (await call(url, `/nostr/publish/${id}`)).json.status

test('an accepted announcement reaches every relay and the embedded one', async () => {
  const relays = [startFaultyRelay(), startFaultyRelay()]
  const urls = relays.map(({ url }) => url)
  const server = await startServer({ env: { RELAYS: ['embedded', ...urls].join(',') } })
  const { signer, put } = await merchant(server)
  const event = announcement(signer)
  expect(await put(event)).toBe(200)
  await until('delivered', async () => (await state(server, event)) === 'delivered')
  for (const relay of relays) expect(relay.stored).toEqual([event])
  expect(await put(event)).toBe(200)
  await deliverOneMore(server)
  expect(relays.map((relay) => relay.times(event.id))).toEqual([1, 1])
})

test('an announcement is sent again to a relay that reconnects without it', async () => {
  const relay = startFaultyRelay()
  const server = await startServer({ env: { RELAYS: relay.url } })
  const { signer, put } = await merchant(server)
  const event = announcement(signer)
  await put(event)
  await until('delivered', async () => (await state(server, event)) === 'delivered')
  await relay.stop()
  const empty = startFaultyRelay({}, relay.port)
  await until('given again', () => empty.stored.length === 1)
  expect(empty.stored).toEqual([event])
})

test('an announcement is looked up every hour, and sent again to a relay that lost it', async () => {
  const relay = startFaultyRelay()
  const signer = newSigner()
  const event = announcement(signer)
  const database = new SqliteEngine({
    path: join(newDirectory(), 'hourly.db'),
    schema: couponSchema,
    now: secondsNow,
    stores: createStores,
  })
  await database.transact({ roots: 'none' }, (tx) => tx.announcements.put(event))
  let waiting: (() => void) | null = null
  const jobs = createJobs(alone, {
    ...systemTime,
    after(seconds, run) {
      if (seconds !== 3600) return systemTime.after(seconds, run)
      waiting = run
      return () => {
        waiting = null
      }
    },
  })
  const anHourPasses = async () => {
    await until('it waits for an hour', () => waiting !== null)
    const run = waiting
    waiting = null
    run?.()
  }
  const nothing = () => undefined
  const runtime = {
    config: { relays: [relay.url], rateLimit: true },
    ...{ database, jobs, signer: newSigner() },
    ...{ verify: verifyEvent, verifySoon: verifyEvent, verifyHash: () => false },
    ...{ requireDisk: nothing, now: secondsNow, steady: () => performance.now() },
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  }
  const running = startGateway(runtime, {
    relay: null,
    management: { private: () => true },
    addresses: { origins: () => ['https://cupones.example'], relayUrl: () => null },
  })
  await until('given at the connection', () => relay.stored.length === 1)
  await until('asked', () => asked(relay).length === 1)
  await anHourPasses()
  await until('asked again', () => asked(relay).length === 2)
  expect(relay.times(event.id)).toBe(1)
  relay.stored.length = 0
  const delivered = () => database.snapshot((tx) => tx.outbox.find(event.id))
  await until('it is over', async () => (await delivered())?.[0]?.state === 'delivered')
  await anHourPasses()
  await until('given again', () => relay.stored.length === 1)
  expect(relay.stored).toEqual([event])
  await running.stop()
  expect(waiting).toBeNull()
  await database.close()
})

test('announcements are looked up at the start with one query for all merchants, and sent to a relay that lost them', async () => {
  const relay = startFaultyRelay()
  const dataDir = newDirectory()
  const env = { RELAYS: relay.url }
  const first = await startServer({ dataDir, env })
  const events: NostrEvent[] = []
  for (let at = 0; at < 3; at++) {
    const { signer, put } = await merchant(first)
    const event = announcement(signer)
    events.push(event)
    await put(event)
  }
  await until('all are there', () => relay.stored.length === 3)
  await first.stop()
  relay.received.length = 0
  const lost = relay.stored.pop() as NostrEvent
  await startServer({ dataDir, env })
  await until('the lost one is back', () => relay.stored.length === 3)
  expect(asked(relay)).toHaveLength(1)
  const [, , byAuthor] = asked(relay)[0] as [string, string, { authors: string[] }]
  expect(new Set(byAuthor.authors)).toEqual(new Set(events.map(({ pubkey }) => pubkey)))
  expect(events.map(({ id }) => relay.times(id))).toEqual(
    events.map(({ id }) => (id === lost.id ? 1 : 0)),
  )
})

test('announcements are looked up again soon when a relay refused the query', async () => {
  let busy = false
  const relay = startFaultyRelay({
    req(socket, name, message) {
      if (!busy || !JSON.stringify(message).includes('30078')) return false
      busy = false
      tell(socket, 'CLOSED', name, 'error: busy')
      return true
    },
  })
  const dataDir = newDirectory()
  const env = { RELAYS: relay.url }
  const first = await startServer({ dataDir, env })
  const { signer, put } = await merchant(first)
  const event = announcement(signer)
  await put(event)
  await until('delivered', async () => (await state(first, event)) === 'delivered')
  await first.stop()
  relay.stored.length = 0
  relay.received.length = 0
  busy = true
  await startServer({ dataDir, env })
  await until('given again', () => relay.stored.length === 1)
  expect(asked(relay)).toHaveLength(2)
})

/** The embedded relay has handed over all that it took so far: the newest of it has replaced another. */
async function replaceAnother(server: TestServer): Promise<void> {
  const { signer, put, stored } = await merchant(server)
  await put(announcement(signer, { createdAt: secondsNow() - 50 }))
  const newer = announcement(signer)
  await call(server.url, '/nostr/publish', { body: newer })
  await until('another is replaced', async () => (await stored())?.id === newer.id)
}

/** A server whose relay holds events when it is asked at the start. */
async function found(held: (ours: NostrEvent, signer: Signer) => NostrEvent[]) {
  const relay = startFaultyRelay()
  const dataDir = newDirectory()
  const env = { RELAYS: `embedded,${relay.url}` }
  const first = await startServer({ dataDir, env })
  const { signer, put } = await merchant(first)
  const ours = announcement(signer, { createdAt: secondsNow() - 100 })
  await put(ours)
  const other = await merchant(first)
  const before = announcement(other.signer, { createdAt: secondsNow() - 100 })
  await other.put(before)
  for (const event of [ours, before]) {
    await until('delivered', async () => (await state(first, event)) === 'delivered')
  }
  await first.stop()
  const theirs = held(ours, signer)
  const newer = announcement(other.signer)
  relay.stored.splice(0, relay.stored.length, ...theirs, newer)
  relay.received.length = 0
  const server = await startServer({ dataDir, env })
  const storedOf = async (merchantSigner: Signer) => {
    const token = await openSession(server.url, merchantSigner)
    return async (): Promise<NostrEvent | null> =>
      (await call(server.url, '/api/coupons', { token })).json.discovery
  }
  const [stored, ofOther] = [await storedOf(signer), await storedOf(other.signer)]
  // The last event of the answer has had its effect.
  await until('another is replaced', async () => (await ofOther())?.id === newer.id)
  return { server, relay, ours, theirs, stored }
}

test('a newer announcement by its author on a relay replaces the stored one and goes to the other relays', async () => {
  const { server, theirs, ours, stored } = await found((_, signer) => [announcement(signer)])
  const [newer] = theirs as [NostrEvent]
  await until('replaced', async () => (await stored())?.id === newer.id)
  const fetch = () =>
    call(server.url, '/nostr/fetch', { body: { authors: [ours.pubkey], kinds: [30_078] } })
  await until('ours has it', async () => (await fetch()).json[0]?.id === newer.id)
})

const ignored: [string, (ours: NostrEvent, signer: Signer) => NostrEvent[]][] = [
  ['that is older', (_, signer) => [announcement(signer, { createdAt: 1000 })]],
  ['of another name', (ours, signer) => [announcement(signer, { d: 'other' }), ours]],
  [
    'with an address that is not https',
    (_, signer) => [announcement(signer, { content: { mintUrl: 'http://evil.example/' } })],
  ],
  ['whose content is no object', (_, signer) => [announcement(signer, { content: 'x' })]],
  ['from the future', (_, signer) => [announcement(signer, { createdAt: secondsNow() + 5000 })]],
  ['by somebody else', (ours) => [announcement(newSigner()), ours]],
  ['with a false signature', (ours, signer) => [{ ...announcement(signer), sig: ours.sig }]],
  ['deleted by a stranger', (ours) => [ours, deletion(newSigner(), ours)]],
  ['deleted before it was made', (ours, signer) => [ours, deletion(signer, ours, 'a', 1000)]],
]
test.each(ignored)('an announcement %s, found on a relay, changes nothing', async (_, held) => {
  const { ours, stored } = await found(held)
  expect((await stored())?.id).toBe(ours.id)
})

test.each(['e', 'a'] as const)(
  'a deletion by its author (tag %s) found on a relay removes the announcement',
  async (tag) => {
    const { server, relay, ours, stored } = await found((event, signer) => [
      deletion(signer, event, tag),
    ])
    await until('gone', async () => (await stored()) === null)
    expect(relay.times(ours.id)).toBe(0)
    await server.stop()
  },
)

test('a newer announcement that was deleted leaves the stored one as it is', async () => {
  const { ours, stored } = await found((_, signer) => {
    const newer = announcement(signer)
    return [newer, deletion(signer, newer, 'e')]
  })
  expect((await stored())?.id).toBe(ours.id)
})

test('a newer announcement or deletion that its author writes to the embedded relay counts at once', async () => {
  const server = await startServer()
  const { signer, put, stored } = await merchant(server)
  const first = announcement(signer, { createdAt: secondsNow() - 50 })
  await put(first)
  const second = announcement(signer, { createdAt: secondsNow() - 10 })
  await call(server.url, '/nostr/publish', { body: second })
  await until('replaced', async () => (await stored())?.id === second.id)
  await call(server.url, '/nostr/publish', { body: deletion(newSigner(), second) })
  await replaceAnother(server)
  expect((await stored())?.id).toBe(second.id)
  await call(server.url, '/nostr/publish', { body: deletion(signer, second) })
  await until('gone', async () => (await stored()) === null)
})

test('a withdrawn announcement is neither delivered where it waits nor sent again', async () => {
  const away = startFaultyRelay()
  await away.stop()
  const server = await startServer({ env: { RELAYS: away.url } })
  const { signer, put, withdraw } = await merchant(server)
  const event = announcement(signer)
  await put(event)
  expect(await state(server, event)).toBe('pending')
  expect(await withdraw()).toBe(200)
  expect(await state(server, event)).toBe('failed')
  const back = startFaultyRelay({}, away.port)
  await until('connected', () => back.open() === 1)
  const marker = await deliverOneMore(server)
  expect(back.received.filter(([type]) => type === 'EVENT')).toEqual([['EVENT', marker]])
})

test('a newer announcement replaces one that still waits for a relay', async () => {
  const away = startFaultyRelay()
  await away.stop()
  const server = await startServer({ env: { RELAYS: away.url } })
  const { signer, put } = await merchant(server)
  const old = announcement(signer, { createdAt: secondsNow() - 50 })
  const event = announcement(signer)
  expect([await put(old), await put(event)]).toEqual([200, 200])
  const back = startFaultyRelay({}, away.port)
  await until('delivered', async () => (await state(server, event)) === 'delivered')
  expect(back.stored).toEqual([event])
})

test('a relay that answers no query gets an announcement once', async () => {
  const mute = startFaultyRelay({
    req(socket, subscription) {
      tell(socket, 'CLOSED', subscription, 'error: not today')
      return true
    },
  })
  const server = await startServer({ env: { RELAYS: mute.url } })
  const { signer, put } = await merchant(server)
  const event = announcement(signer)
  await put(event)
  await until('delivered', async () => (await state(server, event)) === 'delivered')
  expect(mute.times(event.id)).toBe(1)
})
