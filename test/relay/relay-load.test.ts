/** The process under clients that are many, slow, fast or hostile. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { chooseSeed, Random } from '../fuzz/random.ts'
import { call, newSigner } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { onFile } from '../support/database.ts'
import { createEvent } from '../support/events.ts'
import { cpuSeconds, residentMb } from '../support/process-figures.ts'
import { openRawSocket } from '../support/raw-socket.ts'
import { closeClients, connectRelay } from '../support/relay-client.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
})
afterEach(closeClients)
afterAll(cleanUp)

/** The server still takes and serves events, and claims are answered. */
async function expectHealthy(): Promise<void> {
  const client = await connectRelay(server.url)
  const event = createEvent()
  expect(await client.publish(event)).toEqual([true, ''])
  expect(await client.idsOf({ ids: [event.id] })).toEqual([event.id])
  expect((await call(server.url, '/api/coupons/manager')).status).toBe(200)
}

/** The ids of events. On PostgreSQL events of one moment overtake each other, so that their order says nothing. */
function inOrder(events: { id: string }[]): string[] {
  const ids = events.map(({ id }) => id)
  return onFile ? ids : ids.sort((a, b) => (a < b ? -1 : 1))
}

test('200 subscribers get every matching event once and in order', async () => {
  const signer = newSigner()
  const kinds = [1, 7]
  const events = Array.from({ length: 400 }, (_, at) =>
    createEvent({ signer, kind: kinds[at % 2] ?? 1, createdAt: secondsNow() }),
  )
  const readers = await Promise.all(Array.from({ length: 200 }, () => connectRelay(server.url)))
  await Promise.all(
    readers.map((reader, at) =>
      reader.subscribe('s', { authors: [signer.pubkey], ...(at % 2 === 1 && { kinds: [7] }) }),
    ),
  )
  const writer = await connectRelay(server.url)
  for (const event of events) writer.send('EVENT', event)
  for (const [at, reader] of readers.entries()) {
    const wanted = at % 2 === 1 ? events.filter(({ kind }) => kind === 7) : events
    await until('all came', () => reader.eventsOf('s').length >= wanted.length)
    expect(inOrder(reader.eventsOf('s'))).toEqual(inOrder(wanted))
  }
})

test('large events reach 200 subscribers, and none is disconnected as slow', async () => {
  const signer = newSigner()
  const readers = await Promise.all(Array.from({ length: 200 }, () => connectRelay(server.url)))
  await Promise.all(readers.map((reader) => reader.subscribe('s', { authors: [signer.pubkey] })))
  const events = Array.from({ length: 3 }, () =>
    createEvent({ signer, content: longText(200_000) }),
  )
  const writer = await connectRelay(server.url)
  for (const event of events) writer.send('EVENT', event)
  for (const reader of readers) {
    await until('all came', () => reader.eventsOf('s').length >= events.length)
    expect(inOrder(reader.eventsOf('s'))).toEqual(inOrder(events))
  }
})

test('a filter that repeats its values a thousand times delays nobody, and counts right', async () => {
  const tags = [...'abcdefghij'].map((letter) => [letter, 'x'])
  const signer = newSigner()
  const writer = await connectRelay(server.url)
  for (let made = 0; made < 300; made++) await writer.publish(createEvent({ signer, tags }))
  const repeated = Array.from({ length: 1000 }, () => 'x')
  const lists = Object.fromEntries([...'abcdefghij'].map((letter) => [`#${letter}`, repeated]))
  const other = await connectRelay(server.url)
  for (let asked = 0; asked < 30; asked++) writer.send('REQ', `q${asked}`, ...Array(10).fill(lists))
  expect(await other.publish(createEvent())).toEqual([true, ''])
  expect(await other.count({ '#a': repeated })).toEqual({ count: 300 })
})

test('an event of thousands of tags is matched against a thousand heavy filters without a stall', async () => {
  const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const wanted = Object.fromEntries(letters.map((letter) => [`#${letter}`, ['v']]))
  const filters = Array(10).fill({ ...wanted, limit: 0, '#Z': ['w'] })
  const readers = await Promise.all([connectRelay(server.url), connectRelay(server.url)])
  for (const reader of readers) {
    for (let at = 0; at < 50; at++) await reader.subscribe(`s${at}`, ...filters)
  }
  const others = Array.from({ length: 3400 }, () => ['y', 'x'])
  const tags = [...others, ...letters.map((letter) => [letter, 'v'])]
  const event = createEvent({ kind: 24_133, tags })
  const [reader] = readers
  const before = cpuSeconds(server.pid)
  expect(await reader?.publish(event)).toEqual([true, ''])
  expect(cpuSeconds(server.pid) - before).toBeLessThan(0.5)
})

test('a client that sends everything at once is slowed down, not refused, and nothing is lost', async () => {
  const signer = newSigner()
  const events = Array.from({ length: 4000 }, () =>
    createEvent({ signer, content: longText(1000) }),
  )
  const writer = await connectRelay(server.url)
  const before = residentMb(server.pid).now
  for (const event of events) writer.send('EVENT', event)
  const last = events.at(-1)
  await writer.wait(([type, id]) => type === 'OK' && id === last?.id)
  const answers = writer.messages.filter(([type, , accepted]) => type === 'OK' && accepted === true)
  expect(answers).toHaveLength(events.length)
  expect(await writer.count({ authors: [signer.pubkey] })).toEqual({ count: events.length })
  expect(residentMb(server.pid).now - before).toBeLessThan(150)
})

test('queries of a client that does not read wait, and a client that lets live events pile up is disconnected', async () => {
  const signer = newSigner()
  const writer = await connectRelay(server.url)
  const large = Array.from({ length: 20 }, () =>
    createEvent({ signer, content: longText(200_000) }),
  )
  for (const event of large) expect(await writer.publish(event)).toEqual([true, ''])
  const before = residentMb(server.pid).now

  const asking = await openRawSocket(server.url)
  const reading = await openRawSocket(server.url)
  for (let at = 0; at < 50; at++) asking.send(['REQ', `s${at}`, { authors: [signer.pubkey] }])
  for (let at = 0; at < 10; at++) reading.send(['REQ', `s${at}`, { kinds: [1], limit: 0 }])
  // 50 answers of 4 MB are due: at most two of them are produced while nobody reads.
  await Bun.sleep(300)
  expect(residentMb(server.pid).now - before).toBeLessThan(100)

  for (let round = 0; round < 15; round++) {
    await writer.publish(createEvent({ signer, content: longText(200_000) }))
  }
  expect(residentMb(server.pid).now - before).toBeLessThan(150)
  reading.read()
  await until('the connection is closed', reading.ended)
  expect(reading.received()).toBeLessThan(15 * 10 * 200_000)
  await expectHealthy()
})

test('a slow reader gets all the events it asked for', async () => {
  const signer = newSigner()
  const writer = await connectRelay(server.url)
  for (let at = 0; at < 18; at++) {
    await writer.publish(createEvent({ signer, content: longText(200_000) }))
  }
  const socket = await openRawSocket(server.url)
  for (let at = 0; at < 20; at++) socket.send(['REQ', `s${at}`, { authors: [signer.pubkey] }])
  await Bun.sleep(200)
  socket.read()
  await until('all of it came', () => socket.received() > 20 * 18 * 200_000)
  expect(socket.ended()).toBe(false)
})

describe('hostile clients', () => {
  test('a binary message closes the connection', async () => {
    const client = await connectRelay(server.url)
    client.sendRaw(new Uint8Array([1, 2, 3]))
    expect(await client.closed).toBe(1003)
    await expectHealthy()
  })

  test('a message over 256 KiB gets a notice, and the connection is closed with 1009', async () => {
    const longest = 'x'.repeat(512 * 1024)
    for (const text of ['x'.repeat(256 * 1024 + 1), 'ñ'.repeat(128 * 1024 + 1), longest]) {
      const client = await connectRelay(server.url)
      client.sendRaw(text)
      expect(await client.closed).toBe(1009)
      expect(client.messages).toEqual([['NOTICE', 'too large: a message has at most 262144 bytes']])
    }
    await expectHealthy()
  })

  test('a message over 512 KiB closes the connection without a notice', async () => {
    for (const length of [512 * 1024 + 1, 10_000_000]) {
      const longest = await connectRelay(server.url)
      longest.sendRaw('x'.repeat(length))
      expect([1006, 1009]).toContain(await longest.closed)
      expect(longest.messages).toEqual([])
    }
    const client = await connectRelay(server.url)
    expect((await client.publish(createEvent({ content: 'x'.repeat(261_000) })))[0]).toBe(true)
    await expectHealthy()
  })

  test('JSON nested a hundred thousand deep is answered like any invalid message', async () => {
    const client = await connectRelay(server.url)
    for (const text of [
      '['.repeat(100_000),
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      `["EVENT",${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}]`,
      `["REQ","x",${'['.repeat(100_000)}${']'.repeat(100_000)}]`,
    ]) {
      client.messages.length = 0
      client.sendRaw(text)
      expect(['NOTICE', 'CLOSED', 'OK']).toContain((await client.wait(() => true))[0])
    }
    await expectHealthy()
  })

  const seed = chooseSeed()
  test(`the process survives random messages, SEED=${seed}`, async () => {
    const random = new Random(seed)
    const event = createEvent()
    for (let round = 0; round < 20; round++) {
      const client = await connectRelay(server.url)
      for (let left = 100; left > 0; left--) client.sendRaw(randomMessage(random, event))
      await Promise.race([client.closed, client.idsOf({ limit: 1 })])
      client.close()
    }
    expect(server.output()).not.toContain('relay.down')
    expect(server.output()).not.toContain('"level":"error"')
    await expectHealthy()
  })

  test('a client that sends only nonsense is disconnected', async () => {
    const limited = await startServer()
    const client = await connectRelay(limited.url)
    for (let left = 2000; left > 0; left--) client.sendRaw('nonsense')
    expect(await client.closed).toBe(1008)
  })
})

function longText(length: number): string {
  return randomBytes(16).toString('hex').padEnd(length, 'x')
}

/** A message that is nearly valid, or random. */
function randomMessage(random: Random, event: object): string {
  const odd: unknown[] = [
    null,
    true,
    0,
    -1,
    Number.MAX_VALUE,
    1.5,
    '',
    'x',
    '\ud800',
    [],
    {},
    { toString: 1 },
    [[[]]],
    [{}],
  ]
  const value = () => random.pick<unknown>([...odd, event, { ...event, tags: [[1]] }])
  const keys = [
    'ids',
    'authors',
    'kinds',
    'since',
    'until',
    'limit',
    '#t',
    '#e',
    'search',
    '__proto__',
  ]
  const filter = () =>
    Object.fromEntries(
      Array.from({ length: random.below(4) }, () => [
        random.pick(keys),
        random.pick([value(), [value()]]),
      ]),
    )
  const type = random.pick(['EVENT', 'REQ', 'COUNT', 'CLOSE', 'AUTH', 'OK', 'NEG-OPEN', 5, null])
  const items = Array.from({ length: random.below(4) }, () =>
    random.chance(0.5) ? filter() : value(),
  )
  const changed = { ...event, [random.pick(Object.keys(event))]: value() }
  const message = random.chance(0.3)
    ? ['EVENT', changed]
    : [type, random.pick(['s', value()]), ...items]
  const text = JSON.stringify(message)
  if (random.chance(0.2)) return text.slice(0, random.below(text.length))
  if (random.chance(0.1)) return Buffer.from(random.bytes(50)).toString('latin1')
  return text
}
