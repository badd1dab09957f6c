/** Holders: POST /card, their queries, and their changes. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  buildCardActivationEvent,
  buildCardConfigEvent,
  createConfig,
  extendedMultiNip04Encrypt,
} from '@lawallet/utils'
import { requestCardActivation } from '@lawallet/utils/actions'
import * as nip04 from 'nostr-tools/nip04'
import * as nip44 from 'nostr-tools/nip44'
import { limits } from '../../src/base/limits.ts'
import type { Signer } from '../../src/nostr/event.ts'
import {
  activateCard,
  asking,
  cardEnv,
  cardEvent,
  contentOf,
  delegationOf,
  delegationTag,
  type Holder,
  initCard,
  manager,
  newCard,
  newHolder,
  newUid,
  scanPath,
} from '../support/cards.ts'
import { type Answer, call, newSigner, verifyEvent } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { databaseOf } from '../support/database.ts'
import { cardActivation } from '../support/published-events.ts'
import { startRacers } from '../support/race.ts'
import { readRows } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

let server: TestServer
beforeAll(async () => {
  const perDay = 'Por día;Lo de un día;PESO;5000;86400'
  server = await startServer({
    checkRoots: true,
    env: { ...cardEnv, DEFAULT_LIMITS: perDay, RATE_LIMIT: 'off' },
  })
})
afterAll(cleanUp)

const activation = (content: object, parts = {}) =>
  call(server.url, '/card', { body: cardEvent('card-activation-request', content, parts) })

async function refuses(ask: () => Promise<Answer>, status: number, code: string): Promise<void> {
  const before = await readRows(server.dataDir)
  const { status: got, json } = await ask()
  expect({ status: got, envelope: json?.status, code: json?.code }).toEqual({
    status,
    envelope: 'ERROR',
    code,
  })
  expect(await readRows(server.dataDir)).toEqual(before)
}

describe('POST /card', () => {
  test('makes the sender of the code the holder, with the limits of a new card', async () => {
    const uid = newUid()
    const holder = newHolder()
    const { otc } = await initCard(server, uid, { design: { name: 'Luna' } })
    const answer = await activateCard(server, holder, otc)
    expect(answer.status).toBe(201)
    expect(verifyEvent(answer.json)).toBe(true)
    expect(answer.json).toMatchObject({ kind: 21_111, pubkey: manager.pubkey })
    expect(answer.json.tags.map(([name]: string[]) => name)).toEqual(['p', 'e', 't'])
    expect(answer.json.tags[2][1]).toBe('card-activate-response')
    expect(contentOf(answer)).toEqual({
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Luna',
      description: '',
      enabled: true,
      holderPubKey: holder.pubkey,
      ntag424Cid: uid,
      limits: [
        {
          name: 'Por día',
          description: 'Lo de un día',
          token: 'PESO',
          amount: 5000,
          delta: 86_400,
        },
      ],
    })
  })

  test('repeated by the holder returns the same card; the very same event the same bytes', async () => {
    const holder = newHolder()
    const { otc } = await initCard(server, newUid())
    const content = { otc, delegation: delegationOf(holder) }
    const event = cardEvent('card-activation-request', content, { signer: holder })
    const first = await call(server.url, '/card/', { body: event })
    const again = await call(server.url, '/card', { body: event })
    expect([again.status, again.text]).toEqual([201, first.text])
    expect(contentOf(await activateCard(server, holder, otc))).toEqual(contentOf(first))
    await refuses(() => activateCard(server, newHolder(), otc), 404, 'otc-unknown')
  })

  test('leaves neither delegation nor code on the disk or in the log', async () => {
    const holder = newHolder()
    const { otc } = await initCard(server, newUid())
    const delegation = delegationOf(holder)
    expect((await activateCard(server, holder, otc, delegation)).status).toBe(201)
    const disk = await databaseOf(server.dataDir).content()
    const { conditions, token } = delegation
    const bytes = Buffer.from(token, 'hex').toString('latin1')
    const written = [disk, server.output()].join()
    const found = [conditions, token, bytes, otc].map((secret) => written.includes(secret))
    expect(found).toEqual([false, false, false, false])
  })

  test('succeeds once, however many requests race for the code', async () => {
    const racers = startRacers(4)
    try {
      const { otc } = await initCard(server, newUid())
      const lists = Array.from({ length: 4 }, () => {
        const holder = newHolder()
        const content = { otc, delegation: delegationOf(holder) }
        const body = () => cardEvent('card-activation-request', content, { signer: holder })
        return Array.from({ length: 4 }, () => ({ path: '/card', body: body() }))
      })
      const answers = await racers.race(server.url, lists)
      const winners = answers.filter((list) => list.some(({ status }) => status === 201))
      expect(winners).toHaveLength(1)
      // The winner's own repetitions succeed, too.
      expect(winners[0]?.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    } finally {
      await racers.stop()
    }
  })

  test('refuses in this order, and writes nothing', async () => {
    const holder = newHolder()
    const { otc } = await initCard(server, newUid())
    const good = delegationOf(holder)
    const parts = { signer: holder }
    await refuses(() => activation({}, { ...parts, kind: 1112 }), 422, 'card-event-invalid')
    const untyped = cardEvent('x', {}, parts)
    await refuses(() => call(server.url, '/card', { body: untyped }), 422, 'card-event-invalid')
    await refuses(() => activation({}, { ...parts, createdAt: 5 }), 422, 'card-event-stale')
    for (const wrong of [undefined, '', 5, 'x'.repeat(129)]) {
      const content = { otc: wrong, delegation: good }
      await refuses(() => activation(content, parts), 422, 'card-content-invalid')
    }
    const now = secondsNow()
    const [after, before] = [`created_at>${now - 9}`, `created_at<${now + 99}`]
    const bad = [
      undefined,
      null,
      5,
      {},
      { ...good, token: '0'.repeat(128) },
      { ...good, token: good.token.toUpperCase() },
      { ...good, conditions: `${good.conditions} ` },
      delegationOf(newHolder()),
      delegationOf(holder, good.conditions, newSigner().pubkey),
      ...[
        `${after}&${before}`,
        `kind=1&${after}&${before}`,
        `kind=1112&kind=1112&${after}&${before}`,
        `kind=1112&kind=1&${after}&${before}`,
        `kind=1112&${after}`,
        `kind=1112&${before}`,
        `kind=1112&${after}&${after}&${before}`,
        `kind=1112&${after}&${before}&${before}`,
        `kind=1112&${after}&${before}&x=1`,
        `kind=1112&created_at>${now - 99}&created_at<${now - 9}`,
        `kind=1112&created_at>${now + 50}&${before}`,
        '',
      ].map((conditions) => delegationOf(holder, conditions)),
    ]
    for (const delegation of bad) {
      await refuses(() => activation({ otc, delegation }, parts), 422, 'card-delegation-invalid')
    }
    const unknown = { otc: 'nadie', delegation: good }
    await refuses(() => activation(unknown, parts), 404, 'otc-unknown')
    expect((await activation({ otc, delegation: good }, parts)).status).toBe(201)
  })

  test('accepts the form of a real activation event, which is only too old', async () => {
    const event = cardActivation
    expect(verifyEvent(event)).toBe(true)
    await refuses(() => call(server.url, '/card', { body: event }), 422, 'card-event-stale')
    const changed = { ...event, content: event.content.replace('weird', 'other') }
    await refuses(() => call(server.url, '/card', { body: changed }), 422, 'card-event-invalid')
  })

  test('works with the unchanged npm client of LaWallet', async () => {
    const { uid, holder } = await (async () => {
      const fresh = { uid: newUid(), holder: newHolder() }
      const { otc } = await initCard(server, fresh.uid)
      const config = createConfig({
        federationId: 'localhost',
        endpoints: { gateway: server.url, lightningDomain: server.url },
        modulePubkeys: { card: manager.pubkey, ledger: manager.pubkey, urlx: manager.pubkey },
      })
      const event = await buildCardActivationEvent(otc, fresh.holder.secret.toHex(), config)
      expect(await requestCardActivation(event, config)).toBe(true)
      expect(await requestCardActivation({ ...event, content: '{}' }, config)).toBe(false)
      return fresh
    })()
    const { json } = await call(server.url, scanPath(uid, 1), asking('identityQuery'))
    expect(json.accountPubKey).toBe(holder.pubkey)
  })
})

describe('a query of a holder', () => {
  const ask = (what: string, signer: Holder, parts = {}) =>
    call(server.url, `/card/${what}/request`, {
      body: cardEvent(`card-${what}-request`, '', { signer, ...parts }),
    })

  test('returns the state and settings of his own cards, and no other', async () => {
    const holder = newHolder()
    const cards = [await newCard(server, holder), await newCard(server, holder)]
    await newCard(server)
    const data = await ask('data', holder)
    expect(data.status).toBe(200)
    expect(Object.keys(data.json)).toEqual(cards.map(({ uuid }) => uuid))
    expect(data.json[cards[0]?.uuid as string]).toEqual({
      design: { uuid: expect.any(String), name: 'Cuponera', description: '' },
    })
    expect((await ask('config', holder)).json).toEqual({
      'trusted-merchants': [],
      cards: Object.fromEntries(
        cards.map(({ uuid }) => [
          uuid,
          {
            name: 'Cuponera',
            description: '',
            status: 'ENABLED',
            limits: [
              {
                name: 'Por día',
                description: 'Lo de un día',
                token: 'PESO',
                amount: 5000,
                delta: 86_400,
              },
            ],
          },
        ]),
      ),
    })
    expect((await ask('data', newHolder())).json).toEqual({})
  })

  test.each(['data', 'config'])('is sent as an event of the holder, once (%s)', async (what) => {
    const holder = newHolder()
    const path = `/card/${what}/request`
    await refuses(() => ask(what, holder, { kind: 1 }), 422, 'card-event-invalid')
    const other = cardEvent('card-activation-request', '', { signer: holder })
    await refuses(() => call(server.url, path, { body: other }), 422, 'card-event-invalid')
    await refuses(() => ask(what, holder, { createdAt: 5 }), 422, 'card-event-stale')
    const body = cardEvent(`card-${what}-request`, {}, { signer: holder })
    expect((await call(server.url, path, { body })).status).toBe(200)
    await refuses(() => call(server.url, path, { body }), 409, 'event-repeated')
  })

  test('works also when strangers have filled their part of the remembered requests', async () => {
    const { holder } = await newCard(server)
    const uid = newUid()
    const { otc } = await initCard(server, uid)
    const load = (rows: number) =>
      databaseOf(server.dataDir).count('request_load', [{ keys: [1], by: { rows } }])
    await load(limits.requestsOfStrangersMax)
    await refuses(() => ask('data', newHolder()), 503, 'overloaded')
    expect((await ask('data', holder)).status).toBe(200)
    expect((await activateCard(server, newHolder(), otc)).status).toBe(201)
    await load(-limits.requestsOfStrangersMax)
  })

  test.each(['data', 'config'])('is refused for a key that he delegated to (%s)', async (what) => {
    const { holder, uuid } = await newCard(server)
    const federation = newSigner()
    const asked = (signer: Signer) => ({
      signer,
      kind: 1112,
      tags: [delegationTag(holder, signer)],
    })
    const path = `/card/${what}/request`
    const asks = (signer: Signer) => () =>
      call(server.url, path, { body: cardEvent(`card-${what}-request`, '', asked(signer)) })
    await refuses(asks(federation), 422, 'card-event-invalid')
    await refuses(asks(holder), 422, 'card-event-invalid')
    const answer = await asks(manager)()
    expect([answer.status, answer.text.includes(uuid)]).toEqual([200, true])
  })

  test('does not reset or donate a card', async () => {
    for (const [method, path] of [
      ['POST', '/card/reset/request'],
      ['POST', '/card/reset/claim'],
      ['PATCH', '/card'],
    ] as const) {
      const answer = await call(server.url, path, { method, body: {} })
      expect([answer.status, answer.json.status, answer.json.code]).toEqual([
        501,
        'ERROR',
        'not-supported',
      ])
    }
  })
})

describe('a change by a holder', () => {
  type Change = { signer?: Signer; createdAt?: number; kind?: number; tags?: string[][] }
  const change = (content: unknown, { kind = 1112, ...parts }: Change) =>
    cardEvent('card-config-change', content, { kind, ...parts })
  const publish = (body: object) => call(server.url, '/nostr/publish', { body })
  const configOf = async (signer: Holder) => {
    const body = cardEvent('card-config-request', '', { signer })
    return (await call(server.url, '/card/config/request', { body })).json
  }
  const limit = { name: 'Por pago', description: 'x', token: 'PESO', amount: '70', delta: 0 }

  test('is read from a published event, part by part, and applies to his own cards only', async () => {
    const { holder, uuid, uid } = await newCard(server)
    const other = await newCard(server)
    const merchant = newSigner().pubkey
    const wanted = {
      'trusted-merchants': [{ pubkey: merchant }],
      cards: {
        [uuid]: { name: 'La mía', description: 'Para el café', limits: [limit] },
        [other.uuid]: { status: 'DISABLED' },
      },
    }
    expect((await publish(change(wanted, { signer: holder }))).status).toBe(202)
    expect(await configOf(holder)).toEqual({
      'trusted-merchants': [{ pubkey: merchant }],
      cards: {
        [uuid]: {
          name: 'La mía',
          description: 'Para el café',
          status: 'ENABLED',
          limits: [{ ...limit, amount: 70 }],
        },
      },
    })
    expect((await configOf(other.holder)).cards[other.uuid].status).toBe('ENABLED')
    await publish(change({ cards: { [uuid]: { status: 'DISABLED' } } }, { signer: holder }))
    expect((await call(server.url, scanPath(uid, 1))).json.code).toBe('card-disabled')
    const kept = await configOf(holder)
    expect(kept.cards[uuid]).toMatchObject({ name: 'La mía', limits: [{ amount: 70 }] })
    const on = { cards: { [uuid]: { status: 'ENABLED', limits: [] } }, 'trusted-merchants': [] }
    await publish(change(on, { signer: holder }))
    expect((await call(server.url, scanPath(uid, 2))).status).toBe(200)
    expect(await configOf(holder)).toMatchObject({
      'trusted-merchants': [],
      cards: { [uuid]: { limits: [] } },
    })
  })

  test('is accepted plain, encrypted to the manager, and in the format of LaWallet', async () => {
    const { holder, uuid } = await newCard(server)
    const text = (name: string) => JSON.stringify({ cards: { [uuid]: { name } } })
    const named = async () => (await configOf(holder)).cards[uuid].name
    const key = nip44.getConversationKey(holder.secret, manager.pubkey)
    await publish(change(nip44.encrypt(text('NIP-44'), key), { signer: holder }))
    expect(await named()).toBe('NIP-44')
    const encrypt = async (pubkey: string, message: string) =>
      nip04.encrypt(holder.secret, pubkey, message)
    const receivers = [manager.pubkey, holder.pubkey]
    const multi = await extendedMultiNip04Encrypt(
      text('múltiple ☕'),
      holder.pubkey,
      receivers,
      encrypt,
    )
    const { content, tags } = await buildCardConfigEvent(multi)
    const event = holder.sign({ kind: 1112, created_at: secondsNow(), tags, content })
    expect((await publish(event)).status).toBe(202)
    expect(await named()).toBe('múltiple ☕')
    // With any byte of it changed, nothing happens.
    const parts = JSON.parse(content)
    const twisted = [
      { ...parts, mac: parts.mac.replace(/^./, (first: string) => (first === 'A' ? 'B' : 'A')) },
      { ...parts, enc: parts.enc.slice(4) },
      { ...parts, key: { [holder.pubkey]: parts.key[holder.pubkey] } },
      { ...parts, key: { [manager.pubkey]: 'x?iv=y' } },
      { ...parts, alg: 'none' },
      { ...parts, enc: 5 },
      { ...parts, key: null },
    ]
    await publish(change(text('otra vez'), { signer: holder }))
    for (const wrong of twisted) {
      expect((await publish(change(wrong, { signer: holder }))).status).toBe(202)
      expect(await named()).toBe('otra vez')
    }
  })

  test('applies once, never after a newer one, and not when it is old or of somebody else', async () => {
    const { holder, uuid } = await newCard(server)
    const named = async () => (await configOf(holder)).cards[uuid].name
    const call = (name: string) => ({ cards: { [uuid]: { name } } })
    const now = secondsNow()
    const first = change(call('uno'), { signer: holder, createdAt: now - 50 })
    await publish(first)
    await publish(change(call('dos'), { signer: holder, createdAt: now - 40 }))
    await publish(first)
    expect(await named()).toBe('dos')
    await publish(change(call('tarde'), { signer: holder, createdAt: now - 45 }))
    expect(await named()).toBe('dos')
    // Two within a second apply in the order of their arrival.
    await publish(change(call('tres'), { signer: holder, createdAt: now - 40 }))
    expect(await named()).toBe('tres')
    const unheard = [
      change(call('x'), { signer: holder, createdAt: now + 1000 }),
      change(call('x'), { signer: holder, createdAt: now - 90_000 }),
      change(call('x'), { signer: holder, kind: 1 }),
      change(call('x'), { signer: newHolder() }),
      holder.sign({
        kind: 1112,
        created_at: now,
        tags: [['t', 'card-config-change']],
        content: JSON.stringify(call('x')),
      }),
    ]
    for (const event of unheard) await publish(event)
    expect(await named()).toBe('tres')
  })

  test('cannot be delegated to another service', async () => {
    const { holder, uuid } = await newCard(server)
    const federation = newSigner()
    const before = await configOf(holder)
    const wanted = { cards: { [uuid]: { limits: [] } }, 'trusted-merchants': [] }
    for (const signer of [federation, holder]) {
      const event = change(wanted, { signer, tags: [delegationTag(holder, signer)] })
      expect((await publish(event)).status).toBe(202)
      expect(await configOf(holder)).toEqual(before)
    }
    const ours = change(wanted, { signer: manager, tags: [delegationTag(holder)] })
    expect((await publish(ours)).status).toBe(202)
    expect((await configOf(holder)).cards[uuid].limits).toEqual([])
  })

  test('applies to the card whose UID it names, or to none', async () => {
    const { holder, uuid, uid } = await newCard(server)
    const second = await newCard(server, holder)
    const other = await newCard(server)
    const before = await configOf(holder)
    const parts = { name: 'otra' }
    const merchants = { 'trusted-merchants': [{ pubkey: newSigner().pubkey }] }
    for (const wrong of [
      { cid: second.uid, cards: { [uuid]: parts } },
      { cid: other.uid, cards: { [uuid]: parts } },
      { cid: uid, cards: { [uuid]: parts, [second.uuid]: parts } },
      { cid: 'x', cards: { [uuid]: parts } },
      { cid: 5, cards: { [uuid]: parts } },
      { cid: other.uid, ...merchants },
      { cards: { [uuid]: { ...parts, cid: second.uid } } },
      { cards: { [uuid]: { ...parts, cid: '' } } },
      { cards: { [uuid]: parts, [second.uuid]: { ...parts, cid: uid } } },
      { cid: uid, cards: { [uuid]: { ...parts, cid: second.uid } } },
    ]) {
      expect((await publish(change(wrong, { signer: holder }))).status).toBe(202)
      expect(await configOf(holder)).toEqual(before)
    }
    const named = async () => (await configOf(holder)).cards[uuid].name
    const rightly = (name: string) => [
      { cid: uid, cards: { [uuid]: { name } } },
      { cid: uid.toUpperCase(), cards: { [uuid]: { name, cid: uid } } },
      { cid: null, cards: { [uuid]: { name, cid: uid }, [other.uuid]: { cid: uid } } },
    ]
    for (const [at, right] of rightly('').entries()) {
      const content = JSON.parse(JSON.stringify(right).replace('"name":""', `"name":"${at}"`))
      await publish(change(content, { signer: holder }))
      expect(await named()).toBe(String(at))
    }
    await publish(change({ cid: uid, ...merchants }, { signer: holder }))
    expect(await configOf(holder)).toMatchObject(merchants)
  })

  test('changes nothing when any part of it is invalid', async () => {
    const { holder, uuid } = await newCard(server)
    const before = await configOf(holder)
    const card = (parts: unknown) => ({ cards: { [uuid]: parts } })
    const senseless = [
      'x',
      5,
      [],
      { cards: 5 },
      { cards: [] },
      { 'trusted-merchants': 'x' },
      { 'trusted-merchants': [{ pubkey: 'x' }] },
      { 'trusted-merchants': [null] },
      { 'trusted-merchants': Array.from({ length: 101 }, () => ({ pubkey: manager.pubkey })) },
      card(null),
      card({ name: 'bien', status: 'OFF' }),
      card({ name: 5 }),
      card({ name: 'x'.repeat(81) }),
      card({ name: '\ud800' }),
      card({ name: '\u200b' }),
      card({ name: ' ' }),
      card({ name: 'La\u202emía' }),
      card({ description: '\u202e' }),
      card({ limits: [{ ...limit, name: '\u3164' }] }),
      card({ description: 'x'.repeat(501) }),
      card({ limits: 'x' }),
      card({ limits: [{ ...limit, amount: -1 }] }),
      card({ limits: Array.from({ length: 21 }, () => limit) }),
    ]
    for (const content of senseless) {
      expect((await publish(change(content, { signer: holder }))).status).toBe(202)
    }
    expect(await configOf(holder)).toEqual(before)
  })

  test('is read from the embedded relay, too', async () => {
    const { holder, uuid } = await newCard(server)
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/relay`)
    await new Promise((resolve) => socket.addEventListener('open', resolve))
    const event = change({ cards: { [uuid]: { name: 'por relay' } } }, { signer: holder })
    socket.send(JSON.stringify(['EVENT', event]))
    await until('heard', async () => (await configOf(holder)).cards[uuid].name === 'por relay')
    socket.close()
  })
})
