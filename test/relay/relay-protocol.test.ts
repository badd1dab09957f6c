/** NIP-01, 09, 11, 40 and 45, over a WebSocket to a running server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { call, newSigner } from '../support/client.ts'
import { briefSeconds, secondsNow } from '../support/clock.ts'
import { createEvent } from '../support/events.ts'
import { closeClients, connectRelay, type RelayClient } from '../support/relay-client.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let server: TestServer
let client: RelayClient
beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
  client = await connectRelay(server.url)
})
afterAll(async () => {
  closeClients()
  await cleanUp()
})

const now = secondsNow()
const sorted = (events: { id: string; created_at: number }[]) =>
  events
    .toSorted((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id)

describe('events', () => {
  test('a valid event is accepted with an empty message, and again as a duplicate', async () => {
    const event = createEvent()
    expect(await client.publish(event)).toEqual([true, ''])
    client.messages.length = 0
    expect(await client.publish(event)).toEqual([true, 'duplicate: already have this event'])
    expect(await client.idsOf({ ids: [event.id] })).toEqual([event.id])
  })

  test('a stored event comes back field by field as it was sent', async () => {
    const tags = [['t', 'ñandú 🧉'], ['emoji', '\u0000"\\\n'], [], ['t']]
    const event = createEvent({ tags, content: '{"a":"\u2028"}\u0007 é' })
    await client.publish(event)
    await client.idsOf({ ids: [event.id] })
    const found = client.messages.find(([type, , one]) => type === 'EVENT' && one.id === event.id)
    expect(found?.[2]).toEqual(event)
    expect(await client.idsOf({ '#t': ['ñandú 🧉'], ids: [event.id] })).toEqual([event.id])
  })

  const event = createEvent()
  const refused: [string, object, RegExp, string?][] = [
    ['a signature of another event', { ...event, sig: createEvent().sig }, /^invalid:/],
    ['an id that is not the hash', { ...event, content: 'other' }, /^invalid:/],
    ['an id in capitals', { ...event, id: event.id.toUpperCase() }, /^invalid:/, ''],
    ['no tags', { ...event, tags: undefined }, /^invalid:/],
    ['a kind beyond 65535', { ...event, kind: 65_536 }, /^invalid:/],
    ['a voucher', createEvent({ kind: 20_402 }), /^blocked:/],
    ['an authentication', createEvent({ kind: 22_242 }), /^blocked:/],
    ['one that has expired', createEvent({ tags: [['expiration', `${now - 1}`]] }), /^invalid:/],
    [
      'an expiration that cannot be read',
      createEvent({ tags: [['expiration', 'x']] }),
      /^invalid:/,
    ],
    ['an expiration without a value', createEvent({ tags: [['expiration']] }), /^invalid:/],
    ['a date an hour ahead', createEvent({ createdAt: now + 3600 }), /^invalid:/],
    ['more tags than can be found', createEvent({ tags: Array(5001).fill(['t']) }), /^invalid:/],
    ['half a character as d', createEvent({ kind: 30_078, tags: [['d', '\ud800']] }), /^invalid:/],
  ]
  for (const [name, value, message, id = (value as { id: string }).id] of refused) {
    test(`${name} is refused with a reason that programs can read`, async () => {
      const fresh = await connectRelay(server.url)
      fresh.send('EVENT', value)
      const [, about, accepted, reason] = await fresh.wait(([type]) => type === 'OK')
      expect([about, accepted, message.test(reason)]).toEqual([id, false, true])
      fresh.close()
    })
  }

  test('an EVENT without an event is answered with an OK without an id', async () => {
    for (const value of [null, 1, 'x', [], {}, { id: 5 }, { id: 'x'.repeat(500) }]) {
      const fresh = await connectRelay(server.url)
      fresh.send('EVENT', value)
      expect(await fresh.wait(([type]) => type === 'OK')).toEqual([
        'OK',
        '',
        false,
        'invalid: not a Nostr event',
      ])
      fresh.close()
    }
  })
})

describe('filters', () => {
  const signer = newSigner()
  const events = Array.from({ length: 12 }, (_, at) =>
    createEvent({
      signer,
      kind: at % 2 === 0 ? 1 : 7,
      createdAt: now - 100 - Math.floor(at / 3),
      tags: [
        ['t', at < 6 ? 'low' : 'high'],
        ['x', String(at)],
      ],
    }),
  )
  beforeAll(async () => {
    for (const event of events) await client.publish(event)
  })
  const authors = [signer.pubkey]

  test('answers come newest first and, at the same second, lower id first', async () => {
    expect(await client.idsOf({ authors })).toEqual(sorted(events))
  })

  test('limit keeps the newest', async () => {
    expect(await client.idsOf({ authors, limit: 4 })).toEqual(sorted(events).slice(0, 4))
    expect(await client.idsOf({ authors, limit: 0 })).toEqual([])
  })

  test('since and until count themselves', async () => {
    const since = now - 102
    const until = now - 101
    const inside = events.filter(({ created_at }) => created_at >= since && created_at <= until)
    expect(inside).toHaveLength(6)
    expect(await client.idsOf({ authors, since, until })).toEqual(sorted(inside))
    expect(await client.idsOf({ authors, since: until, until: since })).toEqual([])
  })

  test('conditions are combined with AND, the values of one with OR', async () => {
    const wanted = events.filter((event, at) => event.kind === 7 && [1, 3, 6, 8].includes(at))
    const filter = { authors, kinds: [7, 9999], '#x': ['1', '3', '6', '8'] }
    expect(await client.idsOf(filter)).toEqual(sorted(wanted))
    expect(await client.idsOf({ authors, '#t': ['low'], '#x': ['7'] })).toEqual([])
  })

  test('several filters are alternatives, each with its own limit, and no event comes twice', async () => {
    const low = sorted(events.slice(0, 6)).slice(0, 2)
    const high = sorted(events.slice(6)).slice(0, 3)
    const ids = await client.idsOf(
      { authors, '#t': ['low'], limit: 2 },
      { authors, '#t': ['high'], limit: 3 },
      { ids: [low[0]] },
    )
    const wanted = events.filter(({ id }) => [...low, ...high].includes(id))
    expect(ids).toEqual(sorted(wanted))
  })

  test('ids and authors match whole: a prefix matches nothing', async () => {
    await expect(client.idsOf({ ids: [events[0]?.id.slice(0, 10)] })).rejects.toThrow('invalid:')
    await expect(client.idsOf({ authors: [signer.pubkey.slice(0, 63)] })).rejects.toThrow(
      'invalid:',
    )
  })

  test('empty lists and a search match nothing', async () => {
    for (const empty of [
      { ids: [] },
      { authors: [] },
      { kinds: [] },
      { '#t': [] },
      { search: 'a' },
    ]) {
      expect(await client.idsOf({ ...{ authors }, ...empty })).toEqual([])
    }
  })

  test('COUNT counts each event once, whatever the limit', async () => {
    expect(await client.count({ authors })).toEqual({ count: 12 })
    expect(
      await client.count({ authors, kinds: [1], limit: 1 }, { authors, '#t': ['low'] }),
    ).toEqual({
      count: 9,
    })
    expect(await client.count({ authors, search: 'a' })).toEqual({ count: 0 })
  })
})

describe('replaceable events and deletions', () => {
  test('the newer event stays, in any order of arrival', async () => {
    const signer = newSigner()
    const [old, current] = [10, 0].map((age) =>
      createEvent({ signer, kind: 30_078, createdAt: now - age, tags: [['d', 'menu']] }),
    ) as [ReturnType<typeof createEvent>, ReturnType<typeof createEvent>]
    expect(await client.publish(current)).toEqual([true, ''])
    expect(await client.publish(old)).toEqual([false, 'duplicate: a newer version is stored'])
    expect(await client.idsOf({ authors: [signer.pubkey] })).toEqual([current.id])
  })

  test('at the same second the event with the lower id stays', async () => {
    const signer = newSigner()
    const twins = Array.from({ length: 5 }, () => createEvent({ signer, kind: 0, createdAt: now }))
    for (const twin of twins) await client.publish(twin)
    expect(await client.idsOf({ authors: [signer.pubkey], kinds: [0] })).toEqual([
      sorted(twins)[0] ?? '',
    ])
  })

  test('ephemeral events are passed on and not stored', async () => {
    const event = createEvent({ kind: 24_133 })
    await client.subscribe('passing', { ids: [event.id] })
    expect(await client.publish(event)).toEqual([true, ''])
    await client.wait(([type, name]) => type === 'EVENT' && name === 'passing')
    expect(await client.idsOf({ ids: [event.id] })).toEqual([])
  })

  test('a deletion takes effect, is stored and served, and keeps the event out', async () => {
    const signer = newSigner()
    const event = createEvent({ signer })
    await client.publish(event)
    const request = createEvent({
      signer,
      kind: 5,
      tags: [
        ['e', event.id],
        ['k', '1'],
      ],
    })
    expect(await client.publish(request)).toEqual([true, ''])
    expect(await client.idsOf({ authors: [signer.pubkey] })).toEqual([request.id])
    client.messages.length = 0
    const [accepted, message] = await client.publish(event)
    expect([accepted, /^(deleted|blocked):/.test(message)]).toEqual([false, true])
  })

  test('an expiring event is no longer served after its time', async () => {
    const event = createEvent({ tags: [['expiration', String(secondsNow() + briefSeconds)]] })
    expect(await client.publish(event)).toEqual([true, ''])
    expect(await client.idsOf({ ids: [event.id] })).toEqual([event.id])
    await until('it expired', async () => (await client.idsOf({ ids: [event.id] })).length === 0)
    expect(await client.count({ ids: [event.id] })).toEqual({ count: 0 })
  })
})

describe('subscriptions', () => {
  test('events that arrive while a subscription is opened come once, without a gap', async () => {
    const signer = newSigner()
    const events = Array.from({ length: 300 }, () => createEvent({ signer, kind: 1 }))
    const writer = await connectRelay(server.url)
    const reader = await connectRelay(server.url)
    for (const event of events) writer.send('EVENT', event)
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const name of names) {
      await Bun.sleep(3)
      await reader.subscribe(name, { authors: [signer.pubkey] })
    }
    const last = createEvent({ signer })
    await writer.publish(last)
    for (const name of names) {
      await reader.wait(
        ([type, about, one]) => type === 'EVENT' && about === name && one.id === last.id,
      )
      const ids = reader.eventsOf(name).map(({ id }) => id)
      expect(ids).toHaveLength(events.length + 1)
      expect(new Set(ids)).toEqual(new Set([...events, last].map(({ id }) => id)))
    }
  })

  test('a subscription with search gets no events', async () => {
    const event = createEvent()
    const reader = await connectRelay(server.url)
    await reader.subscribe('searches', { authors: [event.pubkey], search: event.content })
    await reader.subscribe('hears', { authors: [event.pubkey] })
    await client.publish(event)
    await reader.wait(([type, about]) => type === 'EVENT' && about === 'hears')
    expect(reader.eventsOf('searches')).toEqual([])
  })

  test('a duplicate, replaced or deleted event is not passed on', async () => {
    const signer = newSigner()
    const reader = await connectRelay(server.url)
    const old = createEvent({ signer, kind: 0, createdAt: now - 9 })
    const current = createEvent({ signer, kind: 0, createdAt: now - 5 })
    const deletion = createEvent({ signer, kind: 5, tags: [['a', `0:${signer.pubkey}:`]] })
    await reader.subscribe('live', { authors: [signer.pubkey] })
    for (const event of [current, current, old, deletion, current, old]) {
      await client.publish(event)
    }
    await reader.count({})
    expect(reader.eventsOf('live')).toEqual([current, deletion])
  })

  test('CLOSE ends a subscription, and a REQ of the same name replaces it', async () => {
    const signer = newSigner()
    const reader = await connectRelay(server.url)
    const send = async (kind: number) => client.publish(createEvent({ signer, kind }))
    await reader.subscribe('one', { authors: [signer.pubkey], kinds: [1] })
    await send(1)
    await reader.subscribe('one', { authors: [signer.pubkey], kinds: [7], limit: 0 })
    await send(1)
    await send(7)
    reader.send('CLOSE', 'one')
    reader.send('CLOSE', 'never opened')
    expect(await reader.count({ authors: [signer.pubkey] })).toEqual({ count: 3 })
    await send(7)
    expect(await reader.count({ authors: [signer.pubkey] })).toEqual({ count: 4 })
    expect(reader.eventsOf('one').map(({ kind }) => kind)).toEqual([1, 7])
  })

  test('a subscription has a name of 1 to 64 characters', async () => {
    const reader = await connectRelay(server.url)
    await reader.subscribe('x'.repeat(64), { limit: 0 })
    for (const name of ['', 'x'.repeat(65), 5, null, {}, { toString: 1 }]) {
      reader.messages.length = 0
      reader.send('REQ', name, {})
      expect((await reader.wait(() => true))[0]).toBe('NOTICE')
    }
  })

  const wrong: [string, unknown[]][] = [
    ['no filter', []],
    ['eleven filters', Array(11).fill({})],
    ['a filter that is a list', [[]]],
    ['an unknown key', [{ kinds: [1], relays: [] }]],
    ['a tag of two letters', [{ '#ab': ['x'] }]],
    ['a kind in quotes', [{ kinds: ['1'] }]],
    ['a negative limit', [{ limit: -1 }]],
    ['a date with a fraction', [{ since: 1.5 }]],
    ['a list of more than a thousand', [{ kinds: Array(1001).fill(1) }]],
    ['one wrong filter of two', [{}, { ids: ['x'] }]],
  ]
  for (const [name, filters] of wrong) {
    test(`${name} is answered with CLOSED, and ends the subscription of that name`, async () => {
      const signer = newSigner()
      const reader = await connectRelay(server.url)
      await reader.subscribe('s', { authors: [signer.pubkey] })
      for (const type of ['REQ', 'COUNT']) {
        reader.messages.length = 0
        reader.send(type, 's', ...filters)
        const [closed, about, reason] = await reader.wait(() => true)
        expect([closed, about]).toEqual(['CLOSED', 's'])
        expect(reason).toStartWith('invalid: ')
      }
      await client.publish(createEvent({ signer }))
      await reader.count({})
      expect(reader.eventsOf('s')).toEqual([])
      reader.close()
    })
  }

  test('the fifty-first subscription is refused, and closing one makes room', async () => {
    const reader = await connectRelay(server.url)
    for (let at = 0; at < 50; at++) await reader.subscribe(`s${at}`, { limit: 0 })
    reader.send('REQ', 'more', { limit: 0 })
    const [, , reason] = await reader.wait(([type, about]) => type === 'CLOSED' && about === 'more')
    expect(reason).toStartWith('rate-limited: ')
    await reader.subscribe('s7', { limit: 0 })
    reader.send('CLOSE', 's8')
    await reader.subscribe('more', { limit: 0 })
  })
})

describe('the address over HTTP', () => {
  test('the numbers of the document fit each other: what it allows fits into a message', async () => {
    const { limitation } = (await call(server.url, '/relay')).json
    const one = ['p', 'f'.repeat(64)]
    for (const event of [
      createEvent({ tags: Array.from({ length: limitation.max_event_tags }, () => one) }),
      createEvent({ content: 'x'.repeat(limitation.max_content_length) }),
    ]) {
      const text = JSON.stringify(['EVENT', event])
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limitation.max_message_length)
      expect(await client.publish(event)).toEqual([true, ''])
    }
    const over = Array.from({ length: limitation.max_event_tags + 1 }, () => ['t', 'x'])
    expect((await client.publish(createEvent({ tags: over })))[0]).toBe(false)
    expect(limitation.default_limit).toBeLessThanOrEqual(limitation.max_limit)
  })

  test('the other numbers are the bounds of the relay: so much is taken, and no more', async () => {
    const { limitation } = (await call(server.url, '/relay')).json
    const { max_filters: filters, max_subid_length: chars, max_limit: most } = limitation
    const reader = await connectRelay(server.url)
    const none = (count: number) => Array(count).fill({ limit: 0 })
    await reader.subscribe('s', ...none(filters))
    reader.send('REQ', 'more', ...none(filters + 1))
    await reader.wait(([type, about]) => type === 'CLOSED' && about === 'more')
    await reader.subscribe('x'.repeat(chars), { limit: 0 })
    reader.send('REQ', 'x'.repeat(chars + 1), { limit: 0 })
    await reader.wait(([type]) => type === 'NOTICE')

    const dated = (ahead: number) => createEvent({ createdAt: secondsNow() + ahead })
    const { created_at_upper_limit: ahead } = limitation
    expect(await reader.publish(dated(ahead - 60))).toEqual([true, ''])
    expect((await reader.publish(dated(ahead + 60)))[0]).toBe(false)

    const signer = newSigner()
    const events = Array.from({ length: most + 1 }, (_, at) =>
      createEvent({ signer, createdAt: now - at }),
    )
    await Promise.all(events.map((event) => reader.publish(event)))
    const all = { authors: [signer.pubkey], limit: most * 2 }
    expect(await reader.idsOf(all)).toHaveLength(most)
    reader.close()
  })

  test('GET /relay serves the NIP-11 document to everybody', async () => {
    const { status, headers, json } = await call(server.url, '/relay', {
      headers: { Accept: 'application/nostr+json' },
    })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/nostr+json')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(json.supported_nips).toEqual([1, 9, 11, 40, 42, 45])
    expect(json.pubkey).toBe((await call(server.url, '/api/coupons/manager')).json.pubkey)
    expect(json.limitation).toMatchObject({ max_message_length: 262_144, max_subscriptions: 50 })
    expect(json.software).toBe(`${server.url}/docs`)
    expect((await call(server.url, '/relay')).json).toEqual(json)
    const options = await call(server.url, '/relay', { method: 'OPTIONS' })
    expect([options.status, options.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
  })
})
