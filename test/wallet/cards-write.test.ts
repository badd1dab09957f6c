/** Writing tags: POST, PATCH and DELETE /ntag424. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as nip44 from 'nostr-tools/nip44'
import { createKeyDerivation } from '../../src/wallet/cards/tag.ts'
import {
  activateCard,
  cardEnv,
  cardEvent,
  contentOf,
  initCard,
  manager,
  managerSecret,
  masterKey,
  newCard,
  newHolder,
  newUid,
  scanPath,
  tapQuery,
} from '../support/cards.ts'
import {
  type Answer,
  type CallOptions,
  call,
  type Json,
  newSigner,
  verifyEvent,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { damage, databaseOf } from '../support/database.ts'
import { createEvent } from '../support/events.ts'
import { publish } from '../support/ledger.ts'
import { fund } from '../support/payments.ts'
import { readRows } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const stranger = newSigner()
let server: TestServer

beforeAll(async () => {
  server = await startServer({ checkRoots: true, env: { ...cardEnv, RATE_LIMIT: 'off' } })
})
afterAll(cleanUp)

const init = (content: unknown, parts = {}, options: CallOptions = {}) =>
  call(server.url, '/ntag424', { body: cardEvent('card-init-request', content, parts), ...options })
const patch = (query: string, content: unknown, parts = {}) =>
  call(server.url, `/ntag424?${query}`, {
    method: 'PATCH',
    body: cardEvent('card-init-request', content, parts),
  })
const remove = (content: unknown, parts = {}, options: CallOptions = {}) =>
  call(server.url, '/ntag424', {
    method: 'DELETE',
    body: cardEvent('card-delete-request', content, parts),
    ...options,
  })

/** The content of an answer that is encrypted to the manager, who is the writer. */
function opened({ json }: Answer): Json {
  const key = nip44.getConversationKey(Uint8Array.fromHex(managerSecret), manager.pubkey)
  return JSON.parse(nip44.decrypt(json.content, key))
}

/** A refusal in the wallet's envelope that changes no row. */
async function refuses(ask: () => Promise<Answer>, status: number, code: string): Promise<void> {
  const before = await readRows(server.dataDir)
  const answer = await ask()
  expect({ status: answer.status, envelope: answer.json?.status, code: answer.json?.code }).toEqual(
    {
      status,
      envelope: 'ERROR',
      code,
    },
  )
  expect(answer.json.reason).toMatch(/^\S.*\.$/)
  expect(await readRows(server.dataDir)).toEqual(before)
}

describe('POST /ntag424', () => {
  test('answers with the keys that follow from UID and version, in an event of the manager', async () => {
    const uid = newUid()
    const design = { name: 'Feria de diciembre' }
    const event = cardEvent('card-init-request', { cid: uid.toUpperCase(), ctr: 3, design })
    const answer = await call(server.url, '/ntag424/', { body: event })
    expect(answer.status).toBe(201)
    expect(verifyEvent(answer.json)).toBe(true)
    expect(answer.json).toMatchObject({
      pubkey: manager.pubkey,
      kind: 21_111,
      tags: [
        ['p', event.pubkey],
        ['e', event.id],
        ['t', 'card-init-response'],
      ],
    })
    const keys = createKeyDerivation(Uint8Array.fromHex(masterKey)).keysOf(
      Uint8Array.fromHex(uid),
      1,
    )
    const said = contentOf(answer)
    expect(said).toEqual({
      cid: uid,
      ...Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, key.toHex()])),
      ctr: 3,
      otc: expect.stringMatching(/^[\w-]{22}$/),
      designUuid: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    })
    const other = await initCard(server, newUid(), { design })
    expect(other.designUuid).toBe(said.designUuid)
    expect(other.otc).not.toBe(said.otc)
  })

  test('answers the same again for the same tag', async () => {
    const uid = newUid()
    const first = await initCard(server, uid)
    expect(await initCard(server, uid)).toEqual(first)
    // The counter in a request moves the stored one up, never down.
    expect((await initCard(server, uid, { ctr: 9 })).ctr).toBe(9)
    expect((await initCard(server, uid, { ctr: 5 })).ctr).toBe(9)
    const uuid = crypto.randomUUID()
    expect((await initCard(server, uid, { design: { uuid, name: 'x' } })).designUuid).toBe(uuid)
  })

  test('encrypts the answer to a writer that asks for it', async () => {
    const uid = newUid()
    const tags = [['encrypted']]
    const answer = await init({ cid: uid }, { tags })
    expect(answer.text).not.toContain((await initCard(server, uid)).k0)
    expect(opened(answer)).toEqual(await initCard(server, uid))
  })

  test('encrypts it to the writer also for a repetition of the very same event', async () => {
    for (const tags of [[], [['encrypted']]]) {
      const event = cardEvent('card-init-request', { cid: newUid() }, { tags })
      const ask = () => call(server.url, '/ntag424', { body: event })
      const first = await ask()
      const said = tags.length === 0 ? contentOf(first) : opened(first)
      const again = await ask()
      expect([again.status, verifyEvent(again.json)]).toEqual([201, true])
      expect(again.json.tags).toEqual(first.json.tags)
      expect(opened(again)).toEqual(said)
      for (const name of ['k0', 'k1', 'k2', 'k3', 'k4', 'otc']) {
        expect(again.text).not.toContain(said[name])
      }
      expect((await ask()).text).toBe(again.text)
      if (tags.length > 0) expect(again.text).toBe(first.text)
    }
  })

  test('sends keys in clear on this machine only, unless the connection is https', async () => {
    const forwarded = { headers: { 'X-Forwarded-For': '203.0.113.9' } }
    const tag = () => ({ cid: newUid() })
    const heard = cardEvent('card-init-request', tag())
    const ask = (options: CallOptions = {}) =>
      call(server.url, '/ntag424', { body: heard, ...options })
    expect((await ask(forwarded)).json.code).toBe('encryption-needed')
    expect((await ask(forwarded)).json.code).toBe('encryption-needed')
    // An eavesdropper gets no answer over another connection.
    expect((await ask()).json.code).toBe('event-repeated')
    expect((await init(tag(), { tags: [['encrypted']] }, forwarded)).status).toBe(201)
    const behind = await startServer({
      checkRoots: true,
      env: { ...cardEnv, TRUSTED_PROXIES: '127.0.0.1' },
    })
    for (const [scheme, status] of [
      ['https', 201],
      ['http', 400],
    ] as const) {
      const body = cardEvent('card-init-request', tag())
      const headers = { 'X-Forwarded-For': '203.0.113.9', 'X-Forwarded-Proto': scheme }
      expect((await call(behind.url, '/ntag424', { body, headers })).status).toBe(status)
    }
  })

  test('refuses in this order, and writes nothing', async () => {
    const cid = newUid()
    const good = { cid }
    for (const body of ['', 'x', '[]', {}, { ...cardEvent('x', good), sig: '0'.repeat(128) }]) {
      await refuses(
        () => call(server.url, '/ntag424', { method: 'POST', body }),
        422,
        'card-event-invalid',
      )
    }
    const invalid = [422, 'card-event-invalid'] as const
    await refuses(() => init(good, { kind: 1 }), ...invalid)
    const typed = cardEvent('card-delete-request', good)
    await refuses(() => call(server.url, '/ntag424', { body: typed }), ...invalid)
    const elsewhere = manager.sign({
      kind: 21_111,
      created_at: secondsNow(),
      tags: [['p', stranger.pubkey]],
      content: JSON.stringify(good),
    })
    await refuses(() => call(server.url, '/ntag424', { body: elsewhere }), ...invalid)
    for (const seconds of [-200, 200]) {
      const parts = { createdAt: secondsNow() + seconds, signer: stranger }
      await refuses(() => init('x', parts), 422, 'card-event-stale')
    }
    await refuses(() => init('x', { signer: stranger }), 422, 'card-content-invalid')
    await refuses(() => init(good, { signer: stranger }), 403, 'card-writer-only')
    for (const wrong of [
      {},
      { cid: 5 },
      { cid: '04' },
      { cid: `${cid}00` },
      { cid, ctr: -1 },
      { cid, ctr: '1' },
      { cid, ctr: 0x1000000 },
      { cid, version: 0 },
      { cid, version: 256 },
      { cid, design: 'x' },
      { cid, design: { uuid: 'x' } },
      { cid, design: { name: 'x'.repeat(81) } },
      { cid, design: { name: '\ud800' } },
      { cid, design: { name: '\u2800' } },
      { cid, design: { name: 'Feria\u2066' } },
      { cid, design: { name: null } },
    ]) {
      await refuses(() => init(wrong), 422, 'card-content-invalid')
    }
    // Keys that are on the tag already come with the counter that it has.
    await refuses(() => init({ cid, version: 2 }), 409, 'card-counter-unknown')
    expect((await init({ cid, version: 2, ctr: 7 })).status).toBe(201)
    await refuses(() => init({ cid, version: 1 }), 422, 'card-content-invalid')
    const last = newUid()
    expect((await init({ cid: last, version: 255, ctr: 0 })).status).toBe(201)
    expect((await remove({ cid: last })).status).toBe(200)
    await refuses(() => init({ cid: last }), 409, 'card-versions-over')
  })

  test('is limited to the keys of CARD_WRITERS, when there are any', async () => {
    const writer = newSigner()
    const listed = await startServer({
      checkRoots: true,
      env: { ...cardEnv, CARD_WRITERS: writer.pubkey },
    })
    const ask = (signer: typeof writer) => {
      const body = cardEvent('card-init-request', { cid: newUid() }, { signer })
      return call(listed.url, '/ntag424', { body })
    }
    expect((await ask(writer)).status).toBe(201)
    expect((await ask(manager)).json.code).toBe('card-writer-only')
  })

  test('is logged for every read of keys; neither keys nor codes are in the log or the file', async () => {
    const uid = newUid()
    const said = await initCard(server, uid)
    await remove({ cid: uid })
    const lines = () => server.output().split('\n')
    const found = () =>
      lines().filter((line) => line.includes('card.keys-read') && line.includes(uid))
    await until('both lines are read', () => found().length >= 2)
    const readings = found()
    expect(readings.map((line) => JSON.parse(line).why)).toEqual(['init', 'delete'])
    expect(readings.map((line) => JSON.parse(line).level)).toEqual(['warn', 'warn'])
    const disk = await databaseOf(server.dataDir).content()
    for (const name of ['k0', 'k1', 'k2', 'k3', 'k4', 'otc']) {
      const bytes = Buffer.from(said[name], name === 'otc' ? 'base64url' : 'hex').toString('latin1')
      const found = [server.output().includes(said[name])]
      found.push(disk.includes(said[name]), disk.includes(bytes))
      expect({ name, found }).toEqual({ name, found: [false, false, false] })
    }
  })
})

describe('PATCH /ntag424', () => {
  test('links a code to the tapped card; a repetition changes nothing', async () => {
    const uid = newUid()
    const { otc: first } = await initCard(server, uid)
    const otc = `folleto ${uid}`
    expect((await patch(tapQuery(uid, 1), { otc })).status).toBe(204)
    expect((await patch(tapQuery(uid, 2), { otc })).status).toBe(204)
    expect((await initCard(server, uid)).otc).toBeNull()
    const holder = newHolder()
    expect((await activateCard(server, holder, first)).json.code).toBe('otc-unknown')
    expect((await activateCard(server, holder, otc)).status).toBe(201)
    expect((await patch(tapQuery(uid, 3), { otc })).status).toBe(204)
  })

  test('is refused when it names another card than the tapped one', async () => {
    const [uid, other] = [newUid(), newUid()]
    await initCard(server, uid)
    const { otc: untouched } = await initCard(server, other)
    const otc = `cartel ${uid}`
    const wrong = await patch(tapQuery(other, 1), { otc, cid: uid })
    expect([wrong.status, wrong.json.code, wrong.json.field]).toEqual([
      422,
      'card-content-invalid',
      'cid',
    ])
    expect((await initCard(server, other)).otc).toBe(untouched)
    expect((await patch(tapQuery(uid, 1), { otc, cid: uid.toUpperCase() })).status).toBe(204)
    expect((await initCard(server, uid)).otc).toBeNull()
  })

  test('does not accept the service’s own answer as a request of a writer', async () => {
    const uid = newUid()
    await initCard(server, uid)
    const thief = newHolder()
    await fund(server, thief, { PESO: 1 })
    const own = createEvent({
      kind: 1112,
      signer: thief,
      tags: [
        ['p', manager.pubkey],
        ['p', manager.pubkey],
        ['t', 'internal-transaction-start'],
      ],
      content: JSON.stringify({ tokens: { PESO: 1 }, otc: 'ganzúa' }),
    })
    expect((await publish(server.url, own)).status).toBe(202)
    const filter = { kinds: [1112], authors: [manager.pubkey], '#e': [own.id] }
    const ask = async () => (await call(server.url, '/nostr/fetch', { body: filter })).json
    await until('answered', async () => (await ask()).length === 1)
    const [body] = await ask()
    expect([body.pubkey, JSON.parse(body.content).otc]).toEqual([manager.pubkey, 'ganzúa'])
    const query = tapQuery(uid, 1)
    const asWriter = () => call(server.url, `/ntag424?${query}`, { method: 'PATCH', body })
    await refuses(asWriter, 422, 'card-event-invalid')
    expect((await activateCard(server, thief, 'ganzúa')).json.code).toBe('otc-unknown')
  })

  test('refuses in this order', async () => {
    const [uid, other] = [newUid(), newUid()]
    await initCard(server, uid)
    await initCard(server, other)
    const otc = `volante ${uid}`
    const good = tapQuery(uid, 1)
    await refuses(
      () => patch('', { otc }, { kind: 1, signer: stranger }),
      422,
      'card-event-invalid',
    )
    await refuses(() => patch('', 'x', { createdAt: 5 }), 422, 'card-event-stale')
    await refuses(() => patch('', 'x', { signer: stranger }), 422, 'card-content-invalid')
    await refuses(() => patch('', { otc: '' }, { signer: stranger }), 403, 'card-writer-only')
    const lengths = [0, 1, 11, 129].map((length) => ({ otc: 'x'.repeat(length) }))
    for (const wrong of [{}, { otc: 5 }, ...lengths, { otc, cid: 5 }]) {
      await refuses(() => patch(good, wrong), 422, 'card-content-invalid')
    }
    await refuses(() => patch('', { otc }), 400, 'tap-invalid')
    await refuses(() => patch(tapQuery(uid, 1, 2), { otc }), 400, 'tap-invalid')
    await refuses(() => patch(tapQuery(newUid(), 1), { otc }), 404, 'card-unknown')
    expect((await patch(good, { otc })).status).toBe(204)
    await refuses(() => patch(good, { otc }), 400, 'tap-used')
    // The following requests use the tap up: the counter has moved.
    expect((await patch(tapQuery(uid, 2), { otc: `${otc}x` })).json.code).toBe('card-linked')
    expect((await patch(tapQuery(other, 1), { otc })).json.code).toBe('otc-linked')
    await refuses(() => patch(tapQuery(other, 1), { otc }), 400, 'tap-used')
    const held = await newCard(server)
    expect((await patch(tapQuery(held.uid, 1), { otc: `${otc}y` })).json.code).toBe('card-linked')
  })
})

describe('DELETE /ntag424', () => {
  test('returns the keys to wipe the tag with, also repeatedly, and the card stops working', async () => {
    const { uid, otc, holder } = await newCard(server)
    const written = await initCard(server, uid)
    const answer = await remove({ cid: uid })
    expect([answer.status, answer.json.tags[2]]).toEqual([200, ['t', 'card-delete-response']])
    const said = contentOf(answer)
    for (const name of ['cid', 'k0', 'k1', 'k2', 'k3', 'k4']) expect(said[name]).toBe(written[name])
    expect(contentOf(await remove({ cid: uid }))).toEqual(said)
    const event = cardEvent('card-delete-request', { cid: uid })
    const ask = () => call(server.url, '/ntag424', { method: 'DELETE', body: event })
    expect(contentOf(await ask())).toEqual(said)
    const again = await ask()
    expect([again.status, opened(again), again.text.includes(said.k0)]).toEqual([200, said, false])
    expect((await call(server.url, scanPath(uid, 1))).json.code).toBe('card-unknown')
    expect((await activateCard(server, holder, otc)).json.code).toBe('otc-unknown')
  })

  test('gives other keys to a tag that is written again, whose old taps are refused', async () => {
    const { uid } = await newCard(server)
    await remove({ cid: uid })
    const { k0, otc } = await initCard(server, uid)
    const keys = createKeyDerivation(Uint8Array.fromHex(masterKey)).keysOf(
      Uint8Array.fromHex(uid),
      2,
    )
    expect(k0).toBe(keys.k0.toHex())
    await activateCard(server, newHolder(), otc)
    expect((await call(server.url, scanPath(uid, 50, 1))).json.code).toBe('tap-invalid')
    expect((await call(server.url, scanPath(uid, 1, 2))).status).toBe(200)
  })

  test('refuses in this order', async () => {
    const cid = newUid()
    await initCard(server, cid)
    await refuses(() => remove({ cid }, { kind: 1, signer: stranger }), 422, 'card-event-invalid')
    // An init that somebody overheard deletes nothing.
    const heard = cardEvent('card-init-request', { cid })
    await refuses(
      () => call(server.url, '/ntag424', { method: 'DELETE', body: heard }),
      422,
      'card-event-invalid',
    )
    const untyped = manager.sign({
      kind: 21_111,
      created_at: secondsNow(),
      tags: [],
      content: JSON.stringify({ cid }),
    })
    expect((await call(server.url, '/ntag424', { body: untyped })).status).toBe(201)
    await refuses(
      () => call(server.url, '/ntag424', { method: 'DELETE', body: untyped }),
      409,
      'event-repeated',
    )
    await refuses(() => remove('x', { createdAt: 5 }), 422, 'card-event-stale')
    await refuses(() => remove({ cid: 'x' }, { signer: stranger }), 403, 'card-writer-only')
    await refuses(() => remove({ cid: 'x' }), 422, 'card-content-invalid')
    const forwarded = { headers: { 'X-Forwarded-For': '203.0.113.9' } }
    expect((await remove({ cid }, {}, forwarded)).json.code).toBe('encryption-needed')
    await refuses(() => remove({ cid: newUid() }), 404, 'card-unknown')
  })
})

describe('after a restore', () => {
  test('a card is accepted again with a higher counter only', async () => {
    const { uid } = await newCard(server)
    expect((await call(server.url, scanPath(uid, 5))).status).toBe(200)
    await damage(
      server.dataDir,
      "UPDATE cards SET counter_known = 0; INSERT INTO facts VALUES ('restored', '1')",
    )
    await refuses(() => call(server.url, scanPath(uid, 6)), 400, 'card-unconfirmed')
    for (const ctr of [0, 5]) await refuses(() => init({ cid: uid, ctr }), 409, 'card-counter-low')
    // The keys can be read, so that the writer can read the counter.
    expect((await initCard(server, uid)).ctr).toBe(5)
    await refuses(() => call(server.url, scanPath(uid, 9)), 400, 'card-unconfirmed')
    expect((await initCard(server, uid, { ctr: 8 })).ctr).toBe(8)
    await refuses(() => call(server.url, scanPath(uid, 8)), 400, 'tap-used')
    expect((await call(server.url, scanPath(uid, 9))).status).toBe(200)
    // A tag that is not in the backup does not begin at zero unasked.
    const unknown = newUid()
    await refuses(() => init({ cid: unknown }), 409, 'card-counter-unknown')
    expect((await init({ cid: unknown, ctr: 0 })).status).toBe(201)
    // Nor does a deleted one: it may have got the next keys in the lost time.
    expect((await remove({ cid: unknown })).status).toBe(200)
    await refuses(() => init({ cid: unknown }), 409, 'card-counter-unknown')
    expect((await init({ cid: unknown, ctr: 7 })).status).toBe(201)
    await damage(
      server.dataDir,
      "UPDATE cards SET counter_known = 1; DELETE FROM facts WHERE name = 'restored'",
    )
  })
})
