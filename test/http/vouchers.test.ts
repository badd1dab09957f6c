import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { npubOf } from '../../src/nostr/keys.ts'
import {
  call,
  createDefinition,
  type Json,
  mintOne,
  newKey,
  newSigner,
  openSession,
  verifyEvent,
  withKey,
} from '../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../support/clock.ts'
import { databaseOf } from '../support/database.ts'
import { callRaw } from '../support/raw.ts'
import { readRows, refuses } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'

const signer = newSigner()
const customer = newSigner()
let server: TestServer
let token: string
let couponId: string
let nonce: string
let minted: Json

beforeAll(async () => {
  server = await startServer({ checkRoots: true, env: { RATE_LIMIT: 'off' } })
  token = await openSession(server.url, signer)
  couponId = await createDefinition(server.url, token, { description: 'Con leche' })
})

beforeEach(async () => {
  minted = await mintOne(server.url, token, couponId)
  nonce = minted.nonce
})

afterAll(cleanUp)

const preview = (of: string) => call(server.url, '/api/coupons/preview', { body: { nonce: of } })
const previewInQuery = (of: string) =>
  call(server.url, `/api/coupons/claim?nonce=${encodeURIComponent(of)}`)
const claim = (of: string, fields: Json = {}, headers: Record<string, string> = {}) =>
  call(server.url, '/api/coupons/claim', { body: { nonce: of, ...fields }, headers })
const refresh = (of: string, key = newKey()) =>
  call(server.url, '/api/coupons/refresh', {
    body: { nonce: of },
    headers: { 'Idempotency-Key': key },
  })
const voidOne = (of: string) =>
  call(server.url, `/api/coupons/${couponId}/mints/${of}`, { method: 'DELETE', token })
const newest = async (): Promise<Json> =>
  (await call(server.url, '/api/coupons/redemptions?limit=1', { token })).json.redemptions[0]

const facts = () => {
  const { voucher, ...rest } = minted
  expect(voucher.kind).toBe(20_402)
  return rest
}

const badNonces: [string, unknown, code: string][] = [
  ['none', undefined, 'field-invalid'],
  ['null', null, 'field-invalid'],
  ['a number', 1, 'field-invalid'],
  ['a list', ['A'.repeat(22)], 'field-invalid'],
  ['an empty one', '', 'nonce-invalid'],
  ['21 characters', 'A'.repeat(21), 'nonce-invalid'],
  ['23 characters', 'A'.repeat(23), 'nonce-invalid'],
  ['padding', `${'A'.repeat(22)}==`, 'nonce-invalid'],
  ['other characters', `${'A'.repeat(21)}+`, 'nonce-invalid'],
  ['a newline at its end', `${'A'.repeat(22)}\n`, 'nonce-invalid'],
  ['spaces around it', ` ${'A'.repeat(22)} `, 'nonce-invalid'],
  ['letters that are not ASCII', 'ñ'.repeat(22), 'nonce-invalid'],
]
const routes = ['preview', 'claim', 'refresh'] as const

for (const route of routes) {
  const ask = (body: unknown) =>
    call(server.url, `/api/coupons/${route}`, { body, headers: { 'Idempotency-Key': newKey() } })

  describe(`POST /api/coupons/${route}`, () => {
    for (const [name, value, code] of badNonces) {
      test(`refuses as nonce ${name}`, async () => {
        await refuses(server, () => ask({ nonce: value }), 400, code, { field: 'nonce' })
      })
    }

    test('an unknown nonce is 404', async () => {
      await refuses(server, () => ask({ nonce: 'A'.repeat(22) }), 404, 'voucher-unknown')
    })

    test('a handle is refused as nonce', async () => {
      const { mints } = (
        await call(server.url, `/api/coupons/${couponId}/mints?limit=1`, { token })
      ).json
      await refuses(server, () => ask({ nonce: mints[0].handle }), 404, 'voucher-unknown')
    })
  })
}

describe('GET /api/coupons/claim', () => {
  for (const query of [
    '',
    '?',
    '?nonce',
    '?nonce=',
    '?Nonce=x',
    '?nonce=x',
    `?nonce=${'A'.repeat(23)}`,
  ]) {
    test(`refuses the query ${query || 'that is not there'}`, async () => {
      const answer = await call(server.url, `/api/coupons/claim${query}`)
      expect(answer.status).toBe(400)
      expect(answer.json).toEqual({
        error: expect.any(String),
        code: expect.stringMatching(/^(field|nonce)-invalid$/),
        field: 'nonce',
      })
    })
  }

  test('an unknown nonce is 404', async () => {
    await refuses(server, () => previewInQuery('A'.repeat(22)), 404, 'voucher-unknown')
  })

  test('ignores other parameters', async () => {
    expect((await call(server.url, `/api/coupons/claim?utm=x&nonce=${nonce}&a=1`)).status).toBe(200)
  })
})

describe('preview', () => {
  test('shows the terms of a nonce in every phase, by GET and by POST, and changes nothing', async () => {
    const expectBoth = async (status: string, claimedAt: number | null = null) => {
      const rows = await readRows(server.dataDir)
      for (const ask of [preview, previewInQuery]) {
        const answer = await ask(nonce)
        expect({ status: answer.status, json: answer.json }).toEqual({
          status: 200,
          json: { status, ...facts(), claimedAt },
        })
      }
      expect(await readRows(server.dataDir)).toEqual(rows)
    }
    await expectBoth('minted')
    const { claimedAt } = (await claim(nonce)).json
    await expectBoth('claimed', claimedAt)
    minted = await mintOne(server.url, token, couponId)
    nonce = minted.nonce
    await voidOne(nonce)
    await expectBoth('voided')
    minted = await mintOne(server.url, token, couponId)
    nonce = minted.nonce
    const successor = (await refresh(nonce)).json.nonce
    await expectBoth('refreshed')
    expect((await preview(nonce)).text).not.toContain(successor)
  })
})

describe('POST /api/coupons/claim', () => {
  test('answers success once, then claimed with the first time and the same event', async () => {
    const before = secondsNow()
    const first = await claim(nonce)
    expect(first.status).toBe(200)
    const { status, claimedAt, voucher, ...rest } = first.json
    expect({ status, rest }).toEqual({ status: 'success', rest: facts() })
    expect(claimedAt).toBeGreaterThanOrEqual(before)
    expect(voucher).toMatchObject({ kind: 20_402, created_at: claimedAt })
    expect(voucher.tags).toEqual([
      ['nonce', nonce],
      ['p', signer.pubkey],
      ['coupon', couponId],
      ['phase', 'claimed'],
    ])
    expect(JSON.parse(voucher.content)).toMatchObject({ v: 1, phase: 'claimed', claimedAt, nonce })
    expect(verifyEvent(voucher)).toBe(true)
    await untilSecond(secondsNow() + 1)
    const rows = await readRows(server.dataDir)
    const again = await claim(nonce, { amountMsat: 5 })
    expect(again.status).toBe(200)
    expect(again.json.voucher.id).toBe(voucher.id)
    expect({ ...again.json, voucher: 0 }).toEqual({ ...first.json, voucher: 0, status: 'claimed' })
    expect(await readRows(server.dataDir)).toEqual(rows)
  })

  test('exactly one of many simultaneous claims succeeds', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => claim(nonce)))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(answers.filter(({ json }) => json.status === 'success')).toHaveLength(1)
    expect(new Set(answers.map(({ json }) => json.voucher.id)).size).toBe(1)
  })

  test('of a claim and a refresh at once, one succeeds and the other is refused', async () => {
    const [claimed, refreshed] = await Promise.all([claim(nonce), refresh(nonce)])
    if (claimed.status === 200) {
      expect([refreshed.status, refreshed.json.code]).toEqual([409, 'voucher-claimed'])
    } else {
      expect([claimed.status, claimed.json.code, refreshed.status]).toEqual([
        410,
        'voucher-moved',
        201,
      ])
    }
  })

  test('redeems with the owner of the voucher, also in capitals or as null', async () => {
    expect((await claim(nonce, { owner: signer.pubkey })).json.status).toBe('success')
    const shouted = await mintOne(server.url, token, couponId)
    const owner = signer.pubkey.toUpperCase()
    expect((await claim(shouted.nonce, { owner })).json.status).toBe('success')
    const silent = await mintOne(server.url, token, couponId)
    expect((await claim(silent.nonce, { owner: null })).json.status).toBe('success')
  })

  test('refuses the voucher of another merchant in every phase, and burns nothing', async () => {
    const owner = newSigner().pubkey
    const refused = () => refuses(server, () => claim(nonce, { owner }), 409, 'other-merchant')
    await refused()
    expect((await preview(nonce)).json.status).toBe('minted')
    await claim(nonce)
    await refused()
    nonce = (await mintOne(server.url, token, couponId)).nonce
    await voidOne(nonce)
    await refused()
    nonce = (await mintOne(server.url, token, couponId)).nonce
    await refresh(nonce)
    await refused()
    const nobodys = 'A'.repeat(22)
    await refuses(server, () => claim(nobodys, { owner }), 404, 'voucher-unknown')
  })

  test('tells the key that redeemed it also from a request that names another merchant', async () => {
    const key = { 'Idempotency-Key': newKey() }
    const owner = newSigner().pubkey
    await refuses(server, () => claim(nonce, { owner }, key), 409, 'other-merchant')
    const first = await claim(nonce, { owner: signer.pubkey }, key)
    await refuses(server, () => claim(nonce, { owner }, key), 422, 'idempotency-key-reused')
    const elsewhere = { 'Idempotency-Key': newKey() }
    await refuses(server, () => claim(nonce, { owner }, elsewhere), 409, 'other-merchant')
    expect((await claim(nonce, { owner: signer.pubkey }, key)).text).toBe(first.text)
  })

  const badOwners: [string, unknown][] = [
    ['an npub', npubOf(signer.pubkey)],
    ['63 digits', 'a'.repeat(63)],
    ['65 digits', 'a'.repeat(65)],
    ['other letters', 'g'.repeat(64)],
    ['a newline at its end', `${'a'.repeat(64)}\n`],
    ['an empty text', ''],
    ['a number', 5],
    ['a list', [signer.pubkey]],
    ['an object', { toString: 1 }],
  ]
  for (const [name, owner] of badOwners) {
    test(`refuses as owner ${name}`, async () => {
      await refuses(server, () => claim(nonce, { owner }), 400, 'field-invalid', { field: 'owner' })
    })
  }

  test('refuses a refreshed and a voided voucher', async () => {
    await refresh(nonce)
    await refuses(server, () => claim(nonce), 410, 'voucher-moved')
    const { nonce: other } = await mintOne(server.url, token, couponId)
    await voidOne(other)
    await refuses(server, () => claim(other), 410, 'voucher-cancelled')
  })
})

describe('the data filed with a redemption', () => {
  /** A zap request for this coupon. */
  const order = (over: Json = {}) =>
    customer.sign({
      kind: 9734,
      created_at: secondsNow(),
      tags: [
        ['p', signer.pubkey],
        ['coupon', couponId],
      ],
      content: 'Dos cafés',
      ...over,
    })

  test('files a zap request as it was sent, as an object and as a string', async () => {
    const object = order()
    await claim(nonce, { zapRequest: object, amountMsat: 21_000 })
    const row = await newest()
    expect(row).toEqual({
      handle: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
      nonce: row.handle,
      claimedAt: expect.any(Number),
      couponId,
      name: 'Café gratis',
      benefit: { type: 'percent', percent: 10 },
      order: object,
      orderId: object.id,
      amountMsat: 21_000,
      claimedBy: null,
      claimedByNpub: null,
      claimedByLabel: null,
    })
    const text = ` ${JSON.stringify(order({ content: 'Té' }), null, 1)} `
    const next = await mintOne(server.url, token, couponId)
    await claim(next.nonce, { zapRequest: text })
    expect(await newest()).toMatchObject({
      order: text,
      orderId: JSON.parse(text).id,
      amountMsat: null,
    })
  })

  test('keeps additional keys in the order in which they were sent', async () => {
    const zapRequest = { ...order(), lnurl: 'x' }
    await claim(nonce, { zapRequest })
    expect((await newest()).order).toEqual(zapRequest)
  })

  test('files a zap request of exactly 8000 characters, and drops one of 8001', async () => {
    const sized = (size: number) => {
      const spare = size - JSON.stringify(order({ content: '' })).length
      return order({ content: 'x'.repeat(spare) })
    }
    const exact = sized(8000)
    expect(JSON.stringify(exact)).toHaveLength(8000)
    await claim(nonce, { zapRequest: exact })
    expect((await newest()).orderId).toBe(exact.id)
    const next = await mintOne(server.url, token, couponId)
    expect((await claim(next.nonce, { zapRequest: sized(8001) })).json.status).toBe('success')
    expect((await newest()).order).toBeNull()
  })

  test('counts the length in code points', async () => {
    const text = JSON.stringify(order({ content: '🧉'.repeat(3500) }))
    expect([...text].length).toBeLessThan(8000)
    await claim(nonce, { zapRequest: JSON.parse(text) })
    expect((await newest()).orderId).toBe(JSON.parse(text).id)
  })

  const lists = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const dropped: [string, () => unknown][] = [
    ['null', () => null],
    ['a number', () => 5],
    ['a list', () => [order()]],
    ['an empty object', () => ({})],
    ['an empty string', () => ''],
    ['text that is no JSON', () => 'zap'],
    ['JSON in JSON in JSON', () => JSON.stringify(JSON.stringify(order()))],
    ['another kind', () => order({ kind: 9735 })],
    ['no coupon tag', () => order({ tags: [['p', signer.pubkey]] })],
    ['a coupon tag without value', () => order({ tags: [['coupon']] })],
    ['another coupon', () => order({ tags: [['coupon', crypto.randomUUID()]] })],
    ['a coupon in the third place', () => order({ tags: [['coupon', 'x', couponId]] })],
    ['a wrong signature', () => ({ ...order(), sig: order({ content: 'x' }).sig })],
    ['a wrong id', () => ({ ...order(), id: 'ab'.repeat(32) })],
    ['a changed content', () => ({ ...order(), content: 'Tres cafés' })],
    ['no signature', () => ({ ...order(), sig: undefined })],
    ['lists nested as deep as a body may', () => JSON.parse(lists(limits.jsonDepthMax - 1))],
    ['lists nested deep in text', () => '['.repeat(7900)],
    ['the nonce in its content', () => order({ content: `cupón ${nonce}` })],
    [
      'the nonce in a tag',
      () =>
        order({
          tags: [
            ['coupon', couponId],
            ['nonce', nonce],
          ],
        }),
    ],
    ['the nonce beside the event', () => ({ ...order(), extra: nonce })],
    [
      'the nonce behind escapes',
      () => {
        const text = JSON.stringify(order({ content: nonce }))
        return text.replace(nonce, `\\u00${nonce.charCodeAt(0).toString(16)}${nonce.slice(1)}`)
      },
    ],
    [
      'the nonce behind escapes beside the event',
      () => {
        const hidden = `\\u00${nonce.charCodeAt(0).toString(16)}${nonce.slice(1)}`
        return JSON.stringify(order()).replace(/\}$/, `,"extra":"${hidden}"}`)
      },
    ],
  ]
  test('refuses a body that nests too deep, and burns nothing', async () => {
    const zapRequest = JSON.parse(lists(limits.jsonDepthMax))
    const { status, json } = await claim(nonce, { zapRequest })
    expect([status, json.code]).toEqual([400, 'body-invalid'])
    const { json: seen } = await call(server.url, '/api/coupons/preview', { body: { nonce } })
    expect(seen.status).toBe('minted')
  })

  for (const [name, zapRequest] of dropped) {
    test(`${name} is dropped, and the voucher is redeemed all the same`, async () => {
      const sent = zapRequest()
      const { status, json } = await claim(nonce, { zapRequest: sent, amountMsat: 7 })
      expect({ status, said: json.status, kept: json.zapRequestKept }).toEqual({
        ...{ status: 200, said: 'success' },
        kept: sent === null ? undefined : false,
      })
      expect(await newest()).toMatchObject({ order: null, orderId: null, amountMsat: 7 })
    })
  }

  const amounts: [unknown, number | null][] = [
    [0, 0],
    [1, 1],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    [2 ** 53, null],
    [-1, null],
    [0.5, null],
    [1e300, null],
    ['1', null],
    [null, null],
    [true, null],
    [{}, null],
    [[1], null],
  ]
  for (const [amountMsat, filed] of amounts) {
    test(`an amountMsat of ${JSON.stringify(amountMsat)} is filed as ${filed}`, async () => {
      expect((await claim(nonce, { amountMsat })).json.status).toBe('success')
      expect((await newest()).amountMsat).toBe(filed)
    })
  }

  test('a success says that a zap request was kept, and repeats it for its key', async () => {
    const body = { nonce, zapRequest: order() }
    const headers = withKey()
    const first = await call(server.url, '/api/coupons/claim', { body, ...headers })
    expect(first.json).toMatchObject({ status: 'success', zapRequestKept: true })
    const again = await call(server.url, '/api/coupons/claim', { body, ...headers })
    expect(again.text).toBe(first.text)
    const other = await claim(nonce, { zapRequest: order() })
    expect(other.json.status).toBe('claimed')
    expect(other.json).not.toHaveProperty('zapRequestKept')
    const next = await mintOne(server.url, token, couponId)
    const without = await claim(next.nonce, { amountMsat: 1 })
    expect(without.json.status).toBe('success')
    expect(without.json).not.toHaveProperty('zapRequestKept')
  })

  test('ignores the data of a second claim', async () => {
    await claim(nonce)
    await claim(nonce, { zapRequest: order(), amountMsat: 9 })
    expect(await newest()).toMatchObject({ order: null, amountMsat: null })
  })
})

describe('POST /api/coupons/refresh', () => {
  test('burns the nonce and answers with a voucher of the same terms', async () => {
    const { status, json } = await refresh(nonce)
    expect(status).toBe(201)
    const { voucher, ...rest } = json
    expect(rest).toEqual({ ...facts(), nonce: rest.nonce })
    expect(rest.nonce).not.toBe(nonce)
    expect(voucher.tags).toEqual([
      ['nonce', rest.nonce],
      ['p', signer.pubkey],
      ['coupon', couponId],
      ['phase', 'minted'],
    ])
    expect(JSON.parse(voucher.content)).toMatchObject({ nonce: rest.nonce, phase: 'minted' })
    expect(verifyEvent(voucher)).toBe(true)
    expect((await preview(rest.nonce)).json.status).toBe('minted')
  })

  test('changes no count', async () => {
    const counters = async () => {
      const { coupons } = (await call(server.url, '/api/coupons', { token })).json
      const { minted, claimed } = coupons.find((one: Json) => one.id === couponId)
      return { minted, claimed }
    }
    const before = await counters()
    await refresh(nonce)
    expect(await counters()).toEqual(before)
  })

  test('a retry with the same key gets the same bytes in every phase of the successor', async () => {
    const key = newKey()
    const first = await refresh(nonce, key)
    const replays = async () => {
      const rows = await readRows(server.dataDir)
      const again = await refresh(nonce, key)
      expect({ status: again.status, text: again.text }).toEqual({ status: 200, text: first.text })
      expect(await readRows(server.dataDir)).toEqual(rows)
    }
    await replays()
    const next = await refresh(first.json.nonce)
    await replays()
    await claim(next.json.nonce)
    await replays()
  })

  test('a retry gets the same bytes after the successor was voided, and after a later edit', async () => {
    const key = newKey()
    const first = await refresh(nonce, key)
    await voidOne(first.json.nonce)
    await call(server.url, `/api/coupons/${couponId}`, {
      method: 'PATCH',
      body: { description: 'Con leche' },
      token,
    })
    expect((await refresh(nonce, key)).text).toBe(first.text)
  })

  test('a retry gets the same bytes after the voucher expired', async () => {
    const id = await createDefinition(server.url, token, { expiresAt: secondsNow() + briefSeconds })
    const { nonce: short, expiresAt } = await mintOne(server.url, token, id)
    const key = newKey()
    const first = await refresh(short, key)
    expect(first.status).toBe(201)
    expect(first.json.expiresAt).toBe(expiresAt)
    await untilSecond(expiresAt)
    const again = await refresh(short, key)
    expect({ status: again.status, text: again.text }).toEqual({ status: 200, text: first.text })
    await refuses(server, () => refresh(first.json.nonce), 410, 'voucher-expired')
  })

  test('a retry gets the same bytes after SIGKILL and a restart', async () => {
    const dataDir = newDirectory()
    const first = await startServer({ dataDir, env: { RATE_LIMIT: 'off' } })
    const by = await openSession(first.url, signer)
    const { nonce: held } = await mintOne(first.url, by, await createDefinition(first.url, by))
    const request = { body: { nonce: held }, headers: { 'Idempotency-Key': newKey() } }
    const before = await call(first.url, '/api/coupons/refresh', request)
    await first.kill()
    const second = await startServer({ dataDir, env: { RATE_LIMIT: 'off' } })
    const after = await call(second.url, '/api/coupons/refresh', request)
    expect([before.status, after.status]).toEqual([201, 200])
    expect(after.text).toBe(before.text)
    expect(after.headers.get('content-type')).toBe(before.headers.get('content-type') ?? '')
  })

  test('another key for a burned nonce is 409 and learns nothing', async () => {
    const key = newKey()
    const { json } = await refresh(nonce, key)
    for (const other of [newKey(), `${key}x`, key.slice(0, -1), key.toUpperCase()]) {
      const answer = await refuses(server, () => refresh(nonce, other), 409, 'voucher-refreshed')
      expect(answer.text).not.toContain(json.nonce)
    }
  })

  test('one key may be used for several nonces', async () => {
    const key = newKey()
    const { nonce: other } = await mintOne(server.url, token, couponId)
    const [a, b] = [await refresh(nonce, key), await refresh(other, key)]
    expect([a.status, b.status]).toEqual([201, 201])
    expect(a.json.nonce).not.toBe(b.json.nonce)
    expect((await refresh(nonce, key)).text).toBe(a.text)
    expect((await refresh(other, key)).text).toBe(b.text)
    // The nonce is part of the MAC: a copy of the database does not show that one client refreshed both.
    const rows = await databaseOf(server.dataDir).all<{ key_mac: Uint8Array }>(
      'SELECT key_mac FROM refreshes ORDER BY id DESC LIMIT 2',
    )
    expect(new Set(rows.map(({ key_mac }) => Buffer.from(key_mac).toString('hex'))).size).toBe(2)
  })

  test('races with one key: one 201, the others 200, all with the same bytes', async () => {
    const key = newKey()
    const answers = await Promise.all(Array.from({ length: 30 }, () => refresh(nonce, key)))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(29).fill(200), 201])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  test('races with many keys: one 201, the others 409', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => refresh(nonce)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(29).fill(409)])
  })

  test('refuses a claimed and a voided voucher', async () => {
    await claim(nonce)
    await refuses(server, () => refresh(nonce), 409, 'voucher-claimed')
    const { nonce: other } = await mintOne(server.url, token, couponId)
    await voidOne(other)
    await refuses(server, () => refresh(other), 410, 'voucher-cancelled')
  })

  const raw = (keys: readonly string[]) =>
    callRaw(server.url, {
      method: 'POST',
      target: '/api/coupons/refresh',
      headers: keys.map((key) => ['Idempotency-Key', key] as const),
      body: JSON.stringify({ nonce }),
    })
  const badKeys: [string, readonly string[]][] = [
    ['no key', []],
    ['an empty key', ['']],
    ['7 characters', ['1234567']],
    ['256 characters', ['k'.repeat(256)]],
    ['a space inside', ['1234 5678']],
    ['a tab inside', ['1234\t5678']],
    ['Latin letters', ['clave-ñandú']],
    ['UTF-8', [Buffer.from('clave-ñandú').toString('latin1')]],
    ['a DEL', ['12345678\x7f']],
    ['two keys', ['12345678', '87654321']],
    ['the same key twice', ['12345678', '12345678']],
    ['a key and an empty one', ['12345678', '']],
    ['an empty key and a good one', ['', '12345678']],
  ]
  for (const [name, keys] of badKeys) {
    test(`${name} is refused, and nothing is burned`, async () => {
      await refuses(server, () => raw(keys), 400, 'idempotency-key-invalid')
      expect((await preview(nonce)).json.status).toBe('minted')
    })
  }

  for (const key of ['12345678', 'k'.repeat(255), '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~']) {
    test(`a key of ${key.length} visible characters is taken`, async () => {
      expect((await raw([key])).status).toBe(201)
      expect((await raw([key])).status).toBe(200)
    })
  }

  test('ignores spaces around a key', async () => {
    expect((await raw(['  12345678 '])).status).toBe(201)
    expect((await raw(['12345678'])).status).toBe(200)
  })
})
