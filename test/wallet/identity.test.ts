import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { npubOf } from '../../src/nostr/keys.ts'
import { signupIssuer } from '../../src/wallet/identities/signup.ts'
import { delegationTag, newHolder } from '../support/cards.ts'
import { call, newSigner } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { damage } from '../support/database.ts'
import { createEvent } from '../support/events.ts'
import {
  expectIdentityRefusal,
  identityEvent,
  managerEnv,
  managerSecret,
  newIdentityNonce,
  walletObject,
} from '../support/identities.ts'
import { readRows } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const manager = newSigner(managerSecret)
const taken = newSigner()
let server: TestServer
let open: TestServer
let burned: string

beforeAll(async () => {
  server = await startServer({
    checkRoots: true,
    env: { ...managerEnv, IDENTITY_RESERVED: 'Gerente,cocina' },
  })
  open = await startServer({ checkRoots: true, env: { ...managerEnv, IDENTITY_SELF_SIGNUP: 'on' } })
  burned = await newNonce()
  const wanted = { name: 'tomada', pubkey: taken.pubkey }
  expect((await register(identityEvent(manager, burned, wanted))).status).toBe(200)
})
afterAll(cleanUp)

const newNonce = (of = server) => newIdentityNonce(of.url, manager)
const register = (body: unknown, of = server) => call(of.url, '/api/identity', { body })
type Account = { name: string; nonce_id: number }
const accounts = async (of = server) => (await readRows(of.dataDir)).accounts as Account[]

describe('an identity', () => {
  test('binds a name to a key, and burns its nonce', async () => {
    const holder = newSigner()
    const nonce = await newNonce()
    const state = () => call(server.url, `/api/nonce/${nonce}`)
    expect(await state()).toMatchObject({ status: 200, json: { status: true } })
    const wanted = { name: 'Ana.Perez-1_', pubkey: holder.pubkey, lud16: walletObject() }
    const { status, json } = await register(identityEvent(manager, nonce, wanted))
    expect({ status, ...json }).toEqual({
      status: 200,
      success: true,
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      pubkey: holder.pubkey,
    })
    expect(await state()).toMatchObject({
      status: 410,
      json: {
        status: false,
        success: false,
        reason: 'Nonce already used',
        code: 'nonce-burned',
      },
    })
    expect((await accounts()).at(-1)).toMatchObject({
      uuid: json.id,
      name: 'ana.perez-1_',
      pubkey: new Uint8Array(Buffer.from(holder.pubkey, 'hex')),
      lud16: JSON.stringify(walletObject()),
      allow_vouchers: 1,
      created_by: new Uint8Array(Buffer.from(manager.pubkey, 'hex')),
    })
  })

  test('can be requested with an npub, with an object as content, and without a type', async () => {
    const holder = newSigner()
    const wanted = { name: 'eva', pubkey: npubOf(holder.pubkey) }
    const tags = [['nonce', await newNonce()]]
    const event = identityEvent(manager, null, wanted, { tags })
    const answer = await register({ ...event, content: wanted })
    expect(answer.json).toMatchObject({ success: true, pubkey: holder.pubkey })
  })

  test('is distinguished from a free name', async () => {
    const { status, json } = await call(server.url, '/api/identity?name=TOMADA')
    expect({ status, names: json.names }).toEqual({ status: 200, names: { tomada: taken.pubkey } })
    const free = await call(server.url, '/api/identity?name=libre')
    expectIdentityRefusal(free, 404, 'identity-unknown', 'Not found')
  })

  test('is registered by a delegation for this purpose, and by no other of an issuer', async () => {
    const issuer = newHolder(managerSecret)
    const phone = newSigner()
    const nonce = await newNonce()
    const wanted = { name: 'delegada', pubkey: newSigner().pubkey }
    const asked = (conditions: string, to: string) => {
      const tags = [['nonce', nonce], ['p', to], delegationTag(issuer, phone, conditions)]
      return identityEvent(phone, null, wanted, { tags })
    }
    for (const event of [
      asked(`created_at>${secondsNow() - 60}`, manager.pubkey),
      asked('kind=1112&kind=1', manager.pubkey),
      asked('kind=1112', phone.pubkey),
    ]) {
      const invalid = [400, 'identity-event-invalid', 'Should send as NOSTR event'] as const
      expectIdentityRefusal(await register(event), ...invalid)
    }
    expect((await register(asked('kind=1112', manager.pubkey))).status).toBe(200)
  })

  test('makes its holder a member of the embedded relay', async () => {
    const shop = await startServer({
      checkRoots: true,
      env: { ...managerEnv, PUBLIC_URL: 'https://cupones.example' },
    })
    const holder = newSigner()
    const publish = () =>
      call(shop.url, '/nostr/publish', { body: createEvent({ signer: holder }) })
    expect((await publish()).status).toBe(403)
    const wanted = { name: 'ana', pubkey: holder.pubkey }
    const nonce = await newNonce(shop)
    expect((await register(identityEvent(manager, nonce, wanted), shop)).status).toBe(200)
    expect((await publish()).status).toBe(202)
  })
})

describe('a nonce that nobody made', () => {
  test('is unknown', async () => {
    const { status, json } = await call(server.url, '/api/nonce/nobody-made-this-one')
    expect(status).toBe(404)
    const reason = 'Nonce not found'
    expect(json).toEqual({ status: false, success: false, reason, code: 'nonce-unknown' })
  })

  test('cannot be guessed without limit', async () => {
    const victim = await startServer({ checkRoots: true })
    const guess = (path: string) => call(victim.url, path)
    const answers = await Promise.all(
      Array.from({ length: 130 }, (_, at) => guess(`/api/nonce/guess-${at}`)),
    )
    const limited = answers.filter(({ status }) => status === 429)
    expect(limited.length).toBeGreaterThan(10)
    expect(limited[0]?.json).toMatchObject({ success: false, code: 'rate-limited' })
    expect((await guess('/api/identity?name=x')).status).toBe(404)
  })
})

describe('a request for an identity is refused, in this order', () => {
  const stranger = newSigner()
  const fresh = () => ({ name: `n${crypto.randomUUID()}`, pubkey: newSigner().pubkey })
  const noEvent = [400, 'identity-event-invalid', 'Should send as NOSTR event'] as const
  const badName = [400, 'identity-name-invalid', 'Name not valid'] as const
  const badKey = [400, 'identity-pubkey-invalid', 'Pubkey not valid'] as const
  const badWallet = [400, 'identity-lud16-invalid', 'Lud16 not valid'] as const
  const denied = [403, 'identity-not-authorized', 'Pubkey not authorized'] as const
  const reserved = [403, 'identity-reserved', 'Name is reserved'] as const
  type Refused = readonly [number, string, string]
  type Case = [name: string, body: () => unknown, refused: Refused]

  // Each is wrong in the later checks, too: the first in the order is reported.
  const cases: Case[] = [
    ['no body', () => '', noEvent],
    ['no JSON', () => 'x', noEvent],
    ['a list', () => [], noEvent],
    ['no event', () => fresh(), noEvent],
    [
      'a wrong signature',
      () => ({ ...identityEvent(stranger, null, {}), sig: '0'.repeat(128) }),
      noEvent,
    ],
    ['another kind', () => identityEvent(stranger, null, fresh(), { kind: 21_111 }), noEvent],
    [
      'another type',
      () => identityEvent(stranger, null, fresh(), { tags: [['t', 'create-nonce']] }),
      noEvent,
    ],
    [
      'a content that is no object',
      () => identityEvent(stranger, null, {}, { content: '' }),
      noEvent,
    ],
    ['no name', () => identityEvent(stranger, null, { pubkey: stranger.pubkey }), noEvent],
    ['no key', () => identityEvent(stranger, null, { name: 'x y' }), noEvent],
    [
      'an old date',
      () => identityEvent(stranger, null, fresh(), { createdAt: 1_700_000_000 }),
      [400, 'identity-event-stale', 'Should send as NOSTR event'],
    ],
    ...['', 'x y', 'ñandú', 'a'.repeat(65), 7, { a: 1 }].map((name): Case => {
      const wanted = { name, pubkey: 'x' }
      return [
        `the name ${JSON.stringify(name)}`,
        () => identityEvent(stranger, null, wanted),
        badName,
      ]
    }),
    // The last two lie off the curve: nobody can sign with them, or open a sealed text for them.
    ...['', 'x', 'a'.repeat(63), 7, '0'.repeat(64), 'f'.repeat(64)].map((pubkey): Case => {
      const wanted = { name: 'x', pubkey, lud16: 1 }
      return [
        `the key ${JSON.stringify(pubkey)}`,
        () => identityEvent(stranger, null, wanted),
        badKey,
      ]
    }),
    [
      'a wallet that is none',
      () => identityEvent(stranger, null, { ...fresh(), lud16: 'x' }),
      badWallet,
    ],
    ['a stranger', () => identityEvent(stranger, null, fresh()), denied],
    [
      'a stranger who signs for himself while sign-up is closed',
      () => identityEvent(stranger, null, { name: 'x', pubkey: stranger.pubkey }),
      denied,
    ],
    [
      'no nonce',
      () => identityEvent(manager, null, { name: 'admin', pubkey: taken.pubkey }),
      [403, 'identity-nonce-missing', 'Nonce is missing'],
    ],
    [
      'an unknown nonce',
      () => identityEvent(manager, 'nobody-made-this-one', { name: 'admin', pubkey: taken.pubkey }),
      [403, 'identity-nonce-unknown', 'Nonce not found'],
    ],
    [
      'a burned nonce',
      () => identityEvent(manager, burned, { name: 'admin', pubkey: taken.pubkey }),
      [403, 'identity-nonce-burned', 'Nonce already used'],
    ],
  ]
  for (const [name, body, refused] of cases) {
    test(`${refused[0]}: ${name}`, async () => {
      const before = await readRows(server.dataDir)
      expectIdentityRefusal(await register(body()), ...refused)
      expect(await readRows(server.dataDir)).toEqual(before)
    })
  }

  test('403: a name that is reserved for the service or its operator', async () => {
    const nonce = await newNonce()
    for (const name of ['Admin', '_', '..', '...', 'www', 'gerente', 'COCINA']) {
      const wanted = { name, pubkey: taken.pubkey }
      expectIdentityRefusal(await register(identityEvent(manager, nonce, wanted)), ...reserved)
    }
    expect((await call(server.url, `/api/nonce/${nonce}`)).status).toBe(200)
  })

  test('409: a taken name, then a key with a name; the nonce stays valid', async () => {
    const nonce = await newNonce()
    const refused = async (wanted: object, ...expected: [string, string]) => {
      const before = await readRows(server.dataDir)
      const answer = await register(identityEvent(manager, nonce, wanted))
      expectIdentityRefusal(answer, 409, ...expected)
      expect(await readRows(server.dataDir)).toEqual(before)
    }
    const { pubkey } = taken
    await refused({ name: 'TOMADA', pubkey }, 'identity-name-taken', 'Name already taken')
    const assigned = 'Pubkey already assigned to an existing account'
    await refused({ name: 'otra', pubkey }, 'identity-pubkey-taken', assigned)
    const wanted = { name: 'otra', pubkey: newSigner().pubkey }
    expect((await register(identityEvent(manager, nonce, wanted))).status).toBe(200)
  })

  test('403: a repeated event, whose nonce is burned', async () => {
    const event = identityEvent(manager, await newNonce(), fresh())
    expect((await register(event)).status).toBe(200)
    const again = [403, 'identity-nonce-burned', 'Nonce already used'] as const
    expectIdentityRefusal(await register(event), ...again)
  })

  test('405: any method but POST, and GET without a name', async () => {
    const both = 'POST, GET, HEAD, OPTIONS'
    const requests: [method: string, path: string, allow: string][] = [
      ['PUT', '/api/identity', both],
      ['DELETE', '/api/identity/', both],
      ['GET', '/api/identity', both],
      ['GET', '/api/identity?name=', both],
      ['GET', '/api/identity?other=x', both],
      ['PATCH', '/api/nonce', 'POST, OPTIONS'],
    ]
    for (const [method, path, allow] of requests) {
      const answer = await call(server.url, path, { method })
      expectIdentityRefusal(answer, 405, 'method-not-allowed', 'Must use POST method')
      expect(answer.headers.get('allow')).toBe(allow)
      const options = await call(server.url, path, { method: 'OPTIONS' })
      expect(options.headers.get('allow')).toBe(allow)
    }
  })

  test('404 and 413 below these paths have the same envelope', async () => {
    const lost = await call(server.url, '/api/identity/x')
    expect(lost).toMatchObject({ status: 404, json: { success: false, code: 'not-found' } })
    const large = await register('x'.repeat(20_000))
    expect(large).toMatchObject({ status: 413, json: { success: false, code: 'too-large' } })
  })

  test('503: when nothing can be written; the nonce stays valid', async () => {
    const broken = await startServer({ checkRoots: true, env: managerEnv })
    const nonce = await newNonce(broken)
    await damage(broken.dataDir, 'ALTER TABLE accounts RENAME TO gone')
    const answer = await register(identityEvent(manager, nonce, fresh()), broken)
    expect(answer).toMatchObject({ status: 503, json: { success: false, code: 'unavailable' } })
    await damage(broken.dataDir, 'ALTER TABLE gone RENAME TO accounts')
    expect((await call(broken.url, `/api/nonce/${nonce}`)).status).toBe(200)
  })
})

describe('where sign-up is open to everybody', () => {
  test('the owner of a nonce registers himself, with the name in a tag', async () => {
    const holder = newSigner()
    const tags = [
      ['t', 'create-identity'],
      ['name', 'Sola'],
      ['nonce', await newNonce(open)],
    ]
    const event = identityEvent(holder, null, {}, { tags, content: '' })
    expect(await register(event, open)).toMatchObject({
      status: 200,
      json: { success: true, pubkey: holder.pubkey },
    })
    expect((await accounts(open)).at(-1)?.name).toBe('sola')
  })

  test('the name may be in the content, as for an issuer', async () => {
    const holder = newSigner()
    const wanted = { name: 'sol', pubkey: holder.pubkey }
    const event = identityEvent(holder, await newNonce(open), wanted)
    expect((await register(event, open)).status).toBe(200)
  })

  const signup = async (of = open) => call(of.url, '/api/signup/request')

  test('anybody gets a nonce as LaWallet asks for one, and registers himself', async () => {
    expect((await call(open.url, '/api/signup')).json).toEqual({ enabled: true, milisatoshis: 0 })
    const { requirePayment, data } = (await signup()).json
    expect(requirePayment).toBe(false)
    const body = data.buyEvent
    expect([body.pubkey, body.kind, body.tags[0], body.content]).toEqual([
      ...[manager.pubkey, 1112, ['t', 'buy-handle-request'], ''],
    ])
    const { nonce } = (await call(open.url, '/api/nonce', { body })).json
    const again = await call(open.url, '/api/nonce', { body })
    expectIdentityRefusal(again, 409, 'event-repeated', 'Event already used')
    const holder = newSigner()
    const wanted = { name: 'libre', pubkey: holder.pubkey }
    expect((await register(identityEvent(holder, nonce, wanted), open)).status).toBe(200)
  })

  test('its event is good for a nonce alone, where sign-up is open, and from the manager alone', async () => {
    const { buyEvent: body } = (await signup()).json.data
    for (const path of [
      '/api/identity',
      '/ntag424',
      '/card',
      '/card/pay',
      '/card/config/request',
    ]) {
      expect((await call(open.url, path, { body })).status).toBeGreaterThanOrEqual(400)
    }
    const linking = await call(open.url, '/ntag424?p=00&c=00', { method: 'PATCH', body })
    expect(linking.status).toBe(422)
    const closed = await call(server.url, '/api/nonce', { body })
    expectIdentityRefusal(closed, 400, 'identity-event-invalid', 'Should send as NOSTR event')
    const tags = [['t', 'buy-handle-request']]
    const own = createEvent({ kind: 1112, content: '', tags, signer: newSigner() })
    const foreign = await call(open.url, '/api/nonce', { body: own })
    expectIdentityRefusal(foreign, 403, 'identity-not-authorized', 'Pubkey not authorized')
  })

  test('its nonces take no room of the manager, and end sooner', async () => {
    const { buyEvent: body } = (await signup()).json.data
    await call(open.url, '/api/nonce', { body })
    const { identity_nonces: rows } = await readRows(open.dataDir)
    const [last] = (rows as { issuer: Uint8Array }[]).slice(-1)
    expect(Buffer.from(last?.issuer ?? '').toString('hex')).toBe(signupIssuer)
  })

  test('an address gets twenty of them at once', async () => {
    const own = await startServer({ env: { ...managerEnv, IDENTITY_SELF_SIGNUP: 'on' } })
    const answers = await Promise.all(Array.from({ length: 30 }, () => signup(own)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBeLessThan(25)
    const refused = answers.find(({ status }) => status !== 200)
    expect([refused?.status, refused?.json.code]).toEqual([429, 'rate-limited'])
  })

  test('where it is closed, its routes do not exist', async () => {
    for (const path of ['/api/signup', '/api/signup/request']) {
      const { status, json } = await call(server.url, path)
      expect([status, json.code]).toEqual([404, 'not-found'])
    }
  })

  test('nobody registers another, or without a nonce', async () => {
    const holder = newSigner()
    const other = { name: 'luz', pubkey: newSigner().pubkey }
    const denied = await register(identityEvent(holder, await newNonce(open), other), open)
    expectIdentityRefusal(denied, 403, 'identity-not-authorized', 'Pubkey not authorized')
    const own = { name: 'luz', pubkey: holder.pubkey }
    const bare = await register(identityEvent(holder, null, own), open)
    expectIdentityRefusal(bare, 403, 'identity-nonce-missing', 'Nonce is missing')
  })
})
