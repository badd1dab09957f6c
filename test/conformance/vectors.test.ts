/** Bytes, signatures and layouts against the protocol and published vectors, with an independent verifier. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import { npubEncode } from 'nostr-tools/nip19'
import { getEventHash, verifyEvent as verifyIndependently } from 'nostr-tools/pure'
import { eventId, type NostrEvent } from '../../src/nostr/event.ts'
import { verifyHttpAuth } from '../../src/nostr/nip98.ts'
import {
  call,
  createDefinition,
  createProof,
  type Json,
  mintOne,
  newKey,
  newSigner,
  nostrHeader,
  openSession,
  verifyEvent,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { cardActivation, internalTransaction, nip98Vector } from '../support/published-events.ts'
import { refusalSoon } from '../support/refused.ts'
import { cleanUp, startServer } from '../support/server.ts'

const sessionSecret = 'a session secret with more than 32 bytes: ñandú'
const owner = newSigner()
const inAnHour = secondsNow() + 3600
const benefit = {
  type: 'percent',
  percent: 12.5,
  productDs: ['cafe'],
  cap: { amount: 1500.25, currency: 'ARS' },
}
const terms = {
  name: 'Café "doble" ☕',
  description: 'Con\nleche',
  image: 'https://example.com/cafe.png',
  benefit,
  expiresAt: inAnHour,
}
let base: string
let token: string
let manager: string

beforeAll(async () => {
  base = (await startServer({ env: { SESSION_JWT_SECRET: sessionSecret } })).url
  token = await openSession(base, owner)
  manager = (await call(base, '/api/coupons/manager')).json.pubkey
})

afterAll(cleanUp)

const claim = (nonce: string) => call(base, '/api/coupons/claim', { body: { nonce } })

/** The checks that any Nostr library would make. */
function expectSound(event: NostrEvent): void {
  const keys = ['id', 'pubkey', 'created_at', 'kind', 'tags', 'content', 'sig']
  expect(Object.keys(event)).toEqual(keys)
  expect(getEventHash(event)).toBe(event.id)
  expect(verifyIndependently(structuredClone(event))).toBe(true)
  expect(event).toMatchObject({ pubkey: manager, kind: 20_402 })
}

describe('voucher events', () => {
  test('have their tags and content in the order of the protocol, with an expiry', async () => {
    const couponId = await createDefinition(base, token, terms)
    const { voucher, nonce, expiresAt, ...facts }: Json = await mintOne(base, token, couponId)
    expectSound(voucher)
    expect(voucher.tags).toEqual([
      ['nonce', nonce],
      ['p', owner.pubkey],
      ['coupon', couponId],
      ['phase', 'minted'],
      ['expiration', String(inAnHour)],
    ])
    expect(voucher.content).toBe(
      `{"v":1,"nonce":"${nonce}","owner":"${owner.pubkey}","name":"Café \\"doble\\" ☕","description":"Con\\nleche","image":"https://example.com/cafe.png","coupon":{"type":"percent","percent":12.5,"productDs":["cafe"],"cap":{"amount":1500.25,"currency":"ARS"}},"phase":"minted","expiresAt":${inAnHour}}`,
    )
    expect(expiresAt).toBe(inAnHour)
    expect(facts).toEqual({
      couponId,
      coupon: benefit,
      name: terms.name,
      description: terms.description,
      npub: expect.any(String),
      image: terms.image,
    })
    expect(facts.npub).toBe(npubEncode(owner.pubkey))
  })

  test('leave out unset members', async () => {
    const couponId = await createDefinition(base, token, {
      name: 'Té',
      benefit: { type: 'percent', percent: 5 },
    })
    const { voucher, nonce, image, expiresAt, description } = await mintOne(base, token, couponId)
    expectSound(voucher)
    expect(voucher.tags.map(([name]: string[]) => name)).toEqual(['nonce', 'p', 'coupon', 'phase'])
    expect(voucher.content).toBe(
      `{"v":1,"nonce":"${nonce}","owner":"${owner.pubkey}","name":"Té","description":"","coupon":{"type":"percent","percent":5},"phase":"minted"}`,
    )
    expect({ image, expiresAt, description }).toEqual({
      image: null,
      expiresAt: null,
      description: '',
    })
  })

  test('of a claim have the time of the claim, and always the same id', async () => {
    const couponId = await createDefinition(base, token, terms)
    const { nonce } = await mintOne(base, token, couponId)
    const first = (await claim(nonce)).json
    const second = (await claim(nonce)).json
    for (const { voucher, claimedAt } of [first, second]) {
      expectSound(voucher)
      expect(voucher.created_at).toBe(claimedAt)
      expect(voucher.tags[3]).toEqual(['phase', 'claimed'])
      expect(Object.keys(JSON.parse(voucher.content))).toEqual([
        ...['v', 'nonce', 'owner', 'name', 'description', 'image', 'coupon', 'phase'],
        ...['claimedAt', 'expiresAt'],
      ])
      expect(JSON.parse(voucher.content)).toMatchObject({ phase: 'claimed', claimedAt })
    }
    expect([first.status, second.status]).toEqual(['success', 'claimed'])
    expect(second.voucher.id).toBe(first.voucher.id)
    expect(second.claimedAt).toBe(first.claimedAt)
  })

  test('of a refresh are new events for the new nonce, under the frozen terms', async () => {
    const couponId = await createDefinition(base, token, terms)
    const old = await mintOne(base, token, couponId)
    const changes = { name: 'Otro', expiresAt: null, benefit: { type: 'percent', percent: 1 } }
    await call(base, `/api/coupons/${couponId}`, { method: 'PATCH', body: changes, token })
    const headers = { 'Idempotency-Key': newKey() }
    const { json, text } = await call(base, '/api/coupons/refresh', {
      body: { nonce: old.nonce },
      headers,
    })
    expectSound(json.voucher)
    expect(json.voucher.content).toBe(old.voucher.content.replace(old.nonce, json.nonce))
    expect(json.voucher.tags.slice(1)).toEqual(old.voucher.tags.slice(1))
    expect(json).toEqual({ ...old, nonce: json.nonce, voucher: json.voucher })
    const again = await call(base, '/api/coupons/refresh', { body: { nonce: old.nonce }, headers })
    expect([again.status, again.text]).toEqual([200, text])
  })
})

describe('nonces and handles', () => {
  test('are 16 bytes in base64url, the handle from the sha256 of the nonce as ASCII', async () => {
    const couponId = await createDefinition(base, token)
    const { nonce } = await mintOne(base, token, couponId)
    expect(Buffer.from(nonce, 'base64url')).toHaveLength(16)
    expect(Buffer.from(nonce, 'base64url').toString('base64url')).toBe(nonce)
    const handle = createHash('sha256').update(nonce).digest().subarray(0, 16).toString('base64url')
    const { json } = await call(base, `/api/coupons/${couponId}/mints`, { token })
    expect(json.mints).toEqual([
      expect.objectContaining({ handle, chain: handle, status: 'minted' }),
    ])
    expect(JSON.stringify(json)).not.toContain(nonce)
  })

  test('are unique', async () => {
    const couponId = await createDefinition(base, token)
    const body = { couponId, count: 500 }
    const { json } = await call(base, '/api/coupons/mint', { body, token })
    expect(new Set(json.vouchers.map(({ nonce }: Json) => nonce)).size).toBe(500)
    const ids = new Set(json.vouchers.map(({ voucher }: Json) => voucher.id))
    expect(ids.size).toBe(500)
  })
})

describe('NIP-98', () => {
  const body = new TextEncoder().encode('{"couponId":"55b5ee4f-4dcc-4a6a-a58e-6d1d94d811a3"}')
  const request = {
    method: 'POST',
    origins: ['https://merchant.example'],
    target: '/api/coupons/mint',
    body,
  }
  const verify = (
    event: unknown,
    changes: Partial<typeof request> = {},
    now = nip98Vector.created_at,
  ) =>
    verifyHttpAuth(
      nostrHeader(event).slice('Nostr '.length),
      { ...request, ...changes },
      now,
      verifyEvent,
    )
  test('accepts the published vector within 60 seconds either way', async () => {
    expect(eventId(nip98Vector)).toBe(nip98Vector.id)
    for (const now of [0, 60, -60]) {
      expect((await verify(nip98Vector, {}, nip98Vector.created_at + now)).pubkey).toBe(
        nip98Vector.pubkey,
      )
    }
  })

  test('refuses the vector at another time, and for another body, method or address', async () => {
    const code = async (changes: Partial<typeof request>, now?: number) =>
      (await refusalSoon(() => verify(nip98Vector, changes, now)))?.code
    expect(await code({}, nip98Vector.created_at + 61)).toBe('auth-expired')
    expect(await code({}, nip98Vector.created_at - 61)).toBe('auth-expired')
    expect(await code({ body: new Uint8Array() })).toBe('auth-malformed')
    expect(await code({ method: 'PUT' })).toBe('auth-url-mismatch')
    expect(await code({ target: '/api/coupons/mint/' })).toBe('auth-url-mismatch')
    expect(await code({ origins: ['http://merchant.example'] })).toBe('auth-url-mismatch')
  })

  test('refuses the sample event of NIP-98, whose id does not match its content', async () => {
    const sample: NostrEvent = {
      id: 'fe964e758903360f28d8424d092da8494ed207cba823110be3a57dfe4b578734',
      pubkey: '63fe6318dc58583cfe16810f86dd09e18bfd76aabc24a0081ce2856f330504ed',
      content: '',
      kind: 27235,
      created_at: 1682327852,
      tags: [
        ['u', 'https://api.snort.social/api/v1/n5sp/list'],
        ['method', 'GET'],
      ],
      sig: '5ed9d8ec958bc854f997bdc24ac337d005af372324747efe4a00e24f4c30437ff4dd8308684bed467d9d6be3e5a517bb43b1732cc7d33949a3aaf86705c22184',
    }
    expect(eventId(sample)).not.toBe(sample.id)
    const asked = {
      method: 'GET',
      origins: ['https://api.snort.social'],
      target: '/api/v1/n5sp/list',
      body: new Uint8Array(),
    }
    expect((await refusalSoon(() => verify(sample, asked, sample.created_at)))?.code).toBe(
      'auth-malformed',
    )
  })
})

describe('event ids', () => {
  test('match for published events, and so do their signatures', () => {
    for (const event of [cardActivation, internalTransaction]) {
      expect(eventId(event)).toBe(event.id)
      expect(verifyEvent(event)).toBe(true)
      expect(verifyEvent({ ...event, created_at: event.created_at + 1 })).toBe(false)
    }
  })

  test('agree with another implementation on every kind of character', () => {
    const contents = ['"\\/', '\b\f\n\r\t', '\u0000\u001f', '\u007f\u2028\u2029', '☕é𝄞', '<>&']
    for (const content of contents) {
      const event = owner.sign({ kind: 1, created_at: 1, tags: [['t', content]], content })
      expect(getEventHash(event)).toBe(event.id)
      expect(verifyIndependently(structuredClone(event))).toBe(true)
    }
  })
})

describe('session tokens', () => {
  test('are HS256 JWTs over the secret’s UTF-8 bytes with sub, iat and exp, for 12 hours', async () => {
    const before = secondsNow()
    const { json } = await call(base, '/api/auth/session', { method: 'POST', signer: owner })
    const [head = '', claims = '', signature = ''] = json.token.split('.')
    expect(decodeJson(head)).toEqual({ alg: 'HS256', typ: 'JWT' })
    const { iat } = decodeJson(claims)
    expect(decodeJson(claims)).toEqual({ sub: owner.pubkey, iat, exp: iat + 43_200 })
    expect(iat).toBeWithin(before, secondsNow() + 1)
    const hmac = createHmac('sha256', Buffer.from(sessionSecret, 'utf8'))
    expect(signature).toBe(hmac.update(`${head}.${claims}`).digest('base64url'))
    expect(json).toEqual({ token: json.token, pubkey: owner.pubkey, expiresAt: iat + 43_200 })
  })

  const signed = (claims: object, header: object = { alg: 'HS256' }, secret = sessionSecret) => {
    const [head, body] = [header, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    )
    const mac = createHmac('sha256', secret).update(`${head}.${body}`).digest('base64url')
    return `${head}.${body}.${mac}`
  }
  const reasonFor = async (made: string) =>
    (await call(base, '/api/coupons', { token: made })).json.reason ?? 'accepted'

  test('are accepted when they are signed with the secret, and otherwise refused', async () => {
    const claims = { sub: owner.pubkey, iat: 1, exp: inAnHour }
    expect(await reasonFor(signed(claims))).toBe('accepted')
    expect(await reasonFor(signed(claims, { alg: 'HS256' }, `${sessionSecret}x`))).toBe(
      'session-invalid',
    )
    expect(await reasonFor(signed(claims, { alg: 'HS512' }))).toBe('session-invalid')
    expect(await reasonFor(`${signed(claims, { alg: 'none' }).replace(/[^.]*$/, '')}`)).toBe(
      'session-invalid',
    )
    expect(await reasonFor(signed({ ...claims, sub: 'x' }))).toBe('session-invalid')
    expect(await reasonFor(signed({ sub: owner.pubkey }))).toBe('session-invalid')
  })

  test('expire without leeway; a wrong signature is reported before the expiry', async () => {
    const past = { sub: owner.pubkey, iat: 1, exp: secondsNow() }
    expect(await reasonFor(signed(past))).toBe('session-expired')
    expect(
      await reasonFor(signed(past, { alg: 'HS256' }, 'another secret of 32 bytes or more')),
    ).toBe('session-invalid')
  })
})

describe('the envelope of refusals', () => {
  test('has a sentence and a code, and no other field by default', async () => {
    const { status, json } = await claim('A'.repeat(22))
    expect(status).toBe(404)
    expect(json).toEqual({ error: expect.any(String), code: 'voucher-unknown' })
    expect(json.error).toMatch(/^[A-ZÁÉÍÓÚÑ¿¡].*\.$/)
  })

  test('names the field', async () => {
    const { status, json } = await claim('short')
    expect([status, Object.keys(json), json.field]).toEqual([
      400,
      ['error', 'code', 'field'],
      'nonce',
    ])
  })

  test('has a reason on authentication failures, with WWW-Authenticate', async () => {
    const { status, json, headers } = await call(base, '/api/coupons')
    expect(status).toBe(401)
    expect(json).toEqual({ error: expect.any(String), code: 'auth-missing', reason: 'missing' })
    expect(headers.get('www-authenticate')).toBeTruthy()
    const url = `${base}/api/coupons`
    const once = { Authorization: nostrHeader(createProof(owner, url)) }
    expect((await call(base, '/api/coupons', { headers: once })).status).toBe(200)
    expect((await call(base, '/api/coupons', { headers: once })).json).toMatchObject({
      reason: 'replay',
    })
  })

  test('has the reason too-large on routes that take credentials, and only the code elsewhere', async () => {
    const body = 'x'.repeat(16 * 1024 + 1)
    const managed = await call(base, '/api/coupons', { body, token })
    expect([managed.status, managed.json.code, managed.json.reason]).toEqual([
      413,
      'too-large',
      'too-large',
    ])
    const open = await call(base, '/api/coupons/claim', { body })
    expect([open.status, open.json.code, open.json.reason]).toEqual([413, 'too-large', undefined])
  })

  test('is the same for unknown paths and methods, with Allow', async () => {
    const unknown = await call(base, '/api/nothing')
    expect([unknown.status, Object.keys(unknown.json)]).toEqual([404, ['error', 'code']])
    for (const text of ['%zz', '%E0%A4%A', '%']) {
      const garbled = await call(base, `/api/coupons/minters/${text}`, { method: 'DELETE', token })
      expect([text, garbled.status, garbled.json.code]).toEqual([text, 404, 'not-found'])
    }
    const { status, json, headers } = await call(base, '/api/coupons/claim', { method: 'DELETE' })
    expect([status, json.code]).toEqual([405, 'method-not-allowed'])
    expect(headers.get('allow')?.split(', ')).toEqual(
      expect.arrayContaining(['GET', 'POST', 'HEAD', 'OPTIONS']),
    )
  })
})

function decodeJson(part: string): Json {
  return JSON.parse(Buffer.from(part, 'base64url').toString())
}
