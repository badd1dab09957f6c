import { afterAll, describe, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import {
  call,
  createDefinition,
  mintOne,
  newKey,
  newSigner,
  openSession,
  percentBenefit,
  withKey,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { startClosed } from '../support/closed.ts'
import { damage } from '../support/database.ts'
import { expectRefusal, readRows, refuses } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

afterAll(cleanUp)

type Used = { vouchers: number; bytes: number; refreshes: number }
type Day = { day: number } & Used

const daysOf = async ({ dataDir }: TestServer) =>
  ((await readRows(dataDir)).merchant_days ?? []) as Day[]

/** A merchant of a server, with a coupon. */
async function newMerchant({ url }: TestServer) {
  const signer = newSigner()
  const token = await openSession(url, signer)
  return { signer, token, couponId: await createDefinition(url, token) }
}

/** Set what every merchant has added today; and tomorrow, for a test at midnight. */
async function setUsed({ dataDir }: TestServer, used: Partial<Used>): Promise<void> {
  const { vouchers = 0, bytes = 0, refreshes = 0 } = used
  const today = Math.floor(secondsNow() / 86_400)
  await damage(dataDir, 'DELETE FROM merchant_days')
  for (const day of [today, today + 1]) {
    await damage(
      dataDir,
      `INSERT INTO merchant_days SELECT DISTINCT ${day}, owner, ${vouchers}, ${bytes}, ${refreshes}
       FROM definitions`,
    )
  }
}

const startOpen = () => startClosed({ env: { MERCHANTS: 'open' } })
const late = { retry: true } as const

describe('on a service for any key', () => {
  test("a merchant's coupons change hands twenty thousand times a day, and replays go on", async () => {
    const server = await startOpen()
    const { token, couponId } = await newMerchant(server)
    const refresh = (nonce: string, key: string) =>
      call(server.url, '/api/coupons/refresh', {
        body: { nonce },
        headers: { 'Idempotency-Key': key },
      })
    await setUsed(server, { refreshes: limits.refreshesPerDayMax - 1 })
    const [first, second] = [
      (await mintOne(server.url, token, couponId)).nonce,
      (await mintOne(server.url, token, couponId)).nonce,
    ]
    const key = newKey()
    const { status, text } = await refresh(first, key)
    expect(status).toBe(201)
    await refuses(server, () => refresh(second, newKey()), 429, 'rate-limited', late)
    const again = await refresh(first, key)
    expect([again.status, again.text]).toEqual([200, text])
    // The coupon stays valid: the till redeems it, and another merchant's coupons still change hands.
    const redeemed = await call(server.url, '/api/coupons/claim', { body: { nonce: second } })
    expect(redeemed.json.status).toBe('success')
    const other = await newMerchant(server)
    const { nonce: theirs } = await mintOne(server.url, other.token, other.couponId)
    expect((await refresh(theirs, newKey())).status).toBe(201)
  })

  test('visitors take half of the day of a merchant from its posters, and the rest is the merchant’s', async () => {
    const server = await startOpen()
    const { url } = server
    const { token, couponId } = await newMerchant(server)
    const made = await call(url, '/api/posters', { body: { couponId }, token })
    const path = `/api/posters/${made.json.poster.id}/take`
    const take = () => call(url, path, { method: 'POST', signer: newSigner(), ...withKey() })
    await setUsed(server, { vouchers: limits.vouchersPerDayMax / 2 - 1 })
    expect((await take()).status).toBe(201)
    const { json } = await refuses(server, take, 409, 'poster-today', late)
    expect(json.retryAfter).toBeLessThanOrEqual(86_400)
    expect(await mintOne(url, token, couponId)).toHaveProperty('nonce')
  })

  test('a merchant mints ten thousand vouchers a day, by all its minters together', async () => {
    const server = await startOpen()
    const { url } = server
    const { token, couponId } = await newMerchant(server)
    const till = newSigner()
    const body = { pubkey: till.pubkey }
    await call(url, '/api/coupons/minters', { body, token })
    const by = await openSession(url, till)
    const mint = (count: number, as = token) =>
      call(url, '/api/coupons/mint', { body: { couponId, count }, token: as })
    expect((await mint(5)).status).toBe(200)
    expect((await mint(2, by)).status).toBe(200)
    expect(await daysOf(server)).toMatchObject([{ vouchers: 7 }])

    await setUsed(server, { vouchers: limits.vouchersPerDayMax - 3 })
    await refuses(server, () => mint(4), 429, 'vouchers-day-full', late)
    expect((await mint(3, by)).status).toBe(200)
    const { json } = await refuses(server, () => mint(1), 429, 'vouchers-day-full', late)
    expect(json.retryAfter).toBeLessThanOrEqual(86_400)
    await refuses(server, () => mint(1, by), 429, 'vouchers-day-full', late)
    // Each merchant has its own count, and it ends with the day.
    const other = await newMerchant(server)
    expect(await mintOne(url, other.token, other.couponId)).toHaveProperty('nonce')
    await damage(server.dataDir, 'UPDATE merchant_days SET day = day - 2')
    expect((await mint(1)).status).toBe(200)
  })

  test('the bytes that a merchant writes in a day are limited, and redemptions still pass', async () => {
    const server = await startOpen()
    const { url } = server
    const { signer, token, couponId } = await newMerchant(server)
    const customer = newSigner()
    const nonces = [
      (await mintOne(url, token, couponId)).nonce,
      (await mintOne(url, token, couponId)).nonce,
    ]
    const claim = (nonce: string) => {
      const tags = [['coupon', couponId]]
      const fields = { kind: 9734, created_at: secondsNow(), tags, content: '' }
      const body = { nonce, zapRequest: customer.sign(fields) }
      return call(url, '/api/coupons/claim', { body })
    }
    const grown = async (run: () => Promise<unknown>) => {
      await setUsed(server, {})
      await run()
      return Math.max(...(await daysOf(server)).map(({ bytes }) => bytes))
    }
    const fields = { name: 'Té', benefit: percentBenefit }
    const headers = { 'Idempotency-Key': newKey() }
    const define = () => call(url, '/api/coupons', { body: fields, token })
    const kept = () => call(url, '/api/coupons', { body: fields, token, headers })
    const path = `/api/coupons/${couponId}`
    let serial = 0
    const edit = () =>
      call(url, path, { method: 'PATCH', body: { description: `${++serial}` }, token })
    const archive = () => call(url, path, { method: 'PATCH', body: { archived: false }, token })
    const body = { couponId }
    const mintKept = () =>
      call(url, '/api/coupons/mint', { body, token, headers: { 'Idempotency-Key': newKey() } })
    const announce = (at: number) => {
      const content = JSON.stringify({ v: 2 })
      const event = signer.sign({
        ...{ kind: 30_078, created_at: secondsNow() - 10 + at, tags: [['d', 'x']], content },
      })
      return call(url, '/api/coupons/discovery', { method: 'PUT', body: { event }, token })
    }
    // Each change of a text has its cost; one without has none.
    const cost = await grown(define)
    expect(cost).toBeGreaterThan(100)
    expect(await grown(kept)).toBe(cost * 2)
    expect(await grown(kept)).toBe(0)
    expect(await grown(edit)).toBeGreaterThan(100)
    expect(await grown(archive)).toBe(0)
    expect(await grown(() => mintOne(url, token, couponId))).toBe(0)
    expect(await grown(mintKept)).toBeGreaterThan(500)
    expect(await grown(() => announce(1))).toBeGreaterThan(200)
    expect(await grown(() => claim(nonces[0]))).toBeGreaterThan(200)

    await setUsed(server, { bytes: limits.merchantBytesPerDayMax - 50 })
    for (const ask of [define, edit, mintKept, () => announce(2)]) {
      await refuses(server, ask, 429, 'bytes-day-full', late)
    }
    expect(await mintOne(url, token, couponId)).toHaveProperty('nonce')
    expect((await archive()).status).toBe(200)
    expect((await claim(nonces[1])).json.status).toBe('success')
    const { json } = await call(url, '/api/coupons/redemptions', { token })
    expect(json.redemptions.map(({ orderId }: { orderId: string | null }) => orderId)).toEqual([
      null,
      expect.any(String),
    ])
  })

  test('past days are deleted', async () => {
    const first = await startOpen()
    const { dataDir } = first
    await newMerchant(first)
    await damage(dataDir, 'UPDATE merchant_days SET day = day - 2')
    await first.stop()
    const later = await startClosed({ dataDir, env: { MERCHANTS: 'open' } })
    await until('the rows are gone', async () => (await daysOf(later)).length === 0)
  })
})

test.each<[string, Record<string, string>, boolean]>([
  ['on this machine alone', { HOST: '127.0.0.1', MERCHANTS: 'open' }, false],
  ['for listed merchants', {}, true],
])('%s there are no such quotas', async (_, env, listed) => {
  const signer = newSigner()
  const setting = listed ? { MERCHANTS: signer.pubkey } : {}
  const server = await startClosed({ env: { ...env, ...setting } })
  const token = await openSession(server.url, signer)
  const couponId = await createDefinition(server.url, token)
  await setUsed(server, {
    vouchers: limits.vouchersPerDayMax,
    bytes: limits.merchantBytesPerDayMax,
  })
  const before = await daysOf(server)
  expect(await createDefinition(server.url, token)).toBeString()
  expect(await mintOne(server.url, token, couponId)).toHaveProperty('nonce')
  expect(await daysOf(server)).toEqual(before)
})

test('a service on the loopback has quotas once a proxy was seen', async () => {
  const server = await startServer({
    checkRoots: true,
    env: { RATE_LIMIT: 'off', MERCHANTS: 'open' },
  })
  const { token, couponId } = await newMerchant(server)
  await mintOne(server.url, token, couponId)
  expect(await daysOf(server)).toEqual([])
  await call(server.url, '/livez', { headers: { Via: '1.1 tunnel' } })
  await mintOne(server.url, token, couponId)
  expect(await daysOf(server)).toMatchObject([{ vouchers: 1 }])
  await setUsed(server, { vouchers: limits.vouchersPerDayMax })
  const body = { couponId }
  const refused = await call(server.url, '/api/coupons/mint', { body, token })
  expectRefusal(refused, 429, 'vouchers-day-full', late)
})
