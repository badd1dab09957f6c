/** POST /nostr/publish and the state of its event: every status, in the order of the checks. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { hostname } from 'node:os'
import { decode } from 'nostr-tools/nip19'
import { limits } from '../../src/base/limits.ts'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { delegationTag, newHolder } from '../support/cards.ts'
import { type Answer, call, createDefinition, newSigner, openSession } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { damage, databaseOf } from '../support/database.ts'
import { deliverOneMore } from '../support/delivered.ts'
import { expectError } from '../support/envelopes.ts'
import { createEvent } from '../support/events.ts'
import { startFaultyRelay, stopRelays } from '../support/faulty-relay.ts'
import { callRaw } from '../support/raw.ts'
import { connectRelay } from '../support/relay-client.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { addAccount } from '../support/shops.ts'
import { until } from '../support/until.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
})
afterEach(stopRelays)
afterAll(cleanUp)

type Sent = { headers?: Record<string, string>; to?: TestServer; path?: string; method?: string }

const publish = (body: unknown, { to = server, path = '/nostr/publish', ...rest }: Sent = {}) =>
  call(to.url, path, { method: 'POST', body, ...rest })
const outcome = async (id: string, to = server) => (await call(to.url, `/nostr/publish/${id}`)).json

describe('a good event', () => {
  test.each(['/nostr/publish', '/nostr/publish/'])(
    '%s takes it: 202 with no body',
    async (target) => {
      const event = createEvent()
      const body = JSON.stringify(event)
      const headers = [['Content-Type', 'application/json']] as const
      const answer = await callRaw(server.url, { method: 'POST', target, headers, body })
      expect([answer.status, answer.text]).toEqual([202, ''])
      expect(answer.headers.get('content-length')).toBe('0')
      expect(Date.parse(answer.headers.get('date') ?? '')).toBeGreaterThan(0)
      const location = answer.headers.get('location') ?? ''
      expect(location).toStartWith('nostr:nevent1')
      const relay = `${server.url.replace('http', 'ws')}/relay`
      expect(decode(location.slice('nostr:'.length))).toEqual({
        type: 'nevent',
        data: { id: event.id, relays: [relay], author: event.pubkey, kind: 1 },
      })
    },
  )

  test('is stored by the embedded relay, and its state can be queried', async () => {
    const event = createEvent()
    await publish(event)
    await until('delivered', async () => (await outcome(event.id)).status === 'delivered')
    const relay = `${server.url.replace('http', 'ws')}/relay`
    expect(await outcome(event.id)).toEqual({
      id: event.id,
      status: 'delivered',
      relays: [{ url: relay, status: 'delivered', attempts: 1, lastError: null }],
    })
    const { json } = await call(server.url, '/nostr/fetch', { body: { ids: [event.id] } })
    expect(json).toEqual([event])
  })

  test('is answered 202 again, and not sent twice', async () => {
    const relay = startFaultyRelay()
    const other = await startServer({ env: { RELAYS: relay.url } })
    const event = createEvent()
    const statuses = [
      (await publish(event, { to: other })).status,
      (await publish(event, { to: other })).status,
    ]
    await until('delivered', async () => (await outcome(event.id, other)).status === 'delivered')
    statuses.push((await publish({ ...event, more: 1 }, { to: other })).status)
    const marker = await deliverOneMore(other)
    expect(statuses).toEqual([202, 202, 202])
    expect(relay.times(event.id)).toBe(1)
    expect(relay.stored).toEqual([event, marker])
  })

  test('may have an object as content, which counts as its JSON.stringify text', async () => {
    const signer = newSigner()
    const content = { tokens: { BTC: 10 }, memo: 'ñandú', 2: [1.5, null] }
    const event = createEvent({ kind: 1112, content: JSON.stringify(content), signer })
    expect((await publish({ ...event, content })).status).toBe(202)
    await until('kept', async () => (await outcome(event.id)).status === 'delivered')
    const { json } = await call(server.url, '/nostr/fetch', { body: { ids: [event.id] } })
    expect(json[0].content).toBe(event.content)
    expectError(
      await publish({ ...event, content: { ...content, memo: 'x' } }),
      422,
      'event-invalid',
    )
    expectError(await publish({ ...event, content: [content] }), 422, 'event-invalid')
  })

  test.each([
    undefined,
    'application/json',
    'application/nostr+json',
    '*/*',
    'application/*',
    'text/html, */*;q=0.1',
    'APPLICATION/JSON; charset=utf-8',
    '',
  ])('is taken with Accept %p', async (accept) => {
    const headers = accept === undefined ? {} : { Accept: accept }
    expect((await publish(createEvent(), { headers })).status).toBe(202)
  })

  test.each(['application/json', 'application/nostr+json', 'Application/JSON;charset=UTF-8'])(
    'is taken as %s',
    async (type) => {
      const headers = { 'Content-Type': type }
      expect((await publish(createEvent(), { headers })).status).toBe(202)
    },
  )

  test('is accepted at any age', async () => {
    expect((await publish(createEvent({ createdAt: 1 }))).status).toBe(202)
    expect((await publish(createEvent({ createdAt: secondsNow() + 9e6 }))).status).toBe(202)
  })
})

describe('a service that listens on every address', () => {
  const ownName = hostname().toLowerCase()
  const manager = newSigner(Buffer.alloc(32, 7))
  const asked = (port: string): [string, string[]][] => [
    [`127.0.0.1:${port}`, [`ws://127.0.0.1:${port}/relay`]],
    [`${ownName}:${port}`, [`ws://${ownName}:${port}/relay`]],
    [`of-another-machine.local:${port}`, []],
    ['shop.example', []],
    [`0.0.0.0:${port}`, []],
    [`[::]:${port}`, []],
  ]

  test.each(['0.0.0.0', '::'])(
    '(%s) names its relay as it was found itself, or not',
    async (host) => {
      const env = { COUPON_MANAGER_NSEC: '07'.repeat(32), HOST: host }
      const { port } = new URL((await startServer({ env })).url)
      const url = `http://127.0.0.1:${port}`
      for (const [name, relays] of asked(port)) {
        const headers = { Host: name }
        const event = createEvent({ signer: manager })
        const published = await call(url, '/nostr/publish', { body: event, headers })
        const location = published.headers.get('location') ?? ''
        expect(decode(location.slice('nostr:'.length))).toMatchObject({ data: { relays } })
        const { json } = await call(url, `/nostr/publish/${event.id}`, { headers })
        expect(json.relays).toMatchObject([{ url: relays[0] ?? 'embedded' }])
        const names = await call(url, '/.well-known/nostr.json?name=_', { headers })
        expect(names.json.relays).toEqual({ [manager.pubkey]: relays })
      }
    },
  )
})

test('a nevent omits a relay whose address is too long for it', async () => {
  const long = `ws://127.0.0.1:9/${'a'.repeat(300)}`
  const shop = await startServer({ env: { RELAYS: `${long},ws://127.0.0.1:9/b` } })
  const { headers } = await publish(createEvent(), { to: shop })
  expect(decode((headers.get('location') ?? '').slice(6))).toMatchObject({
    data: { relays: ['ws://127.0.0.1:9/b'] },
  })
})

describe('refusals, in their order', () => {
  const event = createEvent()
  const text = { headers: { 'Content-Type': 'text/plain' } }
  const html = { headers: { Accept: 'text/html' } }

  test.each<[string, unknown, Sent]>([
    ['no body', undefined, {}],
    ['a body that is no JSON', '{', {}],
    ['a list', [event], {}],
    ['an object without keys', {}, {}],
    ['null', 'null', {}],
    ['bytes that are no UTF-8', '{"a":"\ud800"', {}],
    ['another content type', event, text],
    [
      'another content type before all the rest',
      {},
      { headers: { ...text.headers, ...html.headers } },
    ],
  ])('415: %s', async (_, body, sent) => {
    expectError(await publish(body, sent), 415, 'not-json-event')
  })

  test.each(['text/html', 'application/xml', 'image/*', '*', 'application/json;q=0'])(
    '406: Accept %s, and nothing is published',
    async (accept) => {
      const unwanted = createEvent()
      expectError(await publish(unwanted, { headers: { Accept: accept } }), 406, 'not-acceptable')
      expectError(await publish({ a: 1 }, { headers: { Accept: accept } }), 406, 'not-acceptable')
      expect((await call(server.url, `/nostr/publish/${unwanted.id}`)).status).toBe(404)
    },
  )

  const signer = newSigner()
  const wrong: [string, unknown][] = [
    ['no event', { a: 1 }],
    ['another id', { ...event, id: 'f'.repeat(64) }],
    ['another signature', { ...event, sig: createEvent().sig }],
    ['another content', { ...event, content: 'x' }],
    ['an id in upper case', { ...event, id: event.id.toUpperCase() }],
    ['a kind that is too large', { ...event, kind: 65_536 }],
    ['a time with a fraction', { ...event, created_at: 1.5 }],
    ['a tag with a number', { ...event, tags: [['e', 1]] }],
  ]
  test.each(wrong)('422: %s', async (_, body) => {
    expectError(await publish(body), 422, 'event-invalid')
  })

  const delegation = (...tag: string[]) => createEvent({ tags: [['delegation', ...tag]], signer })
  test.each<[string, NostrEvent]>([
    ['that is empty', delegation()],
    ['with a token that is not valid', delegation(signer.pubkey, 'kind=1', '0'.repeat(128))],
    ['with conditions nobody knows', delegation(signer.pubkey, 'p=1', '0'.repeat(128))],
  ])('422: a delegation %s', async (_, body) => {
    expectError(await publish(body), 422, 'delegation-invalid')
  })

  const tags = Array.from({ length: limits.relayTagsMax + 1 }, () => ['t', 'x'])
  test.each<[string, NostrEvent]>([
    ['that has expired', createEvent({ tags: [['expiration', String(secondsNow() - 1)]] })],
    ['whose expiration cannot be read', createEvent({ tags: [['expiration', 'tomorrow']] })],
    ['that is a voucher', createEvent({ kind: 20_402 })],
    ['that is an authentication', createEvent({ kind: 22_242 })],
    ['with too many tags', createEvent({ tags })],
  ])('422: an event %s, and nothing is published', async (_, body) => {
    expectError(await publish(body), 422, 'event-not-publishable')
    expect((await call(server.url, `/nostr/publish/${body.id}`)).status).toBe(404)
  })

  test('413: more than 256 KiB, and not one byte less', async () => {
    const largest = (bytes: number) => {
      const room = bytes - JSON.stringify(createEvent({ content: '' })).length
      return createEvent({ content: 'x'.repeat(room) })
    }
    const good = largest(limits.publishBytesMax)
    expect(JSON.stringify(good)).toHaveLength(limits.publishBytesMax)
    expect((await publish(good)).status).toBe(202)
    expectError(await publish(largest(limits.publishBytesMax + 1)), 413, 'too-large')
  })

  test('405 and 404 in the same envelope, OPTIONS with what is allowed', async () => {
    const put = await call(server.url, '/nostr/publish/', { method: 'PUT', body: {} })
    expectError(put, 405, 'method-not-allowed')
    expect(put.headers.get('allow')).toBe('POST, OPTIONS')
    expectError(await call(server.url, '/nostr/other'), 404, 'not-found')
    for (const path of ['/nostr/publish', '/nostr/publish/', '/nostr/fetch', '/nostr/fetch/']) {
      const { status, headers, text: body } = await call(server.url, path, { method: 'OPTIONS' })
      expect([status, body, headers.get('allow')]).toEqual([204, '', 'POST, OPTIONS'])
      expect(headers.get('access-control-allow-methods')).toBe('POST, OPTIONS')
      expect(headers.get('access-control-allow-origin')).toBe('*')
    }
  })

  test.each(['0'.repeat(64), 'x', event.id.toUpperCase(), '%00'])(
    '404: /nostr/publish/%s',
    async (id) => {
      expectError(await call(server.url, `/nostr/publish/${id}`), 404, 'event-unknown')
    },
  )
})

describe('a public service', () => {
  const env = { PUBLIC_URL: 'https://cupones.example', RATE_LIMIT: 'off' }

  test('403: stores no event of a stranger, but those of its own people and remote signing', async () => {
    const shop = await startServer({ env })
    const merchant = newSigner()
    expectError(await publish(createEvent({ signer: merchant }), { to: shop }), 403, 'not-allowed')
    await damage(
      shop.dataDir,
      `INSERT INTO minters (owner, pubkey, label, created_at)
      VALUES (x'${newSigner().pubkey}', x'${merchant.pubkey}', NULL, 1)`,
    )
    expect((await publish(createEvent({ signer: merchant }), { to: shop })).status).toBe(202)
    expect((await publish(createEvent({ kind: 24_133 }), { to: shop })).status).toBe(202)
    const location = (await publish(createEvent({ signer: merchant }), { to: shop })).headers.get(
      'location',
    )
    expect(decode((location ?? '').slice(6))).toMatchObject({
      data: { relays: ['wss://cupones.example/relay'] },
    })
  })

  test('403: stores nothing of a stranger to whom a member delegated', async () => {
    const shop = await startServer({ env })
    const member = newHolder()
    await damage(
      shop.dataDir,
      `INSERT INTO minters (owner, pubkey, label, created_at)
      VALUES (x'${newSigner().pubkey}', x'${member.pubkey}', NULL, 1)`,
    )
    expect((await publish(createEvent({ signer: member }), { to: shop })).status).toBe(202)
    const federation = newSigner()
    const tags = [delegationTag(member, federation, 'kind=1')]
    const delegated = createEvent({ signer: federation, tags })
    expectError(await publish(delegated, { to: shop }), 403, 'not-allowed')
  })

  test('sends an event of a stranger to relays outside, and does not store it', async () => {
    const relay = startFaultyRelay()
    const shop = await startServer({ env: { ...env, RELAYS: `embedded,${relay.url}` } })
    const event = createEvent()
    const { status, headers } = await publish(event, { to: shop })
    expect(status).toBe(202)
    expect(decode((headers.get('location') ?? '').slice(6))).toMatchObject({
      data: { relays: [relay.url] },
    })
    await until('delivered', async () => (await outcome(event.id, shop)).status === 'delivered')
    expect((await outcome(event.id, shop)).relays.map(({ url }: { url: string }) => url)).toEqual([
      relay.url,
    ])
    expect(relay.stored).toEqual([event])
  })

  test('429: limits remote signing of strangers by address', async () => {
    const shop = await startServer({ env: { PUBLIC_URL: 'https://cupones.example' } })
    const answers: Answer[] = []
    for (let at = 0; at < limits.relayStrangerBurst + 40; at += 20) {
      const batch = Array.from({ length: 20 }, () =>
        publish(createEvent({ kind: 24_133 }), { to: shop }),
      )
      answers.push(...(await Promise.all(batch)))
    }
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(5)
    expectError(refused[0] as Answer, 429, 'rate-limited')
  })
})

describe('429: the quotas of the embedded relay, by size', () => {
  let serial = 0
  const large = (signer: Signer) =>
    createEvent({ signer, content: `${++serial}${'x'.repeat(250_000)}` })
  const cost = Math.ceil(250_400 / limits.relayQuotaBytes)
  const behind = (address: string) => ({ 'X-Forwarded-For': address })
  const env = { TRUSTED_PROXIES: '127.0.0.1' }
  /** A key that may write here, also once a proxy was seen. */
  const newMember = async ({ dataDir }: TestServer) => {
    const signer = newSigner()
    await addAccount(dataDir, `n${++serial}`, signer.pubkey)
    return signer
  }

  test('counts for a key, from any address; other keys go on, and nothing is written', async () => {
    const shop = await startServer({ env })
    const signer = await newMember(shop)
    const send = (event: NostrEvent, at: number) =>
      publish(event, { to: shop, headers: behind(`203.0.113.${at}`) })
    for (let at = 0; at < Math.floor(limits.relayKeyBurst / cost); at++) {
      expect((await send(large(signer), at)).status).toBe(202)
    }
    // The refill of the meantime is used up, too.
    const refused: Answer[] = []
    const events = Array.from({ length: 20 }, () => large(signer))
    for (const [at, event] of events.entries()) refused.push(await send(event, at))
    const last = refused.at(-1) as Answer
    expectError(last, 429, 'rate-limited')
    expect(last.json.retryAfter).toBeGreaterThan(0)
    const unwritten = `/nostr/publish/${events.at(-1)?.id}`
    expect((await call(shop.url, unwritten, { headers: behind('203.0.113.99') })).status).toBe(404)
    expect((await send(createEvent({ signer: await newMember(shop) }), 1)).status).toBe(202)
  })

  test('somebody else who repeats its events does not use up the quota of a key', async () => {
    const shop = await startServer({ env })
    const signer = newSigner()
    const event = large(signer)
    const again = limits.relayKeyBurst / cost + 5
    for (let sent = 0; sent < again; sent++) {
      expect((await publish(event, { to: shop })).status).toBe(202)
    }
    const { url } = shop
    await until('delivered', async () => (await outcome(event.id, shop)).status === 'delivered')
    const relay = await connectRelay(url)
    for (let sent = 0; sent < again; sent++) expect((await relay.publish(event))[0]).toBe(true)
    expect(await relay.publish(large(signer))).toEqual([true, ''])
    relay.close()
    expect((await publish(large(signer), { to: shop })).status).toBe(202)
  })

  test('counts for an address, with any key; other addresses go on', async () => {
    const shop = await startServer({ env })
    const send = (event: NostrEvent, at: number) =>
      publish(event, { to: shop, headers: behind(`203.0.113.${at}`) })
    let answer = await send(large(await newMember(shop)), 1)
    for (let sent = 0; sent < (limits.relayAddressBurst / cost) * 2 && answer.status === 202; ) {
      answer = await send(large(await newMember(shop)), 1)
      sent++
    }
    expectError(answer, 429, 'rate-limited')
    expectError(await send({ ...createEvent(), sig: 'x' }, 2), 422, 'event-invalid')
    expect((await send(createEvent({ signer: await newMember(shop) }), 2)).status).toBe(202)
  })

  test('is off with RATE_LIMIT=off', async () => {
    const signer = newSigner()
    for (let sent = 0; sent < (limits.relayKeyBurst / cost) * 1.5; sent++) {
      expect((await publish(large(signer))).status).toBe(202)
    }
  })
})

describe('503: never a false 202', () => {
  test('when the outbox is full', async () => {
    const full = await startServer({ env: { RELAYS: 'ws://127.0.0.1:9' } })
    const events = limits.outboxEventsMax * limits.outboxOpenShare
    await databaseOf(full.dataDir).count('outbox_load', [{ keys: [1], by: { events } }])
    const event = createEvent()
    const answer = await publish(event, { to: full })
    expectError(answer, 503, 'outbox-full')
    expect(answer.headers.get('retry-after')).toBe('30')
    expect((await call(full.url, `/nostr/publish/${event.id}`)).status).toBe(404)
    const token = await openSession(full.url, newSigner())
    expect(await createDefinition(full.url, token)).toBeString()
  })

  test('when nothing can be written', async () => {
    const shop = await startServer()
    await damage(shop.dataDir, 'DROP TABLE deliveries')
    const event = createEvent()
    const answer = await publish(event, { to: shop })
    expectError(answer, 503, 'unavailable')
    expect(answer.headers.get('retry-after')).toBe('5')
  })
})
