import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import {
  call,
  createDefinition,
  type Json,
  mintOne,
  newSigner,
  openSession,
  percentBenefit,
} from '../support/client.ts'
import { secondsNow, untilSecond } from '../support/clock.ts'
import { expectRefusal, readRows, refuses } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const signer = newSigner()
let server: TestServer
let token: string
let stranger: string

beforeAll(async () => {
  server = await startServer({ checkRoots: true, env: { RATE_LIMIT: 'off' } })
  token = await openSession(server.url, signer)
  stranger = await openSession(server.url, newSigner())
})

afterAll(cleanUp)

const post = (body: unknown, by = token) => call(server.url, '/api/coupons', { body, token: by })
const patch = (id: string, body: unknown, by = token) =>
  call(server.url, `/api/coupons/${id}`, { method: 'PATCH', body, token: by })
const remove = (id: string, by = token) =>
  call(server.url, `/api/coupons/${id}`, { method: 'DELETE', token: by })
const list = async (by = token): Promise<Json[]> =>
  (await call(server.url, '/api/coupons', { token: by })).json.coupons

const emoji = '🧉'

/** A field, a value of it, and the code of the refusal; the field it names is the first unless told. */
const badFields: [field: string, value: unknown, code: string, named?: string][] = [
  ['name', '', 'field-invalid'],
  ['name', ' \u00a0\u2003', 'field-invalid'],
  ['name', null, 'field-invalid'],
  ['name', 1, 'field-invalid'],
  ['name', ['x'], 'field-invalid'],
  ['name', 'x'.repeat(81), 'field-invalid'],
  ['name', emoji.repeat(81), 'field-invalid'],
  ['name', 'a\nb', 'field-invalid'],
  ['name', 'a\tb', 'field-invalid'],
  ['name', 'a\u0000b', 'field-invalid'],
  ['name', 'a\u007fb', 'field-invalid'],
  ['name', 'a\u0085b', 'field-invalid'],
  ['name', 'a\ud800b', 'field-invalid'],
  ['name', '\udc00', 'field-invalid'],
  ['name', '\u200b\u3164\u2800', 'field-invalid'],
  ['name', '\ufe0f', 'field-invalid'],
  ['name', 'Café\u202esitarg', 'field-invalid'],
  ['name', '\u2067Café\u2069', 'field-invalid'],
  ['name', 'Café\u200f', 'field-invalid'],
  ['description', '\u202esitarg', 'field-invalid'],
  ['description', 'uno \u2067dos\ntres\u2069', 'field-invalid'],
  ['description', 'x'.repeat(501), 'field-invalid'],
  ['description', emoji.repeat(501), 'field-invalid'],
  ['description', 'a\rb', 'field-invalid'],
  ['description', 'a\u0000', 'field-invalid'],
  ['description', '\ud83e', 'field-invalid'],
  ['description', 1, 'field-invalid'],
  ['image', '', 'field-invalid'],
  ['image', 'http://fotos.example/a.png', 'field-invalid'],
  ['image', 'fotos.example/a.png', 'field-invalid'],
  ['image', '//fotos.example/a.png', 'field-invalid'],
  ['image', 'javascript:alert(1)', 'field-invalid'],
  ['image', 'data:image/png;base64,AA', 'field-invalid'],
  ['image', 'https://', 'field-invalid'],
  ['image', 'https://me@fotos.example/a.png', 'field-invalid'],
  ['image', 'https://me:secret@fotos.example/a.png', 'field-invalid'],
  ['image', ' https://fotos.example/a.png', 'field-invalid'],
  ['image', 'https://fotos.example/a b.png', 'field-invalid'],
  ['image', 'https://fotos.example/a\n.png', 'field-invalid'],
  ['image', `https://fotos.example/${'a'.repeat(480)}`, 'field-invalid'],
  ['image', false, 'field-invalid'],
  ['maxUses', 0, 'field-invalid'],
  ['maxUses', -1, 'field-invalid'],
  ['maxUses', 1.5, 'field-invalid'],
  ['maxUses', 1_000_001, 'field-invalid'],
  ['maxUses', 1e300, 'field-invalid'],
  ['maxUses', '5', 'field-invalid'],
  ['maxUses', true, 'field-invalid'],
  ['expiresAt', 0, 'field-invalid'],
  ['expiresAt', -5, 'field-invalid'],
  ['expiresAt', 1_900_000_000.5, 'field-invalid'],
  ['expiresAt', Date.now() * 1000, 'field-invalid'],
  ['expiresAt', '1900000000', 'field-invalid'],
  ['expiresAt', '2031-01-01', 'field-invalid'],
  ['benefit', null, 'field-invalid'],
  ['benefit', 'percent', 'field-invalid'],
  ['benefit', [], 'field-invalid'],
  ['benefit', {}, 'benefit-invalid', 'benefit.type'],
  ['benefit', { type: 'gift' }, 'benefit-invalid', 'benefit.type'],
  ['benefit', { type: 'percent', percent: 0 }, 'benefit-invalid', 'benefit.percent'],
  ['benefit', { type: 'fixed', amount: 5, currency: 'ars' }, 'benefit-invalid', 'benefit.currency'],
  [
    'benefit',
    { ...percentBenefit, cap: { amount: 0, currency: 'ARS' } },
    'benefit-invalid',
    'benefit.cap.amount',
  ],
]

const shown = (value: unknown) => {
  const text = JSON.stringify(value)
  return text.length > 50 ? `${text.slice(0, 40)}… (${text.length})` : text
}

/** Each field with a valid value, and the value in the answer. */
const goodFields: [field: string, value: unknown, back: unknown][] = [
  ['name', emoji.repeat(80), emoji.repeat(80)],
  ['name', ' con espacios ', ' con espacios '],
  ['name', 'e\u0301', 'e\u0301'],
  ['description', 'línea\n\tsegunda', 'línea\n\tsegunda'],
  ['description', emoji.repeat(500), emoji.repeat(500)],
  ['description', null, ''],
  ['description', '', ''],
  ['image', 'https://fotos.example/a.png?x=1#y', 'https://fotos.example/a.png?x=1#y'],
  ['image', 'HTTPS://Fotos.example/ñ.png', 'HTTPS://Fotos.example/ñ.png'],
  ['image', `https://fotos.example/${'a'.repeat(478)}`, `https://fotos.example/${'a'.repeat(478)}`],
  ['image', null, null],
  ['name', '👩‍🍳 Chef ❤️ قهوة', '👩‍🍳 Chef ❤️ قهوة'],
  ['description', 'Llamá al \u202a+54 9 11\u202c\u200f', 'Llamá al \u202a+54 9 11\u202c\u200f'],
  ['maxUses', 1, 1],
  ['maxUses', 1_000_000, 1_000_000],
  ['maxUses', null, null],
  ['expiresAt', 4_102_444_800, 4_102_444_800],
  ['expiresAt', null, null],
  [
    'benefit',
    { type: 'percent', percent: 12.5, productDs: [], cap: null, x: 1 },
    { type: 'percent', percent: 12.5 },
  ],
  [
    'benefit',
    {
      type: 'fixed',
      amount: 99.99,
      currency: 'USD',
      productDs: ['a', 'b', 'a'],
      cap: { amount: 5, currency: 'SAT', x: 1 },
    },
    {
      type: 'fixed',
      amount: 99.99,
      currency: 'USD',
      productDs: ['a', 'b'],
      cap: { amount: 5, currency: 'SAT' },
    },
  ],
  [
    'benefit',
    { type: 'multibuy', buyQty: 3, payQty: 2 },
    { type: 'multibuy', buyQty: 3, payQty: 2 },
  ],
  [
    'benefit',
    { type: 'buyXgetY', buyProductD: 'pizza', giftProductD: 'pizza' },
    { type: 'buyXgetY', buyProductD: 'pizza', giftProductD: 'pizza' },
  ],
  [
    'benefit',
    { type: 'freeItems', items: [{ d: 'café', qty: 100, x: 1 }] },
    { type: 'freeItems', items: [{ d: 'café', qty: 100 }] },
  ],
]

describe('POST /api/coupons', () => {
  test('answers the definition with exactly its fields', async () => {
    const before = secondsNow()
    const answer = await post({ name: 'Café', benefit: percentBenefit })
    expect(answer.status).toBe(201)
    const { coupon, ...rest } = answer.json
    expect(rest).toEqual({})
    expect(coupon).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      name: 'Café',
      description: '',
      image: null,
      benefit: percentBenefit,
      maxUses: null,
      minted: 0,
      claimed: 0,
      expiresAt: null,
      archivedAt: null,
      createdAt: coupon.updatedAt,
      updatedAt: coupon.createdAt,
    })
    expect(coupon.createdAt).toBeGreaterThanOrEqual(before)
    expect((await list())[0]).toEqual(coupon)
  })

  test('returns every valid value as it was sent, or in canonical form', async () => {
    for (const [field, value, back] of goodFields) {
      const answer = await post({ name: 'Café', benefit: percentBenefit, [field]: value })
      expect({ field, status: answer.status, back: answer.json.coupon?.[field] }).toEqual({
        field,
        status: 201,
        back,
      })
    }
  })

  for (const [field, value, code, named] of badFields) {
    test(`refuses ${field} ${shown(value)}`, async () => {
      const body = { name: 'Café', benefit: percentBenefit, [field]: value }
      await refuses(server, () => post(body), 400, code, { field: named ?? field })
    })
  }

  for (const field of ['name', 'benefit']) {
    test(`refuses a definition without ${field}`, async () => {
      const body = { name: 'Café', benefit: percentBenefit, [field]: undefined }
      await refuses(server, () => post(body), 400, 'field-invalid', { field })
    })
  }

  test('refuses an expiry in the past', async () => {
    for (const expiresAt of [1, secondsNow() - 1, secondsNow()]) {
      const body = { name: 'Café', benefit: percentBenefit, expiresAt }
      await refuses(server, () => post(body), 400, 'expiry-past', { field: 'expiresAt' })
    }
  })

  test('refuses the 1001st definition of one key, and accepts one again after a deletion', async () => {
    const full = await openSession(server.url, newSigner())
    const body = { name: 'Café', benefit: percentBenefit }
    const made: string[] = []
    for (let batch = 0; batch < 20; batch++) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => post(body, full)))
      for (const { status, json } of answers) {
        expect(status).toBe(201)
        made.push(json.coupon.id)
      }
    }
    await refuses(server, () => post(body, full), 409, 'definitions-full')
    expect((await post(body)).status).toBe(201)
    expect((await remove(made[0] as string, full)).status).toBe(200)
    expect((await post(body, full)).status).toBe(201)
  })
})

describe('PATCH /api/coupons/{id}', () => {
  let id: string
  beforeEach(async () => {
    id = await createDefinition(server.url, token, {
      description: 'Con leche',
      image: 'https://fotos.example/cafe.png',
      maxUses: 5,
      expiresAt: secondsNow() + 1000,
    })
  })

  test('changes the given fields and leaves the rest', async () => {
    const before = (await list()).find((coupon) => coupon.id === id)
    const { status, json } = await patch(id, { name: 'Té', x: 1 })
    expect(status).toBe(200)
    expect(json).toEqual({ coupon: { ...before, name: 'Té', updatedAt: json.coupon.updatedAt } })
    expect((await list()).find((coupon) => coupon.id === id)).toEqual(json.coupon)
  })

  test('null clears an optional field', async () => {
    const cleared = { description: null, image: null, maxUses: null, expiresAt: null }
    expect((await patch(id, cleared)).json.coupon).toMatchObject({
      description: '',
      image: null,
      maxUses: null,
      expiresAt: null,
    })
  })

  test('returns every valid value', async () => {
    for (const [field, value, back] of goodFields) {
      const { status, json } = await patch(id, { [field]: value })
      expect({ field, status, back: json.coupon?.[field] }).toEqual({ field, status: 200, back })
    }
  })

  test('accepts an expiry in the past, and fewer uses than were minted', async () => {
    await mintOne(server.url, token, id)
    await mintOne(server.url, token, id)
    const past = secondsNow() - 5
    const { status, json } = await patch(id, { expiresAt: past, maxUses: 1 })
    expect(status).toBe(200)
    expect(json.coupon).toMatchObject({ expiresAt: past, maxUses: 1, minted: 2 })
  })

  test('archives and restores; a second archiving keeps the first time', async () => {
    const first = (await patch(id, { archived: true })).json.coupon.archivedAt
    expect(first).toBeGreaterThan(secondsNow() - 5)
    await untilSecond(secondsNow() + 1)
    expect((await patch(id, { archived: true })).json.coupon.archivedAt).toBe(first)
    expect((await patch(id, { archived: false })).json.coupon.archivedAt).toBeNull()
    expect((await patch(id, { archived: false })).json.coupon.archivedAt).toBeNull()
  })

  test('a change of the terms adds a revision, any other change does not', async () => {
    // Only after a mint: before it, the single revision is overwritten.
    const minted = await createDefinition(server.url, token)
    await mintOne(server.url, token, minted)
    const revisions = async () => (await readRows(server.dataDir)).revisions?.length ?? 0
    const before = await revisions()
    for (const fields of [{ archived: true }, { archived: false }, { maxUses: 7 }]) {
      expect((await patch(minted, fields)).status).toBe(200)
    }
    expect((await patch(minted, { name: 'Café gratis' })).status).toBe(200)
    expect((await remove(minted)).json).toEqual({ deleted: false, archived: true })
    expect(await revisions()).toBe(before)
    expect((await patch(minted, { name: 'Otro' })).status).toBe(200)
    expect(await revisions()).toBe(before + 1)
  })

  test('refuses every value that a new definition refuses', async () => {
    for (const [field, value, code, named] of badFields) {
      await refuses(server, () => patch(id, { [field]: value }), 400, code, {
        field: named ?? field,
      })
    }
    for (const archived of [null, 1, 'true']) {
      await refuses(server, () => patch(id, { archived }), 400, 'field-invalid', {
        field: 'archived',
      })
    }
  })

  test('one bad value among good ones changes nothing', async () => {
    const body = { name: 'Nuevo', maxUses: 0 }
    await refuses(server, () => patch(id, body), 400, 'field-invalid', { field: 'maxUses' })
  })

  test('refuses a body that changes nothing', async () => {
    for (const body of [{}, { color: 'azul' }, { id, minted: 0 }]) {
      await refuses(server, () => patch(id, body), 400, 'nothing-to-change')
    }
  })

  test('a definition that is missing, has no UUID or is another’s is 404', async () => {
    const body = { name: 'Ajeno' }
    for (const name of [randomUUID(), 'x', id.slice(1), `${id}x`, '%00', '..%2f']) {
      await refuses(server, () => patch(name, body), 404, 'coupon-unknown')
    }
    await refuses(server, () => patch(id, body, stranger), 404, 'coupon-unknown')
  })

  test('the body is checked before the definition is looked for', async () => {
    await refuses(server, () => patch('x', {}), 400, 'nothing-to-change')
    await refuses(server, () => patch(id, { name: '' }, stranger), 400, 'field-invalid', {
      field: 'name',
    })
  })

  test('an upper-case id is the same definition', async () => {
    expect((await patch(id.toUpperCase(), { name: 'Té' })).json.coupon.id).toBe(id)
  })
})

describe('DELETE /api/coupons/{id}', () => {
  test('deletes a definition without vouchers, also after edits', async () => {
    const id = await createDefinition(server.url, token)
    await patch(id, { name: 'Otro' })
    const { status, json } = await remove(id)
    expect({ status, json }).toEqual({ status: 200, json: { deleted: true, archived: false } })
    expect((await list()).some((coupon) => coupon.id === id)).toBe(false)
    await refuses(server, () => remove(id), 404, 'coupon-unknown')
  })

  test('archives a definition with vouchers, voided or not; a repetition changes nothing', async () => {
    const id = await createDefinition(server.url, token)
    await mintOne(server.url, token, id)
    await call(server.url, `/api/coupons/${id}/mints`, { method: 'DELETE', token })
    for (let times = 0; times < 2; times++) {
      const { status, json } = await remove(id)
      expect({ status, json }).toEqual({ status: 200, json: { deleted: false, archived: true } })
    }
    const coupon = (await list()).find((one) => one.id === id)
    expect(coupon).toMatchObject({ minted: 0, archivedAt: expect.any(Number) })
  })

  test('a definition that is missing, has no UUID or is another’s is 404', async () => {
    const id = await createDefinition(server.url, token)
    for (const name of [randomUUID(), 'x']) {
      await refuses(server, () => remove(name), 404, 'coupon-unknown')
    }
    await refuses(server, () => remove(id, stranger), 404, 'coupon-unknown')
  })
})

describe('GET /api/coupons', () => {
  test('returns definitions, minters and announcement of the caller alone, newest first', async () => {
    const own = await openSession(server.url, newSigner())
    const empty = await call(server.url, '/api/coupons', { token: own })
    expect(empty.json).toEqual({ coupons: [], minters: [], discovery: null })
    const ids: string[] = []
    for (const name of ['uno', 'dos', 'tres']) {
      ids.unshift(await createDefinition(server.url, own, { name }))
    }
    await patch(ids[1] as string, { archived: true }, own)
    const minters = [newSigner().pubkey, newSigner().pubkey]
    for (const pubkey of minters) {
      await call(server.url, '/api/coupons/minters', {
        body: { pubkey, label: 'caja' },
        token: own,
      })
    }
    const { json } = await call(server.url, '/api/coupons', { token: own })
    expect(json.coupons.map((coupon: Json) => coupon.id)).toEqual(ids)
    expect(json.coupons[1].archivedAt).toBeNumber()
    expect(json.minters.map((minter: Json) => minter.pubkey)).toEqual(minters.reverse())
  })
})

describe('tenancy', () => {
  test('another’s coupon looks on every route like one that does not exist', async () => {
    const id = await createDefinition(server.url, token)
    const { nonce } = await mintOne(server.url, token, id)
    const routes: [string, string, unknown][] = [
      ['PATCH', '', { name: 'Mío' }],
      ['DELETE', '', undefined],
      ['GET', '/mints', undefined],
      ['DELETE', '/mints', undefined],
      ['DELETE', `/mints/${nonce}`, undefined],
      ['DELETE', `/mints/${nonce}?chain=1`, undefined],
    ]
    for (const [method, path, body] of routes) {
      const ask = (of: string) =>
        call(server.url, `/api/coupons/${of}${path}`, { method, body, token: stranger })
      const foreign = await refuses(server, () => ask(id), 404, 'coupon-unknown')
      expect(foreign.text).toBe((await ask(randomUUID())).text)
    }
    expect(await list(stranger)).toEqual([])
    const seen = await call(server.url, '/api/coupons/redemptions', { token: stranger })
    expect(seen.json).toEqual({ redemptions: [], next: null })
  })

  test('a minter may mint, and manages nothing', async () => {
    const till = newSigner()
    const by = await openSession(server.url, till)
    const id = await createDefinition(server.url, token)
    await call(server.url, '/api/coupons/minters', { body: { pubkey: till.pubkey }, token })
    expect(
      (await call(server.url, '/api/coupons/mint', { body: { couponId: id }, token: by })).status,
    ).toBe(200)
    await refuses(server, () => patch(id, { name: 'x' }, by), 404, 'coupon-unknown')
    await refuses(
      server,
      () => call(server.url, `/api/coupons/${id}/mints`, { token: by }),
      404,
      'coupon-unknown',
    )
  })
})

describe('MERCHANTS', () => {
  test('only listed keys manage; sessions, minting and mintable are for every key', async () => {
    const [merchant, till, other] = [newSigner(), newSigner(), newSigner()]
    const closed = await startServer({
      checkRoots: true,
      env: { RATE_LIMIT: 'off', MERCHANTS: merchant.pubkey },
    })
    const owner = await openSession(closed.url, merchant)
    const couponId = await createDefinition(closed.url, owner)
    await call(closed.url, '/api/coupons/minters', { body: { pubkey: till.pubkey }, token: owner })
    const by = await openSession(closed.url, till)
    const { nonce } = (
      await call(closed.url, '/api/coupons/mint', { body: { couponId }, token: by })
    ).json
    expect(nonce).toBeString()
    const mintable = await call(closed.url, '/api/coupons/mintable', { token: by })
    expect(mintable.json.coupons).toHaveLength(1)
    const nobody = await openSession(closed.url, other)
    const denied = await call(closed.url, '/api/coupons/mint', {
      body: { couponId },
      token: nobody,
    })
    expectRefusal(denied, 403, 'mint-not-allowed')

    const good = { name: 'Café', benefit: percentBenefit }
    const routes: [string, string, unknown][] = [
      ['GET', '', undefined],
      ['POST', '', good],
      ['PATCH', `/${couponId}`, { name: 'x' }],
      ['DELETE', `/${couponId}`, undefined],
      ['GET', `/${couponId}/mints`, undefined],
      ['DELETE', `/${couponId}/mints`, undefined],
      ['DELETE', `/${couponId}/mints/${nonce}`, undefined],
      ['GET', '/minters', undefined],
      ['POST', '/minters', { pubkey: newSigner().pubkey }],
      ['DELETE', `/minters/${till.pubkey}`, undefined],
      ['GET', '/redemptions', undefined],
      ['DELETE', '/discovery', undefined],
      ['PUT', '/discovery', { event: announcement(other) }],
    ]
    for (const [method, path, body] of routes) {
      const ask = () => call(closed.url, `/api/coupons${path}`, { method, body, token: nobody })
      await refuses(closed, ask, 403, 'merchant-not-allowed')
    }
    const bad: [string, string, unknown, string, string | undefined][] = [
      ['POST', '', { ...good, name: '' }, 'field-invalid', 'name'],
      ['PATCH', `/${couponId}`, {}, 'nothing-to-change', undefined],
      ['GET', '/redemptions?limit=0', undefined, 'page-invalid', undefined],
      ['GET', `/${couponId}/mints?cursor=x`, undefined, 'page-invalid', undefined],
      ['POST', '/minters', { pubkey: '!' }, 'field-invalid', 'pubkey'],
    ]
    for (const [method, path, body, code, field] of bad) {
      const ask = () => call(closed.url, `/api/coupons${path}`, { method, body, token: nobody })
      await refuses(closed, ask, 400, code, field === undefined ? {} : { field })
    }
  })
})

function announcement(by: ReturnType<typeof newSigner>) {
  const content = JSON.stringify({ v: 2 })
  return by.sign({ kind: 30_078, created_at: secondsNow(), tags: [['d', 'x']], content })
}
