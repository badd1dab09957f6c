/** Payments with a ledger elsewhere: its ok commits, its error releases, its silence is not an OK. */
import { afterEach, describe, expect, test } from 'bun:test'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import { cardEvent } from '../support/cards.ts'
import { call, newSigner } from '../support/client.ts'
import { damage, databaseOf } from '../support/database.ts'
import { createEvent } from '../support/events.ts'
import { stopRelays } from '../support/faulty-relay.ts'
import { createStart, publish } from '../support/ledger.ts'
import { startLedgerElsewhere } from '../support/ledger-elsewhere.ts'
import {
  newFundedCard,
  outcomeOf,
  type PaidCard,
  pay,
  payEnv,
  payEvent,
  tap,
} from '../support/payments.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const shop = newSigner()
const npub = npubOf(shop.pubkey)
const tokens = { PESO: 5 }

afterEach(async () => {
  await cleanUp()
  await stopRelays()
})

/** A ledger, a service that uses it, and a card. */
async function open(more: Record<string, string> = {}) {
  const ledger = startLedgerElsewhere()
  const env = { ...payEnv, LEDGER_PUBKEY: ledger.pubkey, RELAYS: ledger.relay.url, ...more }
  const server = await startServer({ checkRoots: true, env })
  const card = await newFundedCard(server, {})
  return { ledger, server, card, env }
}

const request = async (server: TestServer, card: PaidCard, amount = tokens) =>
  payEvent({ k1: await tap(server, card), npub, tokens: amount })

const k1Of = ({ content }: { content: string }) => JSON.parse(content).k1 as string

/** The start event arrives after so long at most. */
async function startAt(ledger: ReturnType<typeof startLedgerElsewhere>, at = 0) {
  await until('started', () => ledger.starts.length > at)
  return ledger.starts[at] as (typeof ledger.starts)[number]
}

/** The holder lets the card pay this much an hour. */
async function limitTo(server: TestServer, card: PaidCard, amount: number): Promise<void> {
  const limit = { name: 'x', description: '', token: 'PESO', amount, delta: 3600 }
  const change = { cards: { [card.uuid]: { limits: [limit] } } }
  const parts = { signer: card.holder, kind: 1112 }
  await publish(server.url, cardEvent('card-config-change', change, parts))
}

async function sound(server: TestServer): Promise<void> {
  await server.stop()
  expect(await databaseOf(server.dataDir).problems()).toEqual([])
}

test('the ok of the ledger is OK, and the same request is OK again without it', async () => {
  const { ledger, server, card } = await open()
  const event = await request(server, card)
  const waiting = pay(server, event)
  const start = await startAt(ledger)
  expect(start.tags[0]).toEqual(['p', ledger.pubkey])
  // While it is in flight nobody else pays with it, and an embedded ledger has not settled.
  const other = await pay(server, payEvent({ k1: k1Of(event), npub, tokens }))
  expect([other.status, other.json.code]).toEqual([400, 'k1-in-flight'])
  expect(await outcomeOf(server, k1Of(event))).toMatchObject({
    status: 'PENDING',
    state: 'pending',
  })
  ledger.ok(start)
  const answer = await waiting
  expect([answer.status, answer.json]).toEqual([200, { status: 'OK' }])
  ledger.always(null)
  expect((await pay(server, event)).json).toEqual({ status: 'OK' })
  expect(ledger.starts).toHaveLength(1)
  expect(await outcomeOf(server, k1Of(event))).toMatchObject({ status: 'OK', state: 'settled' })
  await sound(server)
})

test('the error of the ledger is a final refusal in its words; the k1 and the limits are free again', async () => {
  const { ledger, server, card } = await open()
  await limitTo(server, card, 5)
  ledger.always((start) => ledger.error(start, 'No hay\nsaldo'))
  const event = await request(server, card)
  const refused = await pay(server, event)
  expect([refused.status, refused.json]).toEqual([
    400,
    { status: 'ERROR', reason: 'No hay saldo', code: 'ledger-refused' },
  ])
  ledger.always((start) => ledger.ok(start))
  expect((await pay(server, event)).json).toEqual(refused.json)
  const again = payEvent({ k1: k1Of(event), npub, tokens })
  expect((await pay(server, again)).json).toEqual({ status: 'OK' })
  const more = await pay(server, await request(server, card))
  expect(more.json.code).toBe('limit-exceeded')
  expect(ledger.starts).toHaveLength(2)
  await sound(server)
})

test('only the ledger’s own event answers, and only for its payment', async () => {
  const { ledger, server, card } = await open()
  const waiting = pay(server, await request(server, card))
  const start = await startAt(ledger)
  ledger.ok(start, newSigner())
  ledger.ok({ ...start, id: 'ab'.repeat(32) })
  const forged = { ...ledger.ok(start, newSigner()), pubkey: ledger.pubkey }
  ledger.send(forged)
  await publish(server.url, ledger.ok(start, newSigner()))
  const k1 = k1Of(await request(server, card))
  expect(k1).toHaveLength(22)
  ledger.error(start, 'no')
  expect((await waiting).json.code).toBe('ledger-refused')
})

test('a transaction of somebody else that names this one does not answer it', async () => {
  const { ledger, server, card } = await open()
  const event = await request(server, card)
  const waiting = pay(server, event)
  const start = await startAt(ledger)
  // A ledger repeats the `e` tags of what it is asked for: anybody can have it name any event.
  const [thief, friend] = [newSigner(), newSigner()]
  const parts = { ledger: ledger.pubkey, from: thief, to: friend.pubkey, tokens: { PESO: 1 } }
  const own = createStart({ ...parts, tags: [['e', start.id]] })
  for (const type of ['internal-transaction-ok', 'internal-transaction-error']) {
    const tags = [
      ['p', thief.pubkey],
      ['p', friend.pubkey],
      ['e', own.id],
      ['t', type],
      ['e', start.id],
    ]
    const answer = createEvent({ kind: 1112, signer: ledger.signer, tags, content: own.content })
    expect((await publish(server.url, answer)).status).toBe(202)
  }
  expect(await outcomeOf(server, k1Of(event))).toMatchObject({ state: 'pending' })
  ledger.ok(start)
  expect((await waiting).json).toEqual({ status: 'OK' })
})

test('payments in flight count towards the limits', async () => {
  const { ledger, server, card } = await open()
  await limitTo(server, card, 5)
  const waiting = pay(server, await request(server, card))
  const start = await startAt(ledger)
  const other = await pay(server, await request(server, card, { PESO: 1 }))
  expect([other.status, other.json.code]).toEqual([400, 'limit-exceeded'])
  ledger.ok(start)
  expect((await waiting).json).toEqual({ status: 'OK' })
})

test('a payment that was open when the ledger moved in here expires, and no answer counts', async () => {
  const { ledger, server, card, env } = await open()
  const event = await request(server, card)
  const waiting = pay(server, event)
  const start = await startAt(ledger)
  await server.stop()
  expect((await waiting).json).toEqual({ status: 'PENDING' })
  const { LEDGER_PUBKEY: _, ...here } = env
  const again = await startServer({ dataDir: server.dataDir, env: here })
  await publish(again.url, ledger.ok(start))
  expect(await outcomeOf(again, k1Of(event))).toMatchObject({ state: 'pending' })
  await damage(again.dataDir, 'UPDATE card_payments SET expires_at = expires_at - 121')
  await until('let go', async () => (await outcomeOf(again, k1Of(event))).state === 'released')
  await sound(again)
})

test('another ledger does not answer for a payment of the one before', async () => {
  const { ledger, server, card, env } = await open()
  const event = await request(server, card)
  const waiting = pay(server, event)
  const start = await startAt(ledger)
  await server.stop()
  await waiting
  const other = newSigner()
  const again = await startServer({
    checkRoots: true,
    dataDir: server.dataDir,
    env: { ...env, LEDGER_PUBKEY: other.pubkey },
  })
  expect((await publish(again.url, ledger.ok(start, other))).status).toBe(202)
  expect(await outcomeOf(again, k1Of(event))).toMatchObject({ state: 'pending' })
  await sound(again)
})

test('the answer of the ledger may come over HTTP', async () => {
  const { ledger, server, card } = await open()
  const waiting = pay(server, await request(server, card))
  const start = await startAt(ledger)
  // Its relay does not deliver the answer.
  await ledger.relay.stop()
  const answer = ledger.ok(start)
  expect((await publish(server.url, answer)).status).toBe(202)
  expect((await waiting).json).toEqual({ status: 'OK' })
})

test('without an answer a payment is PENDING, then unknown; a late ok counts and is shown', async () => {
  const { ledger, server, card } = await open()
  await limitTo(server, card, 5)
  const event = await request(server, card)
  const waiting = pay(server, event)
  const start = await startAt(ledger)
  // Twenty seconds and more have gone by.
  await damage(server.dataDir, 'UPDATE card_payments SET created_at = created_at - 30')
  expect(await outcomeOf(server, k1Of(event))).toMatchObject({
    status: 'PENDING',
    state: 'unknown',
  })
  // The start event has been over for a minute: the reservation goes.
  await damage(server.dataDir, 'UPDATE card_payments SET expires_at = expires_at - 121')
  const answer = await waiting
  expect([answer.status, answer.json.code]).toEqual([400, 'ledger-silent'])
  expect(await outcomeOf(server, k1Of(event))).toMatchObject({ status: 'ERROR', state: 'released' })
  // An expired payment no longer counts towards the limits; one that was paid late does.
  const inBetween = await request(server, card)
  ledger.always((other) => ledger.error(other, 'no'))
  expect((await pay(server, inBetween)).json.code).toBe('ledger-refused')
  ledger.ok(start)
  await until('recorded', async () => (await outcomeOf(server, k1Of(event))).state === 'settled')
  expect(await outcomeOf(server, k1Of(event))).toMatchObject({ status: 'OK', late: true })
  expect((await pay(server, event)).json).toEqual({ status: 'OK' })
  const other = await pay(server, payEvent({ k1: k1Of(event), npub, tokens }))
  expect(other.json.code).toBe('k1-used')
  const more = await pay(server, await request(server, card))
  expect(more.json.code).toBe('limit-exceeded')
  await sound(server)
})

test('a waiting caller gets PENDING when the service stops', async () => {
  const { ledger, server, card } = await open()
  const waiting = pay(server, await request(server, card))
  await startAt(ledger)
  const stopped = server.stop()
  expect((await waiting).json).toEqual({ status: 'PENDING' })
  expect(await stopped).toBe(0)
})

describe('after kill -9', () => {
  test('before the ledger answered: its answer is found, although it is older than the start', async () => {
    const { ledger, server, card, env } = await open()
    const event = await request(server, card)
    const waiting = pay(server, event).catch(() => null)
    const start = await startAt(ledger)
    await server.kill()
    expect(await waiting).toBeNull()
    ledger.ok(start)
    const again = await startServer({ dataDir: server.dataDir, env })
    await until('resumed', async () => (await outcomeOf(again, k1Of(event))).state === 'settled')
    expect((await pay(again, event)).json).toEqual({ status: 'OK' })
    expect(ledger.starts).toHaveLength(1)
    await sound(again)
  })

  test('an old answer is queried by its name', async () => {
    const { ledger, server, card, env } = await open()
    const event = await request(server, card)
    const waiting = pay(server, event).catch(() => null)
    const start = await startAt(ledger)
    await server.kill()
    await waiting
    const old = ledger.signer.sign({
      kind: 1112,
      created_at: start.created_at - 3600,
      tags: [
        ['e', start.id],
        ['t', 'internal-transaction-error'],
      ],
      content: '{}',
    })
    ledger.relay.stored.push(old)
    const again = await startServer({ dataDir: server.dataDir, env })
    await until('resumed', async () => (await outcomeOf(again, k1Of(event))).state === 'refused')
    await again.stop()
  })

  test('before the start event left: it leaves after the restart, once', async () => {
    const port = await freePort()
    const signer = newSigner()
    const env = { ...payEnv, LEDGER_PUBKEY: signer.pubkey, RELAYS: `ws://127.0.0.1:${port}` }
    const server = await startServer({ checkRoots: true, env })
    const card = await newFundedCard(server, {})
    const event = await request(server, card)
    const waiting = pay(server, event).catch(() => null)
    await until('reserved', async () => {
      const { status } = await call(server.url, `/card/pay/${k1Of(event)}`)
      return status === 200
    })
    await server.kill()
    await waiting
    const ledger = startLedgerElsewhere(port, signer)
    ledger.always((start) => ledger.ok(start))
    const again = await startServer({ dataDir: server.dataDir, env })
    expect((await pay(again, event)).json).toEqual({ status: 'OK' })
    expect(ledger.starts).toHaveLength(1)
    await sound(again)
  })
})

/** A port nobody listens on now. */
async function freePort(): Promise<number> {
  const probe = Bun.serve({ port: 0, fetch: () => new Response() })
  const { port } = probe
  await probe.stop(true)
  return port as number
}

test('a card can pay from an account elsewhere: only the limits are known here', async () => {
  const { ledger, server, card } = await open()
  ledger.always((start) => ledger.ok(start))
  const events: NostrEvent[] = []
  // Taps of one card come one after the other: a later counter makes the earlier ones old.
  for (let taps = 0; taps < 4; taps++) events.push(await request(server, card))
  const answers = await Promise.all(events.map((event) => pay(server, event)))
  expect(answers.map(({ json }) => json.status)).toEqual(['OK', 'OK', 'OK', 'OK'])
  const ids = ledger.starts.map(({ id }) => id)
  expect(new Set(ids).size).toBe(4)
  await sound(server)
})
