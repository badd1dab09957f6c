/** POST /card/pay, GET /card/pay and the state of a payment, with the embedded ledger. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { delegationHash } from '../../src/nostr/delegation.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import {
  activateCard,
  cardEnv,
  cardEvent,
  delegationOf,
  delegationTag,
  initCard,
  manager,
  newHolder,
  newUid,
  scanPath,
} from '../support/cards.ts'
import { runCommand } from '../support/cli.ts'
import { type Answer, call, type Json, newSigner, verifyEvent } from '../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../support/clock.ts'
import { damage, databaseOf } from '../support/database.ts'
import { balancesOf, createStart, publish } from '../support/ledger.ts'
import {
  createInvoice,
  fund,
  newFundedCard,
  outcomeOf,
  type PaidCard,
  pay,
  payEnv,
  payEvent,
  payInvoice,
  tap,
  tapStandard,
} from '../support/payments.ts'
import { startRacers } from '../support/race.ts'
import { readRows } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let server: TestServer
const shop = newSigner()
const npub = npubOf(shop.pubkey)

beforeAll(async () => {
  server = await startServer({ checkRoots: true, env: payEnv })
})
afterAll(async () => {
  await server.stop()
  expect(await databaseOf(server.dataDir).problems()).toEqual([])
  await cleanUp()
})

const ok = (answer: Answer) =>
  expect({ status: answer.status, body: answer.json }).toEqual({
    status: 200,
    body: { status: 'OK' },
  })

function refused(answer: Answer, status: number, code: string): void {
  const { reason, ...rest } = answer.json
  expect({ status: answer.status, ...rest, named: rest.status }).toMatchObject({
    code,
    named: 'ERROR',
  })
  expect(answer.status).toBe(status)
  expect(reason).toMatch(/^\S.*[.)]$/)
}

/** The holder changes his cards. */
async function configure(card: PaidCard, content: Json): Promise<void> {
  const body = cardEvent('card-config-change', content, { signer: card.holder, kind: 1112 })
  expect((await publish(server.url, body)).status).toBe(202)
}

const limitsOf = (card: PaidCard, ...rows: Json[]) =>
  configure(card, { cards: { [card.uuid]: { limits: rows } } })

async function eventsWith(tag: string, value: string): Promise<NostrEvent[]> {
  const { json } = await call(server.url, '/nostr/fetch', {
    body: { kinds: [1112], [`#${tag}`]: [value] },
  })
  return json
}

describe('a payment', () => {
  test('is OK when the money has moved, and goes to the relays under the delegation', async () => {
    const card = await newFundedCard(server, { PESO: 1000 })
    const k1 = await tap(server, card)
    const event = payEvent({ k1, npub, tokens: { PESO: 300 } })
    ok(await pay(server, event))
    expect(await balancesOf(server.url, card.holder)).toEqual({ PESO: 700 })
    await until('published', async () => (await eventsWith('e', event.id)).length === 2)
    const events = await eventsWith('e', event.id)
    const start = events.find(({ tags }) =>
      tags.some(([, v]) => v === 'internal-transaction-start'),
    )
    expect(start && verifyEvent(start)).toBe(true)
    expect(start).toMatchObject({
      pubkey: manager.pubkey,
      kind: 1112,
      content: '{"tokens":{"PESO":300}}',
    })
    const [ledger, recipient, type, delegation, expiration, cause, ...more] = start?.tags ?? []
    expect([ledger, recipient, type]).toEqual([
      ['p', manager.pubkey],
      ['p', shop.pubkey],
      ['t', 'internal-transaction-start'],
    ])
    const [, delegator = '', conditions = ''] = delegation ?? []
    expect(delegator).toBe(card.holder.pubkey)
    expect(delegationHash(manager.pubkey, conditions)).toHaveLength(64)
    expect(expiration).toEqual(['expiration', String((start?.created_at ?? 0) + 60)])
    expect([cause, more]).toEqual([['e', event.id], []])
    expect(await outcomeOf(server, k1)).toEqual({
      status: 'OK',
      state: 'settled',
      late: false,
      recipient: npub,
      tokens: { PESO: 300 },
      start: start?.id,
      createdAt: expect.any(Number),
      endedAt: expect.any(Number),
    })
  })

  test('accepts a recipient in hex, an event of kind 1112, amounts as text, several tokens', async () => {
    const card = await newFundedCard(server, { PESO: 10, BTC: 20 })
    const k1 = await tap(server, card)
    const content = { k1, pubkey: shop.pubkey, tokens: { PESO: '10', BTC: 5 } }
    ok(await pay(server, payEvent(content, { kind: 1112 })))
    expect(await balancesOf(server.url, card.holder)).toEqual({ PESO: 0, BTC: 15 })
  })

  test('is answered the same for a repeated request, and paid once', async () => {
    const card = await newFundedCard(server, { PESO: 100 })
    const k1 = await tap(server, card)
    const event = payEvent({ k1, npub, tokens: { PESO: 60 } })
    const answers = await Promise.all(Array.from({ length: 10 }, () => pay(server, event)))
    for (const answer of answers) ok(answer)
    expect(await balancesOf(server.url, card.holder)).toEqual({ PESO: 40 })
  })

  test('that was refused is refused in the same way again, and its k1 pays another', async () => {
    const card = await newFundedCard(server, { PESO: 10 })
    const k1 = await tap(server, card)
    const event = payEvent({ k1, npub, tokens: { PESO: 11 } })
    const first = await pay(server, event)
    refused(first, 400, 'funds-insufficient')
    expect(first.json.reason).toBe('No alcanza el saldo. (PESO)')
    expect(await outcomeOf(server, k1)).toMatchObject({
      status: 'ERROR',
      state: 'refused',
      code: 'funds-insufficient',
      start: null,
    })
    await fund(server, card.holder, { PESO: 10 })
    expect((await pay(server, event)).json).toEqual(first.json)
    ok(await pay(server, payEvent({ k1, npub, tokens: { PESO: 11 } })))
    expect((await pay(server, event)).json).toEqual(first.json)
    expect(await outcomeOf(server, k1)).toMatchObject({ status: 'OK', tokens: { PESO: 11 } })
    expect(await balancesOf(server.url, card.holder)).toEqual({ PESO: 9 })
  })

  test('succeeds after more refusals than are remembered', async () => {
    const card = await newFundedCard(server, { PESO: 1 })
    const k1 = await tap(server, card)
    for (let at = 0; at < 25; at++) {
      const answer = await pay(server, payEvent({ k1, npub, tokens: { PESO: 2 } }))
      refused(answer, 400, 'funds-insufficient')
    }
    ok(await pay(server, payEvent({ k1, npub, tokens: { PESO: 1 } })))
  })
})

describe('tills in several processes', () => {
  const racers = startRacers(4)
  afterAll(() => racers.stop())

  /** Each process sends three of these at the same moment. */
  async function race(eventAt: (index: number) => NostrEvent): Promise<Json[]> {
    const lists = [0, 1, 2, 3].map((process) =>
      [0, 1, 2].map((at) => ({ path: '/card/pay', body: eventAt(process * 3 + at) })),
    )
    const answers = (await racers.race(server.url, lists)).flat()
    return answers.map(({ text }) => JSON.parse(text))
  }
  const counted = (answers: Json[]) =>
    Object.fromEntries(
      [...Map.groupBy(answers, ({ status, code }) => code ?? status)].map(([name, list]) => [
        name,
        list.length,
      ]),
    )

  test('pay once with one k1', async () => {
    const card = await newFundedCard(server, { PESO: 100 })
    const k1 = await tap(server, card)
    const answers = await race(() => payEvent({ k1, npub, tokens: { PESO: 1 } }))
    expect(counted(answers)).toEqual({ OK: 1, 'k1-used': 11 })
    expect(await balancesOf(server.url, card.holder)).toEqual({ PESO: 99 })
  })

  test('get one answer for one request, which is paid once', async () => {
    const card = await newFundedCard(server, { PESO: 100 })
    const event = payEvent({ k1: await tap(server, card), npub, tokens: { PESO: 60 } })
    expect(counted(await race(() => event))).toEqual({ OK: 12 })
    expect(await balancesOf(server.url, card.holder)).toEqual({ PESO: 40 })
  })

  test('pay with two cards of one holder until his balance is used', async () => {
    const one = await newFundedCard(server, { PESO: 7 })
    const other = await newFundedCard(server, {}, one.holder)
    const k1s: string[] = []
    for (let at = 0; at < 12; at++) k1s.push(await tap(server, at % 2 ? one : other))
    const answers = await race((at) => payEvent({ k1: k1s[at], npub, tokens: { PESO: 1 } }))
    expect(counted(answers)).toEqual({ OK: 7, 'funds-insufficient': 5 })
    expect(await balancesOf(server.url, one.holder)).toEqual({ PESO: 0 })
  })
})

describe('POST /card/pay refuses, in this order', () => {
  let card: PaidCard
  beforeAll(async () => {
    card = await newFundedCard(server, { PESO: 1000 })
  })

  /** The refusal changes no balance and uses up no k1. */
  async function refuses(event: NostrEvent | string, status: number, code: string): Promise<void> {
    const { ledger_accounts, ledger_movements, card_scans } = await readRows(server.dataDir)
    refused(await call(server.url, '/card/pay', { body: event }), status, code)
    expect(await readRows(server.dataDir)).toMatchObject({
      ledger_accounts,
      ledger_movements,
      card_scans,
    })
  }

  test('an invalid event, another kind or time, or content that is no object', async () => {
    await refuses('[]', 422, 'card-event-invalid')
    const good = payEvent({ k1: 'x' })
    await refuses({ ...good, content: '{}' }, 422, 'card-event-invalid')
    await refuses(payEvent({ k1: 'x' }, { kind: 1 }), 422, 'card-event-invalid')
    await refuses(payEvent({ k1: 'x' }, { createdAt: secondsNow() - 200 }), 422, 'card-event-stale')
    await refuses(payEvent('x'), 422, 'card-content-invalid')
  })

  test('an invalid recipient, amount or k1', async () => {
    const k1 = await tap(server, card)
    await refuses(payEvent({ k1, tokens: { PESO: 1 } }), 400, 'recipient-invalid')
    await refuses(payEvent({ k1, npub: 'x', tokens: { PESO: 1 } }), 400, 'recipient-invalid')
    const amounts = [undefined, {}, [], { PESO: 0 }, { PESO: -1 }, { PESO: 1.5 }, { PESO: '1e3' }]
    for (const tokens of amounts)
      await refuses(payEvent({ k1, npub, tokens }), 400, 'tokens-invalid')
    const tokens = { PESO: 1 }
    await refuses(payEvent({ npub, tokens }), 404, 'k1-unknown')
    await refuses(payEvent({ k1: 'x', npub, tokens }), 404, 'k1-unknown')
    await refuses(payEvent({ k1: 'A'.repeat(22), npub, tokens }), 404, 'k1-unknown')
    const standard = await tapStandard(server, card)
    await refuses(payEvent({ k1: standard, npub, tokens }), 404, 'k1-unknown')
    ok(await pay(server, payEvent({ k1, npub, tokens })))
    await refuses(payEvent({ k1, npub, tokens }), 400, 'k1-used')
  })

  test('an expired k1', async () => {
    const k1 = await tap(server, card)
    await damage(server.dataDir, "UPDATE card_scans SET expires_at = 1 WHERE state = 'free'")
    await refuses(payEvent({ k1, npub, tokens: { PESO: 1 } }), 400, 'k1-expired')
  })

  const changed: [name: string, sql: (uuid: string) => string, status: number, code: string][] = [
    ['a card that was deleted', () => 'deleted_at = 1', 404, 'card-unknown'],
    ['a card that its holder disabled', () => 'enabled = 0', 400, 'card-disabled'],
    ['a card that the operator blocked', () => 'blocked = 1', 400, 'card-disabled'],
    [
      'a card nobody holds any more',
      () => 'holder = NULL, delegation = NULL, activated_at = NULL',
      400,
      'card-inactive',
    ],
    ['a card that changed hands', () => `holder = x'${newSigner().pubkey}'`, 400, 'holder-changed'],
  ]
  test.each(changed)('%s since the tap', async (_, set, status, code) => {
    const other = await newFundedCard(server, { PESO: 5 })
    const k1 = await tap(server, other)
    await damage(server.dataDir, `UPDATE cards SET ${set(other.uuid)} WHERE uuid = '${other.uuid}'`)
    await refuses(payEvent({ k1, npub, tokens: { PESO: 1 } }), status, code)
  })

  test('an expired delegation', async () => {
    const holder = newHolder()
    const uid = newUid()
    const until = secondsNow() + briefSeconds
    const conditions = `kind=1112&created_at>${until - 100}&created_at<${until}`
    const { otc } = await initCard(server, uid)
    await activateCard(server, holder, otc, delegationOf(holder, conditions))
    await fund(server, holder, { PESO: 5 })
    const k1 = await tap(server, { uid, uuid: '', holder, counter: 1 })
    await untilSecond(until)
    await refuses(payEvent({ k1, npub, tokens: { PESO: 1 } }), 400, 'delegation-over')
  })

  test('a merchant outside of the holder’s list of trusted ones, when there is one', async () => {
    const other = await newFundedCard(server, { PESO: 5 })
    const k1 = await tap(server, other)
    await configure(other, { 'trusted-merchants': [{ pubkey: newSigner().pubkey }] })
    await refuses(payEvent({ k1, npub, tokens: { PESO: 1 } }), 400, 'recipient-not-trusted')
    await untilSecond(secondsNow() + 1)
    await configure(other, { 'trusted-merchants': [{ pubkey: shop.pubkey }] })
    ok(await pay(server, payEvent({ k1, npub, tokens: { PESO: 1 } })))
  })

  test('an unknown token, a limit, an empty account, and the holder himself', async () => {
    const other = await newFundedCard(server, { PESO: 50 })
    await limitsOf(other, { name: 'x', description: '', token: 'PESO', amount: 40, delta: 0 })
    const k1 = await tap(server, other)
    await refuses(payEvent({ k1, npub, tokens: { USD: 1, PESO: 41 } }), 400, 'token-unknown')
    await refuses(payEvent({ k1, npub, tokens: { PESO: 41 } }), 400, 'limit-exceeded')
    await refuses(payEvent({ k1, npub, tokens: { BTC: 1, PESO: 40 } }), 400, 'funds-insufficient')
    const self = { k1, pubkey: other.holder.pubkey, tokens: { PESO: 1 } }
    await refuses(payEvent(self), 400, 'ledger-refused')
    ok(await pay(server, payEvent({ k1, npub, tokens: { PESO: 40 } })))
  })
})

describe('limits', () => {
  test('apply over their window, each of them, and count paid amounts only', async () => {
    const card = await newFundedCard(server, { PESO: 1000, BTC: 1000 })
    await limitsOf(
      card,
      { name: 'hora', description: '', token: 'PESO', amount: 100, delta: 3600 },
      { name: 'vez', description: '', token: 'PESO', amount: 60, delta: 0 },
    )
    const once = async (tokens: Json) =>
      pay(server, payEvent({ k1: await tap(server, card), npub, tokens }))
    refused(await once({ PESO: 61 }), 400, 'limit-exceeded')
    ok(await once({ PESO: 60 }))
    refused(await once({ PESO: 41 }), 400, 'limit-exceeded')
    // A refused payment counts towards no limit, and other tokens have none.
    ok(await once({ PESO: 40, BTC: 500 }))
    refused(await once({ PESO: 1 }), 400, 'limit-exceeded')
    ok(await once({ BTC: 500 }))
    // The window moves on.
    await damage(server.dataDir, 'UPDATE card_spends SET at = at - 3600')
    ok(await once({ PESO: 60 }))
  })

  test('restart for a new holder of a card, but not for a former holder', async () => {
    const card = await newFundedCard(server, { PESO: 1000 })
    const row = { name: 'día', description: '', token: 'PESO', amount: 50, delta: 86_400 }
    const once = async (held: PaidCard, amount: number) =>
      pay(server, payEvent({ k1: await tap(server, held), npub, tokens: { PESO: amount } }))
    const giveTo = async (holder: PaidCard['holder']) => {
      const code = `otc-${crypto.randomUUID()}`
      const options = { dataDir: server.dataDir, env: payEnv }
      expect((await runCommand(['cards', 'otc', card.uuid, code], options)).code).toBe(0)
      expect((await activateCard(server, holder, code)).status).toBe(201)
      const held = Object.assign(card, { holder })
      await limitsOf(held, row)
      return held
    }
    await limitsOf(card, row)
    const first = card.holder
    ok(await once(card, 40))
    const second = newHolder()
    await fund(server, second, { PESO: 1000 })
    await giveTo(second)
    ok(await once(card, 30))
    refused(await once(card, 21), 400, 'limit-exceeded')
    await giveTo(first)
    refused(await once(card, 11), 400, 'limit-exceeded')
    ok(await once(card, 10))
  })

  test('apply when many payments race', async () => {
    const card = await newFundedCard(server, { PESO: 1000 })
    await limitsOf(card, { name: 'h', description: '', token: 'PESO', amount: 5, delta: 60 })
    const k1s: string[] = []
    for (let at = 0; at < 12; at++) k1s.push(await tap(server, card))
    const answers = await Promise.all(
      k1s.map((k1) => pay(server, payEvent({ k1, npub, tokens: { PESO: 1 } }))),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(await balancesOf(server.url, card.holder)).toEqual({ PESO: 995 })
  })

  test('are shown by the scan as remaining amounts', async () => {
    const card = await newFundedCard(server, { PESO: 1000 })
    await limitsOf(card, { name: 'h', description: '', token: 'PESO', amount: 50, delta: 60 })
    ok(await pay(server, payEvent({ k1: await tap(server, card), npub, tokens: { PESO: 20 } })))
    const k1 = await tap(server, card)
    const newest = 'SELECT maxima FROM card_scans ORDER BY id DESC LIMIT 1'
    const [scan] = await databaseOf(server.dataDir).all<{ maxima: string }>(newest)
    expect(JSON.parse(scan?.maxima ?? '').PESO).toBe('30')
    expect(k1).toHaveLength(22)
  })
})

describe('an invoice (LUD-03)', () => {
  test('is paid to the gateway, and its start event contains it', async () => {
    const card = await newFundedCard(server, { BTC: 50_000 })
    const k1 = await tapStandard(server, card)
    const pr = createInvoice({ amount: '100n' })
    ok(await payInvoice(server, k1, pr))
    ok(await payInvoice(server, k1, pr.toUpperCase()))
    expect(await balancesOf(server.url, card.holder)).toEqual({ BTC: 40_000 })
    const { start, recipient, tokens } = await outcomeOf(server, k1)
    expect([recipient, tokens]).toEqual([npubOf(cardEnv.GATEWAY_PUBKEY), { BTC: 10_000 }])
    await until('published', async () => (await eventsWith('e', start)).length === 1)
    const [answer] = await eventsWith('e', start)
    expect(answer?.tags).toContainEqual(['bolt11', pr])
  })

  test('is not paid by a HEAD request, which a preview may send', async () => {
    const card = await newFundedCard(server, { BTC: 50_000 })
    const query = `k1=${await tapStandard(server, card)}&pr=${createInvoice()}`
    for (const path of [`/card/pay?${query}`, scanPath(card.uid, card.counter)]) {
      const { status, headers } = await fetch(server.url + path, { method: 'HEAD' })
      expect([status, headers.get('Allow')?.includes('HEAD')]).toEqual([405, false])
    }
    expect(await balancesOf(server.url, card.holder)).toEqual({ BTC: 50_000 })
    await tapStandard(server, card)
    ok(await call(server.url, `/card/pay?${query}`))
  })

  const wrong: [name: string, pr: () => string, status: number, code: string][] = [
    ['that is none', () => 'lnbc1x', 400, 'invoice-invalid'],
    ['that is empty', () => '', 400, 'invoice-invalid'],
    ['of a test network', () => createInvoice({ network: 'tb' }), 400, 'invoice-invalid'],
    ['whose checksum is wrong', () => `${createInvoice().slice(0, -1)}b`, 400, 'invoice-invalid'],
    ['without a payment hash', () => createInvoice({ paymentHash: null }), 400, 'invoice-invalid'],
    ['that is too long', () => `lnbc${'q'.repeat(3000)}`, 400, 'invoice-invalid'],
    ['without an amount', () => createInvoice({ amount: '' }), 400, 'invoice-amountless'],
    [
      'that has expired',
      () => createInvoice({ createdAt: secondsNow() - 100, expiry: 60 }),
      400,
      'invoice-expired',
    ],
    [
      'that expired an hour after it was made, since it does not say',
      () => createInvoice({ createdAt: secondsNow() - 3601 }),
      400,
      'invoice-expired',
    ],
    ['of more than the tap allows', () => createInvoice({ amount: '1u' }), 400, 'amount-too-large'],
  ]
  test('is refused', async () => {
    const card = await newFundedCard(server, { BTC: 50_000 })
    const k1 = await tapStandard(server, card)
    for (const [name, pr, status, code] of wrong) {
      const answer = await payInvoice(server, k1, pr())
      expect({ name, status: answer.status, code: answer.json.code }).toEqual({
        name,
        status,
        code,
      })
    }
    refused(await payInvoice(server, 'A'.repeat(22), createInvoice()), 404, 'k1-unknown')
    ok(await payInvoice(server, k1, createInvoice({ amount: '10n' })))
    refused(await payInvoice(server, k1, createInvoice()), 400, 'k1-used')
  })

  test('is paid by one card only', async () => {
    const cards = [
      await newFundedCard(server, { BTC: 50_000 }),
      await newFundedCard(server, { BTC: 50_000 }),
    ]
    const pr = createInvoice()
    const answers = await Promise.all(
      cards.map(async (card) => payInvoice(server, await tapStandard(server, card), pr)),
    )
    expect(answers.map(({ json }) => json.code ?? 'OK').sort()).toEqual(['OK', 'invoice-taken'])
  })

  test('needs a gateway', async () => {
    const { GATEWAY_PUBKEY: _, ...env } = payEnv
    const without = await startServer({ checkRoots: true, env })
    refused(await payInvoice(without, 'A'.repeat(22), createInvoice()), 400, 'no-gateway')
    await without.stop()
  })
})

describe('the state of a k1', () => {
  test('is unknown for a k1 that was not issued, and open for one without a payment', async () => {
    for (const k1 of ['x', 'A'.repeat(22)]) {
      refused(await call(server.url, `/card/pay/${k1}`), 404, 'k1-unknown')
    }
    const k1 = await tap(server, await newFundedCard(server, { PESO: 10 }))
    refused(await call(server.url, `/card/pay/${k1}`), 404, 'payment-unknown')
    ok(await pay(server, payEvent({ k1, npub, tokens: { PESO: 1 } })))
    expect(await outcomeOf(server, k1)).toMatchObject({ state: 'settled' })
  })

  test('may be queried as often as a till likes, but hardly guessed', async () => {
    const limited = await startServer({ checkRoots: true, env: cardEnv })
    const k1 = await tap(limited, await newFundedCard(limited, { PESO: 10 }))
    const ask = async (text: string) => (await call(limited.url, `/card/pay/${text}`)).json.code
    const many = async (text: string) => {
      const codes = await Promise.all(Array.from({ length: 150 }, () => ask(text)))
      return new Set(codes)
    }
    expect(await many(k1)).toEqual(new Set(['payment-unknown']))
    expect(await many('A'.repeat(22))).toEqual(new Set(['k1-unknown', 'rate-limited']))
    expect(await many(k1)).toEqual(new Set(['payment-unknown']))
    await limited.stop()
  })
})

test('a start event in the name of a holder is accepted from the gateway only', async () => {
  const card = await newFundedCard(server, { PESO: 10 })
  const thief = newSigner()
  const tags = [delegationTag(card.holder, thief)]
  const event = createStart({
    ledger: manager.pubkey,
    from: thief,
    to: thief.pubkey,
    tokens: { PESO: 10 },
    tags,
  })
  expect((await publish(server.url, event)).status).toBe(202)
  expect(await balancesOf(server.url, card.holder)).toEqual({ PESO: 10 })
})
