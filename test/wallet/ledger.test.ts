/** The embedded ledger over HTTP and relays: transactions, refusals and the answers to both. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { openSchnorr } from '../../src/crypto/schnorr.ts'
import { delegationHash } from '../../src/nostr/delegation.ts'
import type { NostrEvent, Signer } from '../../src/nostr/event.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { call, newSigner, openSession, verifyEvent } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { databaseOf } from '../support/database.ts'
import { startFaultyRelay, stopRelays } from '../support/faulty-relay.ts'
import { balancesOf, createStart, newLedger, publish } from '../support/ledger.ts'
import { readRows } from '../support/refusals.ts'
import { closeClients, connectRelay } from '../support/relay-client.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const { manager, issuer, env } = newLedger()
let server: TestServer
beforeAll(async () => {
  server = await startServer({ checkRoots: true, env })
})
afterEach(async () => {
  closeClients()
  await stopRelays()
})
afterAll(async () => {
  await server.stop()
  expect(await databaseOf(server.dataDir).problems()).toEqual([])
  await cleanUp()
})

const start = (from: Signer, to: string, tokens: unknown, more = {}) =>
  createStart({ ledger: manager.pubkey, from, to, tokens, ...more })

/** A new key that was issued this much. */
async function funded(amount: number, token = 'ARS'): Promise<Signer> {
  const signer = newSigner()
  expect(
    (await publish(server.url, start(issuer, signer.pubkey, { [token]: amount }))).status,
  ).toBe(202)
  return signer
}

/** The events of kind 1112 that answer a start event, once there are so many. */
async function answersTo(id: string, count = 1): Promise<NostrEvent[]> {
  const filter = { kinds: [1112], authors: [manager.pubkey], '#e': [id] }
  let found: NostrEvent[] = []
  await until('answered', async () => {
    found = (await call(server.url, '/nostr/fetch', { body: filter })).json
    return found.length >= count
  })
  return found
}

const contentOf = ({ content }: NostrEvent) => JSON.parse(content)

describe('a transaction', () => {
  test('has moved its tokens when the 202 comes, and is answered with ok and both balances', async () => {
    const payer = await funded(1000)
    const shop = newSigner()
    const event = start(
      payer,
      shop.pubkey,
      { ARS: '250' },
      {
        memo: 'Dos cafés',
        tags: [
          ['e', 'ab'.repeat(32)],
          ['bolt11', 'lnbc1x'],
          ['x', 'y'],
        ],
      },
    )
    expect((await publish(server.url, event)).status).toBe(202)
    expect(await balancesOf(server.url, payer)).toEqual({ ARS: 750 })
    expect(await balancesOf(server.url, shop)).toEqual({ ARS: 250 })
    const [ok, ...others] = await answersTo(event.id)
    expect(others).toEqual([])
    expect(ok && verifyEvent(ok)).toBe(true)
    expect(ok).toMatchObject({ pubkey: manager.pubkey, kind: 1112, content: event.content })
    expect(ok?.tags).toEqual([
      ['p', payer.pubkey],
      ['p', shop.pubkey],
      ['e', event.id],
      ['t', 'internal-transaction-ok'],
      ['e', 'ab'.repeat(32)],
      ['bolt11', 'lnbc1x'],
    ])
    const told = async (account: string): Promise<NostrEvent[]> =>
      (
        await call(server.url, '/nostr/fetch', {
          body: { kinds: [31_111], '#d': [`balance:ARS:${account}`] },
        })
      ).json
    await until('told', async () => (await told(shop.pubkey)).length === 1)
    const [balance] = await told(shop.pubkey)
    expect(balance?.tags).toEqual([
      ['p', shop.pubkey],
      ['e', event.id],
      ['d', `balance:ARS:${shop.pubkey}`],
      ['amount', '250'],
    ])
    expect(balance).toMatchObject({ pubkey: manager.pubkey, content: '{}' })
    const before = await told(payer.pubkey)
    expect(before.map(({ tags }) => tags.at(-1))).toEqual([['amount', '750']])
  })

  test('of several tokens moves all of them or none', async () => {
    const payer = await funded(100)
    const shop = newSigner()
    const poor = start(payer, shop.pubkey, { ARS: 50, PTS: 1 })
    await publish(server.url, poor)
    const [error] = await answersTo(poor.id)
    expect(error?.tags.find(([name]) => name === 't')?.[1]).toBe('internal-transaction-error')
    expect(error && contentOf(error)).toEqual({ messages: ['No alcanza el saldo. (PTS)'] })
    expect(await balancesOf(server.url, payer)).toEqual({ ARS: 100 })
    await publish(server.url, start(issuer, payer.pubkey, { PTS: 3 }))
    const memo = 'ahora sí'
    await publish(server.url, start(payer, shop.pubkey, { ARS: 50, PTS: 1 }, { memo }))
    expect(await balancesOf(server.url, shop)).toEqual({ ARS: 50, PTS: 1 })
  })

  test('is settled once, although it arrives repeatedly over HTTP and relays', async () => {
    const payer = await funded(100)
    const shop = newSigner()
    const event = start(payer, shop.pubkey, { ARS: 60 })
    const relay = await connectRelay(server.url)
    await relay.publish(event)
    await Promise.all(Array.from({ length: 20 }, () => publish(server.url, event)))
    await relay.publish(event)
    expect(await balancesOf(server.url, payer)).toEqual({ ARS: 40 })
    expect(await answersTo(event.id)).toHaveLength(1)
  })

  test('that was refused stays refused when its sender has funds later', async () => {
    const payer = newSigner()
    const shop = newSigner()
    const event = start(payer, shop.pubkey, { ARS: 5 })
    await publish(server.url, event)
    await publish(server.url, start(issuer, payer.pubkey, { ARS: 5 }))
    await publish(server.url, event)
    expect(await balancesOf(server.url, payer)).toEqual({ ARS: 5 })
    expect(await answersTo(event.id)).toHaveLength(1)
  })

  test('written to the embedded relay is settled', async () => {
    const payer = await funded(10)
    const shop = newSigner()
    const relay = await connectRelay(server.url)
    await relay.publish(start(payer, shop.pubkey, { ARS: 10 }))
    await until('settled', async () => (await balancesOf(server.url, shop)).ARS === 10)
  })

  test('with amounts beyond a double is exact', async () => {
    const rich = newSigner()
    await publish(server.url, start(issuer, rich.pubkey, { PTS: '900000000000000001' }))
    await publish(server.url, start(issuer, rich.pubkey, { PTS: '2' }))
    expect(await balancesOf(server.url, rich)).toEqual({ PTS: '900000000000000003' })
  })

  test('of a hundred that race for the same funds pays until the funds are used', async () => {
    const payer = await funded(30)
    const shop = newSigner()
    const events = Array.from({ length: 100 }, (_, at) =>
      start(payer, shop.pubkey, { ARS: 1 }, { memo: String(at) }),
    )
    await Promise.all(events.map((event) => publish(server.url, event)))
    expect(await balancesOf(server.url, payer)).toEqual({ ARS: 0 })
    expect(await balancesOf(server.url, shop)).toEqual({ ARS: 30 })
  })
})

describe('a transaction refused with an error event', () => {
  const receiver = newSigner().pubkey
  const engine = openSchnorr()
  const delegator = newSigner()
  const wrong: [name: string, event: () => NostrEvent, message: string][] = [
    [
      'a delegation to somebody else than the ledger',
      () => {
        const secret = Buffer.alloc(32, 7)
        const from = newSigner()
        const conditions = 'kind=1112'
        const hash = delegationHash(from.pubkey, conditions)
        const token = engine.keypair(secret).sign(Uint8Array.fromHex(hash)).toHex()
        const holder = newSigner(secret).pubkey
        const tags = [['delegation', holder, conditions, token]]
        return start(from, receiver, { ARS: 1 }, { tags })
      },
      'La delegación no es válida.',
    ],
    ['no receiver', () => start(issuer, 'x', { ARS: 1 }), 'El destinatario no es válido.'],
    [
      'the sender as receiver',
      () => start(issuer, issuer.pubkey, { ARS: 1 }),
      'El destinatario no es válido.',
    ],
    [
      'no amounts',
      () => start(issuer, receiver, {}),
      'Los montos tienen que ser enteros positivos',
    ],
    [
      'an amount of zero',
      () => start(issuer, receiver, { ARS: 0 }),
      'Los montos tienen que ser enteros positivos',
    ],
    [
      'a negative amount',
      () => start(issuer, receiver, { ARS: -1 }),
      'Los montos tienen que ser enteros positivos',
    ],
    [
      'a fraction',
      () => start(issuer, receiver, { ARS: 1.5 }),
      'Los montos tienen que ser enteros positivos',
    ],
    [
      'a number that is not exact',
      () => start(issuer, receiver, { ARS: 2 ** 53 }),
      'Los montos tienen que ser enteros positivos',
    ],
    [
      'a text that is no number',
      () => start(issuer, receiver, { ARS: '1e3' }),
      'Los montos tienen que ser enteros positivos',
    ],
    [
      'an amount beyond the bound',
      () => start(issuer, receiver, { ARS: '1000000000000000001' }),
      'Los montos tienen que ser enteros positivos',
    ],
    ['a token nobody knows', () => start(issuer, receiver, { USD: 1 }), 'Ese token no existe'],
    [
      'a token of every object',
      () => start(issuer, receiver, { toString: 1 }),
      'Ese token no existe',
    ],
    [
      'more than there is',
      () => start(delegator, receiver, { ARS: 1 }),
      'No alcanza el saldo. (ARS)',
    ],
  ]
  test.each(wrong)('%s', async (_, create, message) => {
    const event = create()
    const { status } = await publish(server.url, event)
    // The gateway has refused an invalid delegation already.
    expect(status).toBe(202)
    const [error] = await answersTo(event.id)
    expect(error?.tags).toContainEqual(['t', 'internal-transaction-error'])
    expect(error?.tags).toContainEqual(['e', event.id])
    expect(error && contentOf(error).messages).toEqual([expect.stringMatching(message)])
  })

  test('expires at relays when its sender has nothing to do with the ledger', async () => {
    const owner = await funded(1)
    for (const [from, expires] of [
      [newSigner(), true],
      [owner, false],
      [issuer, false],
    ] as const) {
      const event = start(from, receiver, { USD: 1 })
      await publish(server.url, event)
      const [error] = await answersTo(event.id)
      const expiration = expires ? String((error?.created_at ?? 0) + 600) : undefined
      expect(error?.tags.find(([name]) => name === 'expiration')?.[1]).toBe(expiration)
    }
  })
})

test('the requests of all strangers together are limited, over HTTP and relays; those of owners are not', async () => {
  const { RATE_LIMIT: _, ...limited } = env as Record<string, string>
  const bounded = await startServer({ checkRoots: true, env: limited })
  const send = (from: Signer) =>
    publish(bounded.url, start(from, manager.pubkey, { ARS: 1 }, { memo: crypto.randomUUID() }))
  const owner = newSigner()
  const issued = start(issuer, owner.pubkey, { ARS: 5 })
  expect((await publish(bounded.url, issued)).status).toBe(202)
  const strangers = Array.from({ length: limits.transactionStrangerBurst + 50 }, () => newSigner())
  const answers = await Promise.all(strangers.map(send))
  const over = answers.filter(({ status }) => status !== 202)
  expect(over.length).toBeGreaterThan(0)
  for (const { status, json, headers } of over) {
    expect({ status, code: json.code }).toEqual({ status: 429, code: 'rate-limited' })
    expect(headers.get('retry-after')).toBe('1')
  }
  const { ledger_refusals: refusals } = await readRows(bounded.dataDir)
  expect(refusals).toHaveLength(strangers.length - over.length)
  for (const known of [owner, issuer]) expect((await send(known)).status).toBe(202)
  await bounded.stop()
})

describe('an event that is ignored', () => {
  const receiver = newSigner().pubkey
  const alone: [name: string, event: () => NostrEvent][] = [
    [
      'an event older than ten minutes',
      () => start(issuer, receiver, { ARS: 1 }, { createdAt: secondsNow() - 610 }),
    ],
    [
      'an event of times to come',
      () => start(issuer, receiver, { ARS: 1 }, { createdAt: secondsNow() + 200 }),
    ],
    [
      'an event for another ledger',
      () => createStart({ ledger: receiver, from: issuer, to: manager.pubkey, tokens: { ARS: 1 } }),
    ],
    [
      'an event of another type',
      () =>
        issuer.sign({
          kind: 1112,
          created_at: secondsNow(),
          tags: [
            ['p', manager.pubkey],
            ['p', receiver],
            ['t', 'x'],
            ['t', 'internal-transaction-start'],
          ],
          content: '{"tokens":{"ARS":1}}',
        }),
    ],
  ]
  test.each(alone)('%s', async (_, create) => {
    const event = create()
    await publish(server.url, event)
    const rows = await databaseOf(server.dataDir).all(
      `SELECT event_id FROM ledger_movements WHERE event_id = ?1
       UNION ALL SELECT event_id FROM ledger_refusals WHERE event_id = ?1`,
      Buffer.from(event.id, 'hex'),
    )
    expect(rows).toEqual([])
  })
})

describe('relays outside', () => {
  test('deliver transactions once, before and after an outage', async () => {
    const there = startFaultyRelay()
    const other = startFaultyRelay()
    const ledger = newLedger()
    const shop = newSigner()
    const issue = (amount: number) =>
      createStart({
        ledger: ledger.manager.pubkey,
        from: ledger.issuer,
        to: shop.pubkey,
        tokens: { ARS: amount },
      })
    const event = issue(5)
    // The stored events are read at the beginning.
    there.stored.push(event)
    other.stored.push(event)
    const outside = await startServer({
      checkRoots: true,
      env: { ...ledger.env, RELAYS: `${there.url},${other.url}` },
    })
    await until('settled', async () => (await balancesOf(outside.url, shop)).ARS === 5)
    const { port } = new URL(there.url)
    await there.stop()
    const back = startFaultyRelay({}, Number(port))
    back.stored.push(issue(7))
    await until('settled', async () => (await balancesOf(outside.url, shop)).ARS === 12)
    await until('told', () => back.stored.some(({ kind }) => kind === 31_111))
    const { code, problems } = await stopAndCheck(outside)
    expect({ code, problems }).toEqual({ code: 0, problems: [] })
  })

  test('cannot deliver a forged transaction', async () => {
    const there = startFaultyRelay()
    const ledger = newLedger()
    const shop = newSigner()
    const good = createStart({
      ledger: ledger.manager.pubkey,
      from: ledger.issuer,
      to: shop.pubkey,
      tokens: { ARS: 1 },
    })
    const forged = { ...good, content: good.content.replace('1', '9'), id: good.id }
    const stolen = {
      ...createStart({
        ledger: ledger.manager.pubkey,
        from: newSigner(),
        to: shop.pubkey,
        tokens: { ARS: 9 },
      }),
      pubkey: ledger.issuer.pubkey,
    }
    there.stored.push(forged, stolen)
    const outside = await startServer({
      checkRoots: true,
      env: { ...ledger.env, RELAYS: there.url },
    })
    await until('asked', () => there.received.some(([type]) => type === 'REQ'))
    const genuine = createStart({
      ledger: ledger.manager.pubkey,
      from: ledger.issuer,
      to: shop.pubkey,
      tokens: { ARS: 2 },
    })
    expect((await publish(outside.url, genuine)).status).toBe(202)
    expect(await balancesOf(outside.url, shop)).toEqual({ ARS: 2 })
  })
})

async function stopAndCheck(target: TestServer) {
  const code = await target.stop()
  const problems = await databaseOf(target.dataDir).problems()
  return { code, problems, dataDir: target.dataDir }
}

describe('GET /api/ledger/balances', () => {
  test('shows a key its own balances and movements, newest first', async () => {
    const payer = await funded(100)
    const shop = newSigner()
    const event = start(payer, shop.pubkey, { ARS: 30 }, { memo: 'Café' })
    await publish(server.url, event)
    const token = await openSession(server.url, payer)
    const path = `/api/ledger/balances/${npubOf(payer.pubkey)}`
    const { status, json } = await call(server.url, path, { token })
    expect(status).toBe(200)
    expect(json).toEqual({
      pubkey: payer.pubkey,
      npub: npubOf(payer.pubkey),
      balances: [{ token: 'ARS', decimals: 2, issuer: npubOf(issuer.pubkey), amount: 70 }],
      movements: [
        {
          id: event.id,
          token: 'ARS',
          amount: -30,
          counterparty: npubOf(shop.pubkey),
          memo: 'Café',
          at: expect.any(Number),
        },
        {
          id: expect.any(String),
          token: 'ARS',
          amount: 100,
          counterparty: npubOf(issuer.pubkey),
          memo: null,
          at: expect.any(Number),
        },
      ],
    })
  })

  test('shows an issuer its own tokens, and nobody else anything', async () => {
    const payer = await funded(100)
    const path = `/api/ledger/balances/${payer.pubkey}`
    expect((await call(server.url, path, { signer: issuer })).json.balances).toHaveLength(1)
    const stranger = await call(server.url, path, { signer: newSigner() })
    expect([stranger.status, stranger.json.code]).toEqual([403, 'account-not-yours'])
    const nobody = await call(server.url, '/api/ledger/balances/x', { signer: issuer })
    expect([nobody.status, nobody.json.code]).toEqual([404, 'account-unknown'])
    expect((await call(server.url, path)).json.reason).toBe('missing')
  })
})

describe('a public service', () => {
  test('accepts the first event of an issuer, and of anybody he pays, but of no stranger', async () => {
    const ledger = newLedger()
    const PUBLIC_URL = 'https://cupones.example'
    const open = await startServer({ checkRoots: true, env: { ...ledger.env, PUBLIC_URL } })
    const customer = newSigner()
    const stranger = newSigner()
    const pay = (from: Signer, to: Signer) =>
      publish(
        open.url,
        createStart({
          ledger: ledger.manager.pubkey,
          from,
          to: to.pubkey,
          tokens: { ARS: 1 },
        }),
      )
    expect((await pay(customer, stranger)).json.code).toBe('not-allowed')
    expect((await pay(ledger.issuer, customer)).status).toBe(202)
    expect((await pay(customer, ledger.manager)).status).toBe(202)
    expect((await pay(stranger, customer)).json.code).toBe('not-allowed')
    const relay = await connectRelay(open.url)
    const start = { ledger: ledger.manager.pubkey, from: ledger.issuer, to: stranger.pubkey }
    const [accepted] = await relay.publish(createStart({ ...start, tokens: { ARS: 2 } }))
    expect(accepted).toBe(true)
    const { dataDir } = await stopAndCheck(open)
    // A key that the settings no longer name, and that owns nothing, is a stranger again.
    const { TOKENS: _, ...env } = ledger.env
    const later = await startServer({ dataDir, env: { ...env, PUBLIC_URL } })
    expect(await databaseOf(later.dataDir).all('SELECT * FROM named_keys')).toEqual([])
    await later.stop()
  })
})

describe('TOKENS', () => {
  test('may not change the terms of a token that has accounts', async () => {
    const ledger = newLedger()
    const first = await startServer({ checkRoots: true, env: ledger.env })
    const event = createStart({
      ledger: ledger.manager.pubkey,
      from: ledger.issuer,
      to: newSigner().pubkey,
      tokens: { ARS: 1 },
    })
    await publish(first.url, event)
    await first.stop()
    const { dataDir } = first
    const changed = `ARS:0:${ledger.issuer.pubkey}`
    expect(startServer({ dataDir, env: { ...ledger.env, TOKENS: changed } })).rejects.toThrow(
      /TOKENS: ARS has accounts with other decimals or another issuer/,
    )
    // The terms of an unused token may change, and it may be removed.
    const free = `PTS:3:${newSigner().pubkey}`
    const again = await startServer({ dataDir, env: { ...ledger.env, TOKENS: free } })
    await again.stop()
  })
})
