/** The relay after a kill of the process, a failure of the disk and the end of its thread. */

import { afterEach, expect, test } from 'bun:test'
import { mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import { couponSchema, relaySchema } from '../../src/db/migrations.ts'
import type { Sql } from '../../src/db/sql.ts'
import { SqliteEngine } from '../../src/db/sqlite.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { startRelay } from '../../src/relay/host.ts'
import type { FromRelay, ToRelay } from '../../src/relay/messages.ts'
import { createPolicy } from '../../src/relay/policy.ts'
import { createRelay } from '../../src/relay/relay.ts'
import { createEventStore, openEventReader } from '../../src/relay/store.ts'
import {
  call,
  createDefinition,
  mintOne,
  newSigner,
  openSession,
  verifyEvent,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { testOfFile } from '../support/database.ts'
import { createEvent } from '../support/events.ts'
import { aloneJobs } from '../support/jobs.ts'
import { closeClients, connectRelay } from '../support/relay-client.ts'
import { cleanUp, newDirectory, startServer } from '../support/server.ts'
import { logged, until } from '../support/until.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  closeClients()
  for (const close of closers.splice(0).reverse()) await close()
  await cleanUp()
})

test('every event that was answered with OK is stored after kill -9, deletions included', async () => {
  const dataDir = newDirectory()
  const env = { RATE_LIMIT: 'off' }
  const signer = newSigner()
  const first = await startServer({ dataDir, env })
  const client = await connectRelay(first.url)
  const gone = createEvent({ signer })
  await client.publish(gone)
  await client.publish(createEvent({ signer, kind: 5, tags: [['e', gone.id]] }))
  for (let left = 3000; left > 0; left--) client.send('EVENT', createEvent({ signer }))
  await client.wait(() => client.messages.length > 700)
  await first.kill()
  const accepted = client.messages.flatMap(([type, id, ok]) => (type === 'OK' && ok ? [id] : []))
  expect(accepted.length).toBeGreaterThan(700)

  const second = await startServer({ dataDir, env })
  const reader = await connectRelay(second.url)
  const kept = new Set<string>()
  for (let at = 0; at < accepted.length; at += 500) {
    for (const id of await reader.idsOf({ ids: accepted.slice(at, at + 500) })) kept.add(id)
  }
  expect(accepted.filter((id) => id !== gone.id && !kept.has(id))).toEqual([])
  expect(kept.has(gone.id)).toBe(false)
  expect((await reader.publish(gone))[0]).toBe(false)
})

function readOnly(sql: Sql): void {
  sql.query<null, []>('PRAGMA query_only = ON').run()
}

/** A relay without a thread, on a disk that can fail; what it sent, by connection. */
function openRelay({ rateLimit = true } = {}) {
  const disk = { broken: false }
  const path = join(newDirectory(), 'relay.db')
  const writers = new Set<Sql>()
  const database = new SqliteEngine({
    path,
    now: secondsNow,
    schema: relaySchema,
    stores(sql) {
      writers.add(sql)
      if (disk.broken) readOnly(sql)
      return { events: createEventStore(sql) }
    },
  })
  const reader = openEventReader(path)
  closers.push(() => database.close(), reader.close)
  const sent: [number, string][] = []
  const faults: unknown[] = []
  const missing: (() => void)[] = []
  const relay = createRelay({
    database: {
      transact: (plan, operation) => database.transact(plan, operation),
      snapshot: (query) => database.snapshot(query),
      look: (query) => database.look(query),
      tell: (topic, body) => database.tell(topic, body),
      listen(topic, listener) {
        database.listen(topic, listener)
        missing.push(listener.missed)
      },
    },
    events: reader.events,
    verify: verifyEvent,
    policy: createPolicy({
      open: () => true,
      isMember: async () => false,
      rateLimit,
      seconds: () => 0,
    }),
    now: secondsNow,
    diskLow: () => false,
    send: (connections, text) => {
      for (const connection of connections) sent.push([connection, text])
    },
    drop: () => undefined,
    missed: () => sent.push([0, 'missed']),
    handled: () => undefined,
    log: (cause) => faults.push(cause),
  })
  const miss = () => {
    for (const missed of missing) missed()
  }
  return { relay, disk, writers, sent, faults, miss }
}

test('a relay that missed events of other nodes forgets its connections, so that clients ask again', async () => {
  const { relay, sent, miss } = openRelay()
  const author = newSigner()
  relay.open(1, { address: 'a', origins: [] })
  relay.message(1, JSON.stringify(['REQ', 's', { kinds: [1] }]))
  await until('EOSE', () => sent.some(([, text]) => text.startsWith('["EOSE"')))
  miss()
  const event = createEvent({ signer: author })
  expect(await relay.accept(event)).toEqual({ accepted: true, message: '' })
  relay.message(1, JSON.stringify(['REQ', 's', { kinds: [1] }]))
  expect(sent.slice(-1)).toEqual([[0, 'missed']])
  relay.open(2, { address: 'a', origins: [] })
  relay.message(2, JSON.stringify(['REQ', 's', { kinds: [1] }]))
  await until('it is sent', () => sent.some(([to, text]) => to === 2 && text.includes(event.id)))
})

test('one address cannot take all places for subscriptions, and the service itself always has one', async () => {
  const { relay, sent } = openRelay({ rateLimit: false })
  let connections = 0
  /** The type of the last answer after this address has opened `filters` filters. */
  const ask = async (address: string, filters: number, inside?: true) => {
    let last = ''
    for (let left = filters; left > 0; ) {
      relay.open(++connections, { address, origins: [], ...(inside && { inside }) })
      const before = sent.length
      let questions = 0
      for (let name = 0; name < limits.relaySubscriptionsMax && left > 0; name++) {
        const some = Array(Math.min(left, limits.relayFiltersMax)).fill({ limit: 0 })
        relay.message(connections, JSON.stringify(['REQ', `s${name}`, ...some]))
        left -= some.length
        questions++
      }
      await until('every question is answered', () => sent.length === before + questions)
      last = JSON.parse(sent.at(-1)?.[1] ?? '[]')[0]
    }
    return last
  }
  const share = limits.relayOpenFiltersPerAddressMax
  expect([await ask('a', share), await ask('a', 1), await ask('b', 1)]).toEqual([
    'EOSE',
    'CLOSED',
    'EOSE',
  ])
  relay.close(1)
  expect(await ask('a', 1)).toBe('EOSE')
  for (const address of ['c', 'd', 'e', 'f']) await ask(address, share)
  expect([await ask('g', 10), await ask('ours', 10, true)]).toEqual(['CLOSED', 'EOSE'])
})

test('an address has one budget for queries over HTTP and WebSocket, and the service has none', async () => {
  const { relay, sent } = openRelay()
  const ask = (asker: string | null) => relay.query({ tags: new Map() }, asker)
  for (let left = limits.relayAskBurst; left > 0; left--) expect(await ask('a')).toEqual([])
  expect([await ask('a'), await ask('b'), await ask(null)]).toEqual(['rate-limited', [], []])
  relay.open(1, { address: 'a', origins: [] })
  relay.message(1, '["REQ","s",{"limit":0}]')
  await until('it is answered', () => sent.length > 0)
  expect(sent[0]?.[1]).toContain('rate-limited')
})

test('the weight of the filters of one address is bounded, over all its connections', async () => {
  const { relay, sent } = openRelay({ rateLimit: false })
  const values = Array.from({ length: 1000 }, (_, at) => String(at))
  const tags = [...'abcdefghij'].map((letter) => [`#${letter}`, values])
  const heavy = { limit: 0, ...Object.fromEntries(tags) }
  const ask = async (connection: number, name: string, filter: object) => {
    relay.message(connection, JSON.stringify(['REQ', name, filter]))
    const answer = () =>
      sent.map(([, text]) => JSON.parse(text)).find(([, about]) => about === name)
    await until('it is answered', () => answer() !== undefined)
    return answer()[0]
  }
  const weight = 10 * 1000 * limits.relayFilterEntryWeight
  const most = Math.ceil(limits.relayOpenWeightPerAddressMax / weight)
  relay.open(1, { address: 'a', origins: [] })
  relay.open(2, { address: 'a', origins: [] })
  relay.open(3, { address: 'b', origins: [] })
  const answers: string[] = []
  for (let at = 0; at < most; at++) answers.push(await ask((at % 2) + 1, `s${at}`, heavy))
  expect(answers[0]).toBe('EOSE')
  expect(answers.at(-1)).toBe('CLOSED')
  expect(await ask(1, 'one more', heavy)).toBe('CLOSED')
  expect(await ask(3, 'elsewhere', heavy)).toBe('EOSE')
  relay.close(1)
  expect(await ask(2, 'room again', heavy)).toBe('EOSE')
})

test('an event is answered with error: while the disk fails, and stored once it works', async () => {
  const { relay, disk, writers, sent, faults } = openRelay()
  relay.open(1, { address: 'a', origins: [] })
  relay.open(2, { address: 'b', origins: [] })
  relay.message(2, '["REQ","s",{}]')
  await until('it is answered', () => sent.length > 0)
  const publish = async (event: NostrEvent) => {
    sent.length = 0
    relay.message(1, JSON.stringify(['EVENT', event]))
    await until('it is answered', () => sent.some(([connection]) => connection === 1))
    return sent.map(([connection, text]) => [connection, ...JSON.parse(text).slice(0, 3)])
  }
  const event = createEvent()
  disk.broken = true
  for (const writer of writers) readOnly(writer)
  expect(await publish(event)).toEqual([[1, 'OK', event.id, false]])
  expect(sent[0]?.[1]).toContain('error: ')
  expect(faults).toHaveLength(1)
  disk.broken = false
  await publish(createEvent())
  // Passed on only once it is stored.
  expect(await publish(event)).toEqual([
    [2, 'EVENT', 's', event],
    [1, 'OK', event.id, true],
  ])
})

/** A thread that answers, and ends when it is told to. */
class FakeThread extends EventTarget {
  received: ToRelay[] = []
  onmessage: ((event: { data: FromRelay }) => void) | null = null
  onerror: (() => void) | null = null
  postMessage = (message: ToRelay) => void this.received.push(message)
  terminate = () => undefined
  tell = (data: FromRelay) => this.onmessage?.({ data })
  end = () => this.dispatchEvent(new Event('close'))
}

test('when the thread ends, waiting calls are answered, clients are closed, and it is started again', async () => {
  const threads: FakeThread[] = []
  const downs: number[] = []
  const settings = {
    relayPath: '',
    couponsPath: '',
    couponsUrl: null,
    open: true,
    diskLow: false,
    rateLimit: true,
  }
  const host = startRelay(
    settings,
    {
      down: (seconds) => downs.push(seconds),
      fault: () => undefined,
      steadyMs: () => 0,
      jobs: aloneJobs,
    },
    () => {
      threads.push(new FakeThread())
      return threads.at(-1) as unknown as Worker
    },
  )
  closers.push(() => {
    threads.at(-1)?.tell({ type: 'ended' })
  })
  const codes: number[] = []
  const carrier = {
    send: () => true,
    buffered: () => 0,
    pause: () => undefined,
    resume: () => undefined,
    close: (code: number) => void codes.push(code),
  }
  let ups = 0
  host.onUp(() => ups++)
  threads[0]?.tell({ type: 'ready' })
  // News of other nodes were missed: clients connect again, and so do the service's own subscriptions.
  host.open(carrier, { address: 'a', origins: [] })
  threads[0]?.tell({ type: 'missed' })
  expect([codes.splice(0), ups]).toEqual([[1012], 2])
  host.open(carrier, { address: 'a', origins: [] })
  host.expose()
  host.setDiskLow(true)
  const limited = host.query({ tags: new Map() }, 'a')
  const question = threads[0]?.received.at(-1)
  expect(question).toMatchObject({ type: 'query', asker: 'a' })
  const number = question?.type === 'query' ? question.call : 0
  threads[0]?.tell({ type: 'found', call: number, events: 'rate-limited' })
  await expect(limited).rejects.toMatchObject({ code: 'rate-limited' })
  const stored = host.accept(JSON.stringify(createEvent()))
  const found = host.query({ tags: new Map() }, null)
  found.catch(() => undefined)
  await until('the event is handed over', () => threads[0]?.received.at(-1)?.type === 'accept')
  threads[0]?.end()
  expect(await stored).toBeNull()
  await expect(found).rejects.toThrow()
  expect([codes, downs, host.ready()]).toEqual([[1012], [1], false])

  host.open(carrier, { address: 'a', origins: [] })
  expect(codes).toEqual([1012, 1013])
  expect(await host.accept(JSON.stringify(createEvent()))).toBeNull()
  await until('the thread is started again', () => threads.length === 2)
  expect([threads.length, host.ready()]).toEqual([2, true])
  // The new thread is told of the changes that came meanwhile.
  expect(threads[1]?.received).toEqual([
    { type: 'begin', settings: { ...settings, open: false, diskLow: true } },
  ])
  const again = host.accept(JSON.stringify(createEvent()))
  await until('the event is handed over', () => threads[1]?.received.at(-1)?.type === 'accept')
  const asked = threads[1]?.received.at(-1)
  const call = asked?.type === 'accept' ? asked.call : 0
  threads[1]?.tell({ type: 'accepted', call, verdicts: '[{"accepted":true,"message":""}]' })
  expect(await again).toEqual({ accepted: true, message: '' })
  // The thread never came up: the next wait is longer.
  threads[1]?.end()
  expect(downs).toEqual([1, 2])
  await host.stop()
})

test('an event that cannot be stored fails alone, and invalid JSON ends nothing', async () => {
  const directory = newDirectory()
  const couponsPath = join(directory, 'cuponera.db')
  const stores = () => ({})
  await new SqliteEngine({
    path: couponsPath,
    now: secondsNow,
    schema: couponSchema,
    stores,
  }).close()
  const faults: string[] = []
  const up = Promise.withResolvers<void>()
  const relayPath = join(directory, 'relay.db')
  const host = startRelay(
    { relayPath, couponsPath, couponsUrl: null, open: true, diskLow: false, rateLimit: false },
    {
      down: (seconds) => faults.push(`down ${seconds}`),
      fault: ({ name }) => faults.push(name),
      steadyMs: () => performance.now(),
      jobs: aloneJobs,
    },
  )
  closers.push(host.stop)
  host.onUp(up.resolve)
  await up.promise
  const [first, last] = [createEvent(), createEvent()]
  const stored = { accepted: true, message: '' }
  // The service checks events before it hands them over: only a damaged file brings these.
  const texts = [JSON.stringify(first), '{}', JSON.stringify(last)]
  expect(await Promise.all(texts.map(host.accept))).toEqual([stored, null, stored])
  expect(await Promise.all([host.accept('{'), host.accept(texts[0] ?? '')])).toEqual([null, null])
  const again = await host.accept(texts[0] ?? '')
  expect(again?.message).toStartWith('duplicate:')
  expect(faults).toEqual(['TypeError'])
})

testOfFile(
  'a relay that cannot open its file stops neither claims nor publish, and recovers',
  async () => {
    const dataDir = newDirectory()
    mkdirSync(join(dataDir, 'relay.db'), { recursive: true })
    const server = await startServer({ dataDir })
    const merchant = newSigner()
    const token = await openSession(server.url, merchant)
    const { nonce } = await mintOne(server.url, token, await createDefinition(server.url, token))
    expect((await call(server.url, '/api/coupons/claim', { body: { nonce } })).json.status).toBe(
      'success',
    )
    const event = createEvent({ signer: merchant })
    expect((await call(server.url, '/nostr/publish', { body: event })).status).toBe(202)
    await logged(server, '"event":"relay.down"')
    const fetched = await call(server.url, '/nostr/fetch', { body: { ids: [event.id] } })
    expect(fetched.status).toBe(503)

    rmdirSync(join(dataDir, 'relay.db'))
    await logged(server, '"event":"relay.up"')
    const client = await connectRelay(server.url)
    await client.subscribe('s', { ids: [event.id] })
    await client.wait(([type]) => type === 'EVENT')
    expect(await server.stop()).toBe(0)
  },
)
