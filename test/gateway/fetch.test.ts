/** POST /nostr/fetch: its filters, its sources and its answers. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { type Answer, call, newSigner } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { expectError } from '../support/envelopes.ts'
import { createEvent } from '../support/events.ts'
import { startFaultyRelay, stopRelays, tell } from '../support/faulty-relay.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
})
afterEach(stopRelays)
afterAll(cleanUp)

const find = (body: unknown, { url } = server, path = '/nostr/fetch') =>
  call(url, path, { method: 'POST', body })
const keep = async (...events: NostrEvent[]) => {
  for (const event of events) await call(server.url, '/nostr/publish', { body: event })
  const ids = events.map(({ id }) => id)
  await until('kept', async () => (await find({ ids })).json.length === ids.length)
}
/** The service has subscriptions for other purposes, too. */
const isFetch = (name: unknown) => String(name).startsWith('q')
const ids = ({ json }: Answer) => json.map(({ id }: NostrEvent) => id)

describe('the filter', () => {
  test.each<[string, unknown]>([
    ['no body', undefined],
    ['no JSON', 'x'],
    ['a list', [{}]],
    ['null', 'null'],
    ['a number', '5'],
  ])('415: %s', async (_, body) => expectError(await find(body), 415, 'not-json-filter'))

  const many = Array.from({ length: limits.filterItemsMax + 1 }, () => 'a'.repeat(64))
  test.each<[string, unknown]>([
    ['an unknown key', { id: [] }],
    ['a tag of two letters', { '#ab': ['x'] }],
    ['a tag without #', { t: ['x'] }],
    ['a digit for a tag', { '#1': ['x'] }],
    ['ids that are no list', { ids: 'a' }],
    ['ids that are cut', { ids: ['abcd'] }],
    ['authors in upper case', { authors: ['A'.repeat(64)] }],
    ['kinds as text', { kinds: ['1'] }],
    ['a kind out of range', { kinds: [65_536] }],
    ['a negative limit', { limit: -1 }],
    ['a limit with a fraction', { limit: 1.5 }],
    ['a limit of null', { limit: null }],
    ['since as text', { since: '1' }],
    ['search that is no text', { search: 1 }],
    ['a tag value that is no text', { '#t': [1] }],
    ['1001 ids', { ids: many }],
    ['1001 tag values', { '#t': many }],
  ])('422: %s', async (_, body) => expectError(await find(body), 422, 'filter-invalid'))

  test('accepts a thousand entries, empty lists, and no key at all', async () => {
    expect((await find({ ids: many.slice(1) })).json).toEqual([])
    expect((await find({ ids: [] })).json).toEqual([])
    expect((await find({})).status).toBe(200)
    expect((await find({ search: 'coffee' })).json).toEqual([])
  })

  test('413: more than 256 KiB, in the envelope', async () => {
    expectError(await find({ search: 'x'.repeat(limits.publishBytesMax) }), 413, 'too-large')
  })
})

describe('the answer', () => {
  test.each(['/nostr/fetch', '/nostr/fetch/'])(
    '%s: newest first, seven fields each',
    async (path) => {
      const signer = newSigner()
      const now = secondsNow()
      const events = [now - 2, now, now - 1].map((createdAt) => createEvent({ createdAt, signer }))
      await keep(...events)
      const answer = await find({ authors: [signer.pubkey] }, server, path)
      expect(answer.json).toEqual([events[1], events[2], events[0]])
      expect(Object.keys(answer.json[0])).toHaveLength(7)
      expect(answer.headers.has('x-nostr-relays')).toBe(false)
    },
  )

  test('has a hundred events by default, and five hundred at most', async () => {
    const signer = newSigner()
    const events = Array.from({ length: 520 }, () => createEvent({ kind: 7777, signer }))
    await Promise.all(events.map((event) => call(server.url, '/nostr/publish', { body: event })))
    const count = async (filter: object) => (await find({ kinds: [7777], ...filter })).json.length
    await until('all are kept', async () => (await count({ limit: 500 })) === 500)
    expect(await count({})).toBe(100)
    expect(await count({ limit: 7 })).toBe(7)
    expect(await count({ limit: 0 })).toBe(0)
    expect(await count({ limit: 100_000 })).toBe(500)
  })

  test('merges the store and the relays: each event once, the newest of a replaceable one, no expired one', async () => {
    const relay = startFaultyRelay()
    const near = await startServer({ env: { RELAYS: `embedded,${relay.url}` } })
    await until('connected', () => relay.open() === 1)
    const signer = newSigner()
    const now = secondsNow()
    const place = (createdAt: number) =>
      createEvent({ kind: 30_078, createdAt, tags: [['d', 'x']], signer })
    const [old, fresh, note] = [
      place(now - 9),
      place(now - 5),
      createEvent({ createdAt: now, signer }),
    ]
    for (const event of [old, note]) await call(near.url, '/nostr/publish', { body: event })
    const filter = { authors: [signer.pubkey] }
    await until('kept', async () => (await find(filter, near)).json.length === 2)
    const expired = createEvent({ tags: [['expiration', String(now - 1)]], signer })
    relay.stored.push(fresh, expired, createEvent({ kind: 20_402, signer }))
    const answer = await find(filter, near)
    expect(ids(answer)).toEqual([note.id, fresh.id])
  })

  test('leaves out events that the store knows to be deleted or replaced, even if a relay still has them', async () => {
    const relay = startFaultyRelay()
    const near = await startServer({ env: { RELAYS: `embedded,${relay.url}` } })
    await until('connected', () => relay.open() === 1)
    const signer = newSigner()
    const now = secondsNow()
    const place = (d: string, createdAt: number, t: string) =>
      createEvent({ kind: 30_078, createdAt, signer, tags: [...[['d', d]], ['t', t]] })
    const deletion = (...tags: string[][]) => createEvent({ kind: 5, createdAt: now, tags, signer })
    const [note, other] = [createEvent({ signer }), createEvent({ signer })]
    const gone = place('gone', now - 9, 'old')
    const [old, fresh] = [place('moved', now - 9, 'old'), place('moved', now - 5, 'new')]
    const [kept, unwanted] = [place('kept', now - 9, 'old'), place('kept', now - 5, 'old')]
    const [ours, theirs] = [place('theirs', now - 9, 'old'), place('theirs', now - 5, 'old')]
    const mine = [
      fresh,
      kept,
      ours,
      deletion(['e', note.id], ['a', `30078:${signer.pubkey}:gone`], ['e', unwanted.id]),
    ]
    for (const event of mine) await call(near.url, '/nostr/publish', { body: event })
    const local = () => find({ authors: [signer.pubkey], kinds: [5, 30_078] }, near)
    await until('all are kept', async () => (await local()).json.length === 4)
    relay.stored.splice(0)
    relay.stored.push(note, other, gone, old, unwanted, theirs)

    expect(ids(await find({ authors: [signer.pubkey], kinds: [1] }, near))).toEqual([other.id])
    expect(ids(await find({ '#t': ['old'] }, near))).toEqual([theirs.id, kept.id])
    expect(ids(await find({ ids: [gone.id, old.id, note.id] }, near))).toEqual([])
    expect(ids(await find({ '#t': ['new'] }, near))).toEqual([fresh.id])
  })

  test('leaves out invalid events of a relay, and events that were not requested', async () => {
    const good = createEvent({ kind: 7 })
    const liar = startFaultyRelay({
      req(socket, name) {
        for (const lie of [
          { ...good, content: 'x' },
          createEvent({ kind: 8 }),
          5,
          { ...good, sig: 'x' },
        ]) {
          tell(socket, 'EVENT', name, lie)
        }
        for (let at = 0; at < 20; at++) tell(socket, 'EVENT', name, createEvent({ kind: 7 }))
        tell(socket, 'EOSE', name)
        return true
      },
    })
    const near = await startServer({ env: { RELAYS: liar.url } })
    await until('connected', () => liar.open() === 1)
    const { json } = await find({ kinds: [7], limit: 5 }, near)
    expect(json).toHaveLength(5)
    expect(json.every(({ kind, id }: NostrEvent) => kind === 7 && id !== good.id)).toBe(true)
  })
})

describe('relays that do not answer', () => {
  test('are counted as silent once the five seconds are over', async () => {
    const [good, silent] = [startFaultyRelay(), startFaultyRelay({ req: () => true })]
    const event = createEvent()
    good.stored.push(event)
    const near = await startServer({
      env: { RELAYS: `${good.url},${silent.url},ws://127.0.0.1:9` },
    })
    await until('connected', () => good.open() === 1 && silent.open() === 1)
    const started = performance.now()
    const answer = await find({ ids: [event.id] }, near)
    expect((performance.now() - started) / 1000).toBeGreaterThan(limits.fetchSeconds - 0.1)
    expect(answer.json).toEqual([event])
    expect(answer.headers.get('x-nostr-relays')).toBe('answered=1 silent=2')
    await until('closed', () =>
      [good, silent].every((relay) => relay.received.some(([type]) => type === 'CLOSE')),
    )
  })

  test('are answered 504 when no relay answers and the store is not a source', async () => {
    const near = await startServer({ env: { RELAYS: 'ws://127.0.0.1:9' } })
    expectError(await find({}, near), 504, 'relays-silent')
    expect((await find({ limit: 0 }, near)).json).toEqual([])
    expectError(await find({ limit: -1 }, near), 422, 'filter-invalid')
  })

  test('are ignored when the store is a source', async () => {
    const near = await startServer({ env: { RELAYS: 'embedded,ws://127.0.0.1:9' } })
    const answer = await find({}, near)
    expect([answer.status, answer.json]).toEqual([200, []])
    expect(answer.headers.get('x-nostr-relays')).toBe('answered=0 silent=1')
  })

  test('are answered 400 when all of them refuse', async () => {
    const rude = startFaultyRelay({
      req(socket, name) {
        tell(socket, 'CLOSED', name, 'blocked: you')
        return true
      },
    })
    const near = await startServer({ env: { RELAYS: rude.url } })
    await until('connected', () => rude.open() === 1)
    expectError(await find({}, near), 400, 'relays-refused')
  })

  test('are asked no longer once the client has gone', async () => {
    const silent = startFaultyRelay({ req: () => true })
    const near = await startServer({ env: { RELAYS: silent.url } })
    await until('connected', () => silent.open() === 1)
    const names = (wanted: string) =>
      silent.received.flatMap(([type, name]) => (type === wanted && isFetch(name) ? [name] : []))
    // Asked before, this one ends first when nobody hangs up.
    const patient = find({}, near)
    await until('the first is asked', () => names('REQ').length === 1)
    const gone = new AbortController()
    const options = { method: 'POST', body: '{}', signal: gone.signal }
    const request = fetch(`${near.url}/nostr/fetch`, options).catch(() => null)
    await until('both are asked', () => names('REQ').length === 2)
    gone.abort()
    await Promise.all([request, patient])
    await until('both are closed', () => names('CLOSE').length === 2)
    expect(names('CLOSE')).toEqual(names('REQ').reverse())
  })
})

test('memory stays bounded, however much a relay sends', async () => {
  const big = 'x'.repeat(200_000)
  const flood = startFaultyRelay({
    req(socket, name) {
      if (!isFetch(name)) return false
      for (let at = 0; at < 60; at++) tell(socket, 'EVENT', name, createEvent({ content: big }))
      tell(socket, 'EOSE', name)
      return true
    },
  })
  const near = await startServer({ env: { RELAYS: flood.url, RATE_LIMIT: 'off' } })
  await until('connected', () => flood.open() === 1)
  const { text, json } = await find({}, near)
  expect(json.length).toBeGreaterThan(5)
  expect(text.length).toBeLessThan(limits.fetchBytesMax + 100_000)
})

test('a relay that sends a lot leaves room for the events of others', async () => {
  const big = 'x'.repeat(200_000)
  const flooded = Promise.withResolvers<void>()
  const flood = startFaultyRelay({
    req(socket, name) {
      if (!isFetch(name)) return false
      for (let at = 0; at < 30; at++) tell(socket, 'EVENT', name, createEvent({ content: big }))
      flooded.resolve()
      return true
    },
  })
  const wanted = createEvent({ content: big })
  const modest = startFaultyRelay({
    req(socket, name) {
      if (!isFetch(name)) return false
      void flooded.promise.then(async () => {
        // The flood was read and counted to its end before this is sent.
        await until('the flood was cut', () => flood.received.some(([type]) => type === 'CLOSE'))
        tell(socket, 'EVENT', name, wanted)
        tell(socket, 'EOSE', name)
      })
      return true
    },
  })
  const near = await startServer({ env: { RELAYS: `${flood.url},${modest.url}` } })
  await until('connected', () => flood.open() === 1 && modest.open() === 1)
  const { json } = await find({}, near)
  expect(json.map(({ id }: NostrEvent) => id)).toContain(wanted.id)
  expect(json.length).toBeGreaterThan(5)
})

test('a disconnected relay takes no room from the others', async () => {
  const relay = startFaultyRelay()
  const content = 'x'.repeat(230_000)
  relay.stored.push(createEvent({ content }), createEvent({ content }))
  const away = Array.from({ length: limits.relaysMax - 1 }, (_, at) => `ws://127.0.0.1:9/${at}`)
  const near = await startServer({ env: { RELAYS: [relay.url, ...away].join() } })
  await until('connected', () => relay.open() === 1)
  const wanted = relay.stored.map(({ id }) => id)
  expect(ids(await find({ ids: wanted }, near)).sort()).toEqual(wanted.sort())
})

test('too many requests of one address are refused, in the envelope', async () => {
  const strict = await startServer()
  const answers: Answer[] = []
  while (answers.length < 1500 && !answers.some(({ status }) => status === 429)) {
    answers.push(
      ...(await Promise.all(Array.from({ length: 50 }, () => find({ limit: 0 }, strict)))),
    )
  }
  const refused = answers.find(({ status }) => status === 429) as Answer
  expect(refused.json).toMatchObject({ status: 'ERROR', code: 'rate-limited' })
  expect(refused.headers.get('retry-after')).toBe(String(refused.json.retryAfter))
})
