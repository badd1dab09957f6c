import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Signer } from '../../src/nostr/event.ts'
import {
  call,
  createDefinition,
  type Json,
  newKey,
  newSigner,
  openSession,
  percentBenefit,
  withKey,
} from '../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../support/clock.ts'
import { databaseOf } from '../support/database.ts'
import { expectRefusal, readRows } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const owner = newSigner()
let server: TestServer
let token: string
let dataDir: string

beforeAll(async () => {
  server = await startServer({ checkRoots: true })
  dataDir = server.dataDir
  token = await openSession(server.url, owner)
})
afterAll(async () => {
  // The counters hold after everything that these tests did.
  expect(await databaseOf(dataDir).problems()).toEqual([])
  await cleanUp()
})

const manage = (method: string, path: string, body?: unknown, by = token) =>
  call(server.url, `/api/posters${path}`, { method, token: by, ...(body ? { body } : {}) })
const shown = (id: string) => call(server.url, `/api/posters/${id}`)
const take = (id: string, signer: Signer = newSigner(), key = newKey()) =>
  call(server.url, `/api/posters/${id}/take`, { method: 'POST', signer, ...withKey(key) })
const listed = async (id: string): Promise<Json> =>
  (await manage('GET', '')).json.posters.find((one: Json) => one.id === id)

/** A poster of a new definition. */
async function hang(limits: Json = {}, terms: Json = {}): Promise<Json> {
  const couponId = await createDefinition(server.url, token, terms)
  const { status, json } = await manage('POST', '', { couponId, ...limits })
  expect(status).toBe(201)
  return json.poster
}

describe('a merchant', () => {
  test('creates a poster, lists it, changes it and deletes it', async () => {
    const couponId = await createDefinition(server.url, token)
    const timeZone = 'America/Argentina/Buenos_Aires'
    const body = { couponId: couponId.toUpperCase(), label: 'Vidriera', perDay: 5, timeZone }
    const { poster } = (await manage('POST', '', body)).json
    expect(poster).toEqual({
      ...{ id: poster.id, couponId, label: 'Vidriera', perPerson: 1, perDay: 5, total: null },
      ...{ timeZone: poster.timeZone, startsAt: null, endsAt: null, paused: false, taken: 0 },
      ...{ takenToday: 0, createdAt: poster.createdAt, updatedAt: poster.createdAt },
    })
    expect(await listed(poster.id)).toEqual(poster)
    const changes = { perDay: null, total: 9, paused: true, label: null }
    const changed = (await manage('PATCH', `/${poster.id.toUpperCase()}`, changes)).json
    expect(changed.poster).toMatchObject(changes)
    expect((await manage('DELETE', `/${poster.id}`)).json).toEqual({ deleted: true })
    expect(await listed(poster.id)).toBeUndefined()
    expectRefusal(await shown(poster.id), 404, 'poster-unknown')
  })

  test('creates one poster for one Idempotency-Key', async () => {
    const body = { couponId: await createDefinition(server.url, token) }
    const ask = (changes = {}, key = 'k'.repeat(8)) =>
      call(server.url, '/api/posters', { body: { ...body, ...changes }, token, ...withKey(key) })
    const [first, again] = [await ask(), await ask()]
    expect([again.status, again.text]).toEqual([201, first.text])
    expectRefusal(await ask({ total: 1 }), 422, 'idempotency-key-reused')
  })

  test('is refused in order, and nothing is written', async () => {
    const poster = await hang()
    const stranger = newSigner()
    const foreign = await openSession(server.url, stranger)
    const rows = await readRows(server.dataDir)
    const none = '00000000-0000-4000-8000-000000000000'
    expectRefusal(await call(server.url, '/api/posters'), 401, 'auth-missing', {
      reason: 'missing',
    })
    expectRefusal(await manage('POST', '', { couponId: none }), 404, 'coupon-unknown')
    const { couponId } = poster
    expectRefusal(await manage('POST', '', { couponId }, foreign), 404, 'coupon-unknown')
    const late = { couponId, endsAt: 1 }
    expectRefusal(await manage('POST', '', late), 400, 'expiry-past', { field: 'endsAt' })
    const zone = { couponId, timeZone: 'Mars' }
    expectRefusal(await manage('POST', '', zone), 400, 'field-invalid', { field: 'timeZone' })
    const much = { couponId, total: 1_000_001 }
    expectRefusal(await manage('POST', '', much), 400, 'field-invalid', { field: 'total' })
    const path = `/${poster.id}`
    expectRefusal(await manage('PATCH', path, {}, token), 400, 'nothing-to-change')
    expectRefusal(await manage('PATCH', path, { total: 1 }, foreign), 404, 'poster-unknown')
    expectRefusal(await manage('PATCH', '/none', { total: 1 }), 404, 'poster-unknown')
    expectRefusal(await manage('DELETE', path, undefined, foreign), 404, 'poster-unknown')
    expectRefusal(await manage('DELETE', `/${none}`), 404, 'poster-unknown')
    expect(await readRows(server.dataDir)).toEqual(rows)
  })

  test('sees takes in the figures and lists of the coupon', async () => {
    const poster = await hang({ perPerson: 2 })
    const taken = (await take(poster.id)).json
    expect(await listed(poster.id)).toMatchObject({ taken: 1, takenToday: 1 })
    const overview = (await call(server.url, '/api/coupons', { token })).json
    const coupon = overview.coupons.find((one: Json) => one.id === poster.couponId)
    expect(coupon.minted).toBe(1)
    const mint = { body: { couponId: poster.couponId }, token }
    await call(server.url, '/api/coupons/mint', mint)
    const moved = { body: { nonce: taken.nonce }, ...withKey() }
    await call(server.url, '/api/coupons/refresh', moved)
    const { mints } = (await call(server.url, `/api/coupons/${poster.couponId}/mints`, { token }))
      .json
    expect(mints.map((one: Json) => [one.status, one.poster ?? null, one.mintedBy])).toEqual([
      ['minted', poster.id, owner.pubkey],
      ['minted', null, owner.pubkey],
      ['refreshed', poster.id, owner.pubkey],
    ])
    expect('poster' in mints[1]).toBe(false)
  })
})

describe('the page of a poster', () => {
  test('shows the coupon and no counters', async () => {
    const expiresAt = secondsNow() + 1000
    const terms = { description: 'Con leche', expiresAt }
    const { id } = await hang({ total: 1, label: 'Vidriera' }, terms)
    const { status, json } = await shown(id)
    expect(status).toBe(200)
    expect(json).toEqual({
      poster: { id, state: 'open', startsAt: null, endsAt: null },
      ...{ name: 'Café gratis', description: 'Con leche', image: null, coupon: percentBenefit },
      ...{ npub: json.npub, expiresAt },
    })
    await take(id)
    expect((await shown(id)).json.poster.state).toBe('exhausted')
    const rules = { conditions: 'No acumulable' }
    const ruled = await hang({}, { rules })
    expect((await shown(ruled.id)).json.rules).toEqual(rules)
    expect((await take(ruled.id)).json.rules).toEqual(rules)
  })
})

describe('a visitor', () => {
  test('takes a voucher with any key, and redeems it', async () => {
    const poster = await hang()
    const { status, json } = await take(poster.id.toUpperCase())
    expect(status).toBe(201)
    const fields = [
      'coupon',
      'couponId',
      'description',
      'expiresAt',
      'image',
      'name',
      'nonce',
      'npub',
    ]
    expect(new Set(Object.keys(json))).toEqual(new Set([...fields, 'voucher']))
    expect(json.couponId).toBe(poster.couponId)
    const claimed = await call(server.url, '/api/coupons/claim', { body: { nonce: json.nonce } })
    expect(claimed.json.status).toBe('success')
  })

  test('gets the same bytes for the same key for ever, and another visitor does not', async () => {
    const poster = await hang()
    const [ana, key] = [newSigner(), newKey()]
    const racing = await Promise.all([1, 2, 3, 4].map(() => take(poster.id, ana, key)))
    expect(racing.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201])
    const [text] = racing.map((answer) => answer.text)
    expect(new Set(racing.map((answer) => answer.text)).size).toBe(1)
    const other = await take(poster.id, newSigner(), key)
    expect([other.status, other.text === text]).toEqual([201, false])
    expectRefusal(await take(poster.id, ana), 409, 'poster-taken')

    const { nonce } = JSON.parse(text ?? '')
    await call(server.url, '/api/coupons/claim', { body: { nonce } })
    await manage('PATCH', `/${poster.id}`, { paused: true })
    expect((await take(poster.id, ana, key)).text).toBe(text ?? '')
    await manage('DELETE', `/${poster.id}`)
    expect((await take(poster.id, ana, key)).text).toBe(text ?? '')
    expectRefusal(await take(poster.id, ana), 404, 'poster-unknown')
  })

  test('is refused beyond each limit, and nothing is written', async () => {
    const soon = secondsNow() + 900
    const cases: [
      status: number,
      code: string,
      limits: Json,
      changes: Json | null,
      terms?: Json,
    ][] = [
      [409, 'poster-paused', {}, { paused: true }],
      [410, 'poster-ended', { endsAt: secondsNow() + 9 }, { endsAt: 1 }],
      [409, 'poster-exhausted', { total: 1 }, null],
      [409, 'coupon-exhausted', {}, null, { maxUses: 1 }],
      [409, 'not-now', {}, { startsAt: soon }],
      [409, 'poster-today', { perDay: 1 }, null],
    ]
    for (const [status, code, limits, changes, terms] of cases) {
      const { id } = await hang(limits, terms)
      await take(id)
      if (changes) expect((await manage('PATCH', `/${id}`, changes)).status).toBe(200)
      const rows = await readRows(server.dataDir)
      const waits = code === 'not-now' || code === 'poster-today'
      const refused = await take(id)
      expectRefusal(refused, status, code, waits ? { retry: true } : {})
      if (waits)
        expect(refused.json.retryAfter).toBeLessThanOrEqual(code === 'not-now' ? 900 : 86_400)
      expect(await readRows(server.dataDir)).toEqual(rows)
    }
  })

  test('is refused when the coupon is archived or expired', async () => {
    const archived = await hang()
    await take(archived.id)
    const path = `/api/coupons/${archived.couponId}`
    await call(server.url, path, { method: 'PATCH', token, body: { archived: true } })
    expectRefusal(await take(archived.id), 410, 'coupon-archived')
    expect((await shown(archived.id)).json.poster.state).toBe('ended')
    const expiresAt = secondsNow() + briefSeconds
    const expiring = await hang({}, { expiresAt })
    await untilSecond(expiresAt)
    expectRefusal(await take(expiring.id), 410, 'coupon-expired')
  })

  test('is refused without a key, a signature or a poster', async () => {
    const { id } = await hang()
    const path = `/api/posters/${id}/take`
    const keyless = { method: 'POST', signer: newSigner() }
    expectRefusal(await call(server.url, path, keyless), 400, 'idempotency-key-invalid')
    expectRefusal(await take(id, newSigner(), 'short'), 400, 'idempotency-key-invalid')
    const unsigned = await call(server.url, path, { method: 'POST', ...withKey() })
    expectRefusal(unsigned, 401, 'auth-missing', { reason: 'missing' })
    expectRefusal(await take('none'), 404, 'poster-unknown')
  })

  test('takes more than one where the poster says so', async () => {
    const { id } = await hang({ perPerson: 2 })
    const ana = newSigner()
    const taken = [await take(id, ana), await take(id, ana), await take(id, ana)]
    expect(taken.map(({ status }) => status)).toEqual([201, 201, 409])
  })
})

test('of fifty takers of ten vouchers ten get one, and the limit holds', async () => {
  const { id } = await hang({ total: 10 })
  const answers = await Promise.all(Array.from({ length: 50 }, () => take(id)))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(10)
  const codes = new Set(answers.filter(({ status }) => status !== 201).map(({ json }) => json.code))
  expect([...codes]).toEqual(['poster-exhausted'])
  expect(await listed(id)).toMatchObject({ taken: 10, takenToday: 10 })
})

test('an address takes a burst from a poster, waits, and takes from another one', async () => {
  const { id } = await hang()
  const retried = [newSigner(), newKey()] as const
  const kept = await take(id, ...retried)
  let limited: Json = null
  let taken = 0
  for (let round = 0; round < 20 && !limited; round++) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => take(id)))
    taken += answers.filter(({ status }) => status === 201).length
    limited = answers.find(({ status }) => status === 429)
  }
  expect(taken).toBeGreaterThanOrEqual(60)
  expectRefusal(limited, 429, 'rate-limited', { retry: true })
  // A lost answer is given again at once, and the burst is that of this poster.
  expect((await take(id, ...retried)).text).toBe(kept.text)
  expect((await take((await hang()).id)).status).toBe(201)
})

test('an answer that left is repeated after a kill, and the database shows no nonce', async () => {
  const poster = await hang()
  const [ana, key] = [newSigner(), newKey()]
  const { text, json } = await take(poster.id, ana, key)
  await server.kill()
  const content = await databaseOf(dataDir).content()
  expect([json.nonce, key].map((secret) => content.includes(secret))).toEqual([false, false])
  server = await startServer({ dataDir, checkRoots: true })
  expect((await take(poster.id, ana, key)).text).toBe(text)
  token = await openSession(server.url, owner)
  expect(await listed(poster.id)).toMatchObject({ taken: 1 })
})
