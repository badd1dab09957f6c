import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  call,
  createDefinition,
  type Json,
  mintOne,
  newKey,
  newSigner,
  openSession,
  percentBenefit,
} from '../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../support/clock.ts'
import { callRaw } from '../support/raw.ts'
import { readRows, refuses } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'

const signer = newSigner()
let server: TestServer
let token: string

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
  token = await openSession(server.url, signer)
})

afterAll(cleanUp)

const ask = (path: string, body: unknown, key: string, by: string | null = token) =>
  call(server.url, path, {
    body,
    headers: { 'Idempotency-Key': key },
    ...(by === null ? {} : { token: by }),
  })

type Route = {
  name: string
  path: string
  status: number
  by: () => string | null
  body: () => Promise<Json>
  /** Another payload that would be good under a key of its own. */
  other: (body: Json) => Json
}

const definition = { name: 'Café', benefit: percentBenefit }
const routes: Route[] = [
  {
    name: 'POST /api/coupons',
    path: '/api/coupons',
    status: 201,
    by: () => token,
    body: async () => definition,
    other: (body) => ({ ...body, name: 'Té' }),
  },
  {
    name: 'POST /api/coupons/mint',
    path: '/api/coupons/mint',
    status: 200,
    by: () => token,
    body: async () => ({ couponId: await createDefinition(server.url, token) }),
    other: (body) => ({ ...body, count: 1 }),
  },
  {
    name: 'POST /api/coupons/mint with count',
    path: '/api/coupons/mint',
    status: 200,
    by: () => token,
    body: async () => ({ couponId: await createDefinition(server.url, token), count: 3 }),
    other: (body) => ({ ...body, count: 4 }),
  },
  {
    name: 'POST /api/coupons/claim',
    path: '/api/coupons/claim',
    status: 200,
    by: () => null,
    body: async () => {
      const { nonce } = await mintOne(server.url, token, await createDefinition(server.url, token))
      return { nonce }
    },
    other: (body) => ({ ...body, amountMsat: 1 }),
  },
]

for (const { name, path, status, by, body, other } of routes) {
  describe(name, () => {
    test('the same request under one key gets the same answer and changes nothing more', async () => {
      const [key, sent] = [newKey(), await body()]
      const first = await ask(path, sent, key, by())
      expect(first.status).toBe(status)
      const rows = await readRows(server.dataDir)
      for (let times = 0; times < 3; times++) {
        const again = await ask(path, sent, key, by())
        expect({ status: again.status, text: again.text }).toEqual({ status, text: first.text })
      }
      expect(await readRows(server.dataDir)).toEqual(rows)
    })

    test('another payload under that key is 422, also other bytes of the same meaning', async () => {
      const [key, sent] = [newKey(), await body()]
      await ask(path, sent, key, by())
      for (const next of [other(sent), `${JSON.stringify(sent)} `]) {
        await refuses(server, () => ask(path, next, key, by()), 422, 'idempotency-key-reused')
      }
    })

    test('two simultaneous requests get one answer', async () => {
      const [key, sent] = [newKey(), await body()]
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => ask(path, sent, key, by())),
      )
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect(answers.every((answer) => answer.status === status)).toBe(true)
    })

    test('a bad key is refused', async () => {
      const text = JSON.stringify(await body())
      const credentials = by()
      const keys = [
        ['1234567'],
        ['k'.repeat(256)],
        ['1234 5678'],
        ['ñandúñandú'],
        [''],
        ['12345678', '12345678'],
      ]
      for (const values of keys) {
        const headers = [
          ...values.map((value) => ['Idempotency-Key', value] as const),
          ...(credentials === null ? [] : [['Authorization', `Bearer ${credentials}`] as const]),
        ]
        const request = { method: 'POST', target: path, headers, body: text }
        await refuses(server, () => callRaw(server.url, request), 400, 'idempotency-key-invalid')
      }
    })

    test('keys of 8 and of 255 characters are accepted', async () => {
      for (const key of [newKey().slice(0, 8), newKey().padEnd(255, '~')]) {
        expect((await ask(path, await body(), key, by())).status).toBe(status)
      }
    })
  })
}

describe('the scope of a key', () => {
  test('another route under the same key is independent', async () => {
    const key = newKey()
    const couponId = (await ask('/api/coupons', definition, key)).json.coupon.id
    const minted = await ask('/api/coupons/mint', { couponId }, key)
    expect(minted.status).toBe(200)
    const { nonce } = minted.json
    const claimed = await ask('/api/coupons/claim', { nonce }, key, null)
    expect(claimed.json.status).toBe('success')
  })

  test('another caller with the same key and payload is independent', async () => {
    const key = newKey()
    const other = await openSession(server.url, newSigner())
    const a = await ask('/api/coupons', definition, key)
    const b = await ask('/api/coupons', definition, key, other)
    expect([a.status, b.status]).toEqual([201, 201])
    expect(a.json.coupon.id).not.toBe(b.json.coupon.id)
  })

  test('another session of the caller, or a signature, has the same scope', async () => {
    const key = newKey()
    const first = await ask('/api/coupons', definition, key)
    const body = JSON.stringify(definition)
    const headers = { 'Idempotency-Key': key }
    const signed = await call(server.url, '/api/coupons', { body, headers, signer })
    expect({ status: signed.status, text: signed.text }).toEqual({ status: 201, text: first.text })
    const session = await openSession(server.url, signer)
    expect((await ask('/api/coupons', definition, key, session)).text).toBe(first.text)
  })

  test('another nonce with the same key is independent', async () => {
    const key = newKey()
    const couponId = await createDefinition(server.url, token)
    const nonces = [
      await mintOne(server.url, token, couponId),
      await mintOne(server.url, token, couponId),
    ]
    for (const { nonce } of nonces) {
      expect((await ask('/api/coupons/claim', { nonce }, key, null)).json.status).toBe('success')
    }
  })

  test('a definition or a mint without a key is made anew each time', async () => {
    const a = await call(server.url, '/api/coupons', { body: definition, token })
    const b = await call(server.url, '/api/coupons', { body: definition, token })
    expect(a.json.coupon.id).not.toBe(b.json.coupon.id)
  })
})

describe('the answer stored under a key', () => {
  test('a claim is repeated as success, while one without the key is answered claimed', async () => {
    const key = newKey()
    const { nonce } = await mintOne(server.url, token, await createDefinition(server.url, token))
    const first = await ask('/api/coupons/claim', { nonce }, key, null)
    expect(first.json.status).toBe('success')
    expect((await call(server.url, '/api/coupons/claim', { body: { nonce } })).json.status).toBe(
      'claimed',
    )
    expect((await ask('/api/coupons/claim', { nonce }, key, null)).text).toBe(first.text)
    expect((await ask('/api/coupons/claim', { nonce }, newKey(), null)).json.status).toBe('claimed')
  })

  test('a claim that only repeats stores nothing, so another payload under its key is accepted', async () => {
    const { nonce } = await mintOne(server.url, token, await createDefinition(server.url, token))
    await ask('/api/coupons/claim', { nonce }, newKey(), null)
    const rows = await readRows(server.dataDir)
    const key = newKey()
    for (const amountMsat of [1, 2]) {
      const again = await ask('/api/coupons/claim', { nonce, amountMsat }, key, null)
      expect([again.status, again.json.status]).toEqual([200, 'claimed'])
    }
    expect(await readRows(server.dataDir)).toEqual(rows)
  })

  test('a refusal is not stored: the same request may succeed later', async () => {
    const key = newKey()
    const couponId = await createDefinition(server.url, token, { maxUses: 1 })
    const { nonce } = await mintOne(server.url, token, couponId)
    await refuses(
      server,
      () => ask('/api/coupons/mint', { couponId }, key),
      409,
      'coupon-exhausted',
    )
    await call(server.url, `/api/coupons/${couponId}/mints/${nonce}`, { method: 'DELETE', token })
    expect((await ask('/api/coupons/mint', { couponId }, key)).status).toBe(200)
    await refuses(
      server,
      () => ask('/api/coupons', { ...definition, name: ' ' }, key),
      400,
      'field-invalid',
      { field: 'name' },
    )
    expect((await ask('/api/coupons', definition, key)).status).toBe(201)
  })

  test('a mint is repeated after the coupon is used up or archived, or the minter removed', async () => {
    const till = newSigner()
    const by = await openSession(server.url, till)
    const key = newKey()
    const couponId = await createDefinition(server.url, token, { maxUses: 1 })
    await call(server.url, '/api/coupons/minters', { body: { pubkey: till.pubkey }, token })
    const first = await ask('/api/coupons/mint', { couponId }, key, by)
    expect(first.status).toBe(200)
    await call(server.url, `/api/coupons/${couponId}`, { method: 'DELETE', token })
    await call(server.url, `/api/coupons/minters/${till.pubkey}`, { method: 'DELETE', token })
    const again = await ask('/api/coupons/mint', { couponId }, key, by)
    expect({ status: again.status, text: again.text }).toEqual({ status: 200, text: first.text })
  })

  test('a claim is repeated after the voucher has expired', async () => {
    const key = newKey()
    const expiresAt = secondsNow() + briefSeconds
    const { nonce } = await mintOne(
      server.url,
      token,
      await createDefinition(server.url, token, { expiresAt }),
    )
    const first = await ask('/api/coupons/claim', { nonce }, key, null)
    await untilSecond(expiresAt)
    expect((await ask('/api/coupons/claim', { nonce }, key, null)).text).toBe(first.text)
  })

  test('answers survive SIGKILL and a restart', async () => {
    const dataDir = newDirectory()
    const env = { RATE_LIMIT: 'off' }
    const one = await startServer({ dataDir, env })
    const by = await openSession(one.url, signer)
    const couponId = await createDefinition(one.url, by)
    const request = {
      body: { couponId, count: 2 },
      headers: { 'Idempotency-Key': newKey() },
      token: by,
    }
    const before = await call(one.url, '/api/coupons/mint', request)
    await one.kill()
    const two = await startServer({ dataDir, env })
    const after = await call(two.url, '/api/coupons/mint', request)
    expect({ status: after.status, text: after.text }).toEqual({ status: 200, text: before.text })
  })
})
