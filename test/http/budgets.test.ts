/** Budgets follow the credential: a crowd behind one address takes nothing from a till, a customer and a card there. */
import { afterEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { SignJWT } from 'jose'
import { asking, cardEnv, scanPath, tapQuery } from '../support/cards.ts'
import {
  type Answer,
  type CallOptions,
  call,
  createDefinition,
  createProof,
  type Json,
  mintOne,
  newKey,
  newSigner,
  nostrHeader,
  openSession,
  withKey,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { untilLimited } from '../support/limited.ts'
import { createInvoice, newFundedCard, payEvent } from '../support/payments.ts'
import { loopbackProgram, timelessProgram } from '../support/program.ts'
import { callRaw } from '../support/raw.ts'
import { expectRefusal, refuses } from '../support/refusals.ts'
import {
  cleanUp,
  newDirectory,
  type ServerOptions,
  startServer,
  type TestServer,
} from '../support/server.ts'
import { addAccount } from '../support/shops.ts'

afterEach(cleanUp)

/** A server whose budgets stay as they were used up. */
const start = (options: ServerOptions = {}) => startServer({ command: timelessProgram, ...options })

const proxied = { TRUSTED_PROXIES: '127.0.0.1', MERCHANTS: 'open' }
/** The address of a shop's router, for its visitors and its till. */
const crowd = '203.0.113.7'

/** Requests of clients behind that router. */
function behind(server: TestServer, address = crowd) {
  const ask = (path: string, options: CallOptions = {}): Promise<Answer> => {
    const headers = { ...options.headers, 'X-Forwarded-For': address }
    return call(server.url, path, { ...options, headers })
  }
  /** Use up the budget that the address has for requests without a credential. */
  const flood = () => untilLimited(() => ask('/api/coupons/manager'))
  /** Ask while the address is over its budget. */
  const over = async (path: string, options: CallOptions = {}): Promise<Answer> => {
    await flood()
    return ask(path, options)
  }
  return { ask, flood, over }
}

async function openShop(server: TestServer) {
  const merchant = newSigner()
  const token = await openSession(server.url, merchant)
  const couponId = await createDefinition(server.url, token)
  const mint = async (): Promise<string> => (await mintOne(server.url, token, couponId)).nonce
  return { merchant, token, couponId, mint }
}

/** All requests of a till and a customer, while others have used up the budget of their address. */
async function expectServed(server: TestServer, client: ReturnType<typeof behind>) {
  const { merchant, token, couponId, mint } = await openShop(server)
  const { over } = client
  const nonce = await mint()
  expect((await over('/api/coupons/preview', { body: { nonce } })).json.status).toBe('minted')
  expect((await over(`/api/coupons/claim?nonce=${nonce}`)).json.status).toBe('minted')

  const key = newKey()
  const refreshed = await over('/api/coupons/refresh', { body: { nonce }, ...withKey(key) })
  expect(refreshed.status).toBe(201)
  const again = await over('/api/coupons/refresh', { body: { nonce }, ...withKey(key) })
  expect([again.status, again.text]).toEqual([200, refreshed.text])

  const body = { nonce: refreshed.json.nonce, owner: merchant.pubkey }
  const claimKey = newKey()
  const elsewhere = { body: { ...body, owner: newSigner().pubkey } }
  expectRefusal(await over('/api/coupons/claim', elsewhere), 409, 'other-merchant')
  const claimed = await over('/api/coupons/claim', { body, ...withKey(claimKey) })
  expect(claimed.json.status).toBe('success')
  // The answer was lost: asked again, with the key and without.
  const retried = await over('/api/coupons/claim', { body, ...withKey(claimKey) })
  expect([retried.status, retried.text]).toEqual([200, claimed.text])
  expect((await over('/api/coupons/claim', { body })).json.status).toBe('claimed')
  expect((await over('/api/coupons/preview', { body })).json.status).toBe('claimed')

  expect((await over('/api/coupons', { token })).status).toBe(200)
  expect((await over('/api/coupons/mint', { body: { couponId }, token })).status).toBe(200)
  expect(
    (await over('/api/coupons', { token: await openSession(server.url, newSigner()) })).status,
  ).toBe(200)
  const answer = await over('/api/auth/session', { body: {} })
  expectRefusal(answer, 429, 'rate-limited', { retry: true })
}

test('a crowd behind the address of a shop refuses neither its till nor its customers', async () => {
  const server = await start({ env: proxied })
  await expectServed(server, behind(server))
})

test('a crowd within one IPv6 network, each device with its own address, does not either', async () => {
  const server = await start({ env: proxied })
  const manager = '/api/coupons/manager'
  const neighbour = await behind(server, '2001:db8:1:2::77').over(manager)
  expectRefusal(neighbour, 429, 'rate-limited', { retry: true })
  expect((await behind(server, '2001:db8:1:3::1').ask(manager)).status).toBe(200)
  await expectServed(server, behind(server, '2001:db8:1:2:ffff::9'))
})

test('a crowd without a proxy does not either, and another address is not affected', async () => {
  const server = await start({ flags: ['--host', '0.0.0.0', '--merchants', 'open'] })
  const base = server.url.replace('0.0.0.0', '127.0.0.1')
  const { mint } = await openShop({ ...server, url: base })
  const [nonce, guess] = [await mint(), 'A'.repeat(22)]
  const manager = '/api/coupons/manager'
  const crowded = () => callRaw(base, { target: manager, from: '127.0.0.7' })
  await untilLimited(crowded)
  const claim = (sent: string, from: string) =>
    callRaw(base, {
      method: 'POST',
      target: '/api/coupons/claim',
      body: JSON.stringify({ nonce: sent }),
      from,
    })
  expect((await claim(nonce, '127.0.0.7')).json.status).toBe('success')
  expect((await claim(guess, '127.0.0.7')).status).toBe(429)
  expect((await claim(guess, '127.0.0.8')).status).toBe(404)
})

test('an address over its budget is refused on every route without a good credential', async () => {
  const server = await start({ env: proxied })
  const { over } = behind(server)
  const { paths } = (await call(server.url, '/openapi.json')).json
  const supervised = ['/livez', '/readyz', '/metrics']
  const routes = Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  )
  expect(routes.length).toBeGreaterThan(50)
  const wrong: CallOptions[] = [
    {},
    { token: 'guess' },
    { headers: { Authorization: 'Nostr e30=' } },
  ]
  for (const { method, path } of routes.filter(({ path }) => !supervised.includes(path))) {
    for (const credentials of wrong) {
      const body = method === 'GET' ? {} : { body: { nonce: 'A'.repeat(22), to: 'ana@shop.test' } }
      const target = path.replace(/\{\w+\}/g, 'A'.repeat(22))
      const query = method === 'GET' ? `?nonce=${'A'.repeat(22)}&k1=${'A'.repeat(22)}&pr=x` : ''
      const options = { method, ...body, ...credentials, ...withKeyOf(credentials) }
      const { status } = await over(`${target}${query}`, options)
      expect({ method, path, status }).toEqual({ method, path, status: 429 })
    }
  }
}, 120_000)

function withKeyOf({ headers }: CallOptions): CallOptions {
  return { headers: { ...headers, 'Idempotency-Key': newKey() } }
}

describe('the budget of a credential', () => {
  test('a claimable nonce has its own budget, which earlier nonces of its chain do not use up', async () => {
    const server = await start({ env: proxied })
    const { ask, flood, over } = behind(server)
    const { mint } = await openShop(server)
    const nonce = await mint()
    await flood()
    const look = (of: string) => over('/api/coupons/preview', { body: { nonce: of } })
    const refresh = { body: { nonce }, ...withKey(newKey()) }
    const next = (await call(server.url, '/api/coupons/refresh', refresh)).json.nonce as string
    // A former holder looks at it until his budget is used up.
    await untilLimited(() => ask('/api/coupons/preview', { body: { nonce } }))
    expect((await look(next)).json.status).toBe('minted')
    expect((await over('/api/coupons/claim', { body: { nonce: next } })).json.status).toBe(
      'success',
    )
    // The repeated refresh always gets its answer.
    expect((await over('/api/coupons/refresh', refresh)).json.nonce).toBe(next)
  })

  test('unknown keys share the budget of their address, and known keys do not wait for them', async () => {
    const server = await start({ env: proxied })
    const { ask, flood, over } = behind(server)
    const { token } = await openShop(server)
    const made = Array.from({ length: 30 }, () => openSession(server.url, newSigner()))
    const strangers = await Promise.all(made)
    const path = '/api/coupons/mintable'
    await flood()
    let turn = 0
    const { limited } = await untilLimited(() =>
      ask(path, { token: strangers[turn++ % strangers.length] ?? '' }),
    )
    expectRefusal(limited, 429, 'rate-limited', { retry: true })
    for (let times = 0; times < 5; times++) expect((await over(path, { token })).status).toBe(200)
  })

  test('an ended session is reported as ended, and its key can sign in again', async () => {
    const secret = randomBytes(32).toString('base64url')
    const server = await start({ env: { ...proxied, SESSION_JWT_SECRET: secret } })
    const { over } = behind(server)
    const { merchant } = await openShop(server)
    const past = secondsNow() - 10
    const token = await new SignJWT()
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setSubject(merchant.pubkey)
      .setIssuedAt(past - 43_200)
      .setExpirationTime(past)
      .sign(new TextEncoder().encode(secret))
    expectRefusal(await over('/api/coupons', { token }), 401, 'auth-session-expired', {
      reason: 'session-expired',
    })
    const session = await over('/api/auth/session', { body: {}, signer: merchant })
    expect(session.status).toBe(200)
  })

  test('a card pays by tap and by k1, and an old tap is refused', async () => {
    const dataDir = newDirectory()
    // Keys of a card leave over loopback or https only.
    const plain = await startServer({ dataDir, env: cardEnv })
    const card = await newFundedCard(plain, { PESO: 500, BTC: 50_000 })
    await plain.stop()
    const server = await start({ dataDir, env: { ...proxied, ...cardEnv } })
    const { over } = behind(server)
    const first = scanPath(card.uid, 1)
    const scanned = await over(first, asking('extendedScan'))
    expect(scanned.json.tag).toBe('laWallet:withdrawRequest')
    expectRefusalOf(await over(first, asking('extendedScan')))
    expectRefusalOf(await over(scanPath(card.uid, 9, 2)))

    const { k1 } = scanned.json
    const shop = newSigner()
    const body = payEvent({ k1, pubkey: shop.pubkey, tokens: { PESO: 100 } })
    expect((await over('/card/pay', { body })).json).toEqual({ status: 'OK' })
    expect((await over('/card/pay', { body })).json).toEqual({ status: 'OK' })
    expect((await over(`/card/pay/${k1}`)).json.status).toBe('OK')
    const guess = payEvent({ k1: 'A'.repeat(22), pubkey: shop.pubkey, tokens: { PESO: 1 } })
    expectRefusalOf(await over('/card/pay', { body: guess }))
    expectRefusalOf(await over(`/card/pay/${'A'.repeat(22)}`))

    const standard = await over(scanPath(card.uid, 2))
    expect(standard.json.tag).toBe('withdrawRequest')
    const paid = await over(`/card/pay?k1=${standard.json.k1}&pr=${createInvoice()}`)
    expect([paid.status, paid.json.status]).toEqual([200, 'OK'])
    const link = `/ntag424?${tapQuery(card.uid, 3)}`
    const linked = await over(link, { method: 'PATCH', body: payEvent({ otc: 'x' }) })
    expect(linked.status).toBe(403)
  })

  test('a coupon is sent to a name of this service', async () => {
    const server = await start({
      env: { ...proxied, PUBLIC_URL: 'https://shop.test' },
    })
    const { over } = behind(server)
    const headers = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'shop.test' }
    const merchant = newSigner()
    const signed = await signedSession(server, merchant)
    const couponId = await createDefinition(server.url, signed)
    const { nonce, voucher } = await mintOne(server.url, signed, couponId)
    const other = await mintOne(server.url, signed, couponId)
    await addAccount(server.dataDir, 'ana', newSigner().pubkey)
    const sent = await over('/api/transfer', { body: { nonce, to: 'ana@shop.test' }, headers })
    expect(sent.json).toEqual({ status: 'SENT' })
    const arrival = { action: 'voucher', nonce: other.nonce, voucher: other.voucher }
    const taken = await over('/api/lud16/ana/cb', { body: arrival, headers })
    expect(taken.json).toEqual({ status: 'ACCEPTED' })
    const foreign = { action: 'voucher', nonce: 'A'.repeat(22), voucher }
    expect((await over('/api/lud16/ana/cb', { body: foreign, headers })).status).toBe(429)
  })
})

test('senders to other services do not keep anybody from sending to a name here', async () => {
  const server = await startServer({
    env: { PUBLIC_URL: 'https://shop.test', MERCHANTS: 'open' },
    command: loopbackProgram,
  })
  const token = await signedSession(server, newSigner())
  const couponId = await createDefinition(server.url, token)
  const { nonce } = await mintOne(server.url, token, couponId)
  await addAccount(server.dataDir, 'ana', newSigner().pubkey)
  const give = (to: string) => call(server.url, '/api/transfer', { body: { nonce, to } })
  const away = await Promise.all(Array.from({ length: 80 }, () => give('eva@elsewhere.test')))
  const refused = away.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(5)
  for (const answer of refused) expectRefusalOf(answer)
  expect((await give('ana@shop.test')).json).toEqual({ status: 'SENT' })
})

describe('refreshes of one coupon', () => {
  /** Refresh a coupon so often; every nonce with its key and answer, and the nonce that is good now. */
  async function handOn(server: TestServer, first: string, times: number) {
    const done: { nonce: string; key: string; answer: Answer }[] = []
    let nonce = first
    while (done.length < times) {
      const key = newKey()
      const answer = await refresh(server, nonce, key)
      expect(answer.status).toBe(201)
      done.push({ nonce, key, answer })
      nonce = answer.json.nonce
    }
    return { done, nonce }
  }
  const refresh = (server: TestServer, nonce: string, key = newKey()) =>
    call(server.url, '/api/coupons/refresh', { body: { nonce }, ...withKey(key) })

  test('pass twenty times at once, then get a 429 that burns nothing; repetitions pass', async () => {
    const server = await start()
    const { mint } = await openShop(server)
    const { done, nonce } = await handOn(server, await mint(), 20)
    const refused = await refuses(server, () => refresh(server, nonce), 429, 'rate-limited', {
      retry: true,
    })
    expect(refused.json.retryAfter).toBeLessThanOrEqual(10)
    for (const { nonce: burned, key, answer } of done) {
      const again = await refresh(server, burned, key)
      expect([again.status, again.text]).toEqual([200, answer.text])
    }
    expectRefusal(await refresh(server, done[0]?.nonce ?? ''), 409, 'voucher-refreshed')
    expect((await refresh(server, await mint())).status).toBe(201)
    const claimed = await call(server.url, '/api/coupons/claim', { body: { nonce } })
    expect(claimed.json.status).toBe('success')
  })

  test('count once for all racing requests of one coupon', async () => {
    const server = await start()
    const { mint } = await openShop(server)
    const nonce = await mint()
    const race = await Promise.all(Array.from({ length: 30 }, () => refresh(server, nonce)))
    const won = race.filter(({ status }) => status === 201)
    expect(won).toHaveLength(1)
    const { nonce: last } = await handOn(server, won[0]?.json.nonce, 19)
    expectRefusal(await refresh(server, last), 429, 'rate-limited', { retry: true })
  })

  test('are not limited with RATE_LIMIT=off', async () => {
    const server = await startServer({ env: { RATE_LIMIT: 'off' } })
    const { mint } = await openShop(server)
    await handOn(server, await mint(), 30)
  })

  test('are refused for a transfer, too, and the coupon stays where it was', async () => {
    const server = await start({
      env: { PUBLIC_URL: 'https://shop.test', MERCHANTS: 'open' },
    })
    const token = await signedSession(server, newSigner())
    const couponId = await createDefinition(server.url, token)
    const first = await mintOne(server.url, token, couponId)
    await addAccount(server.dataDir, 'ana', newSigner().pubkey)
    const { done, nonce } = await handOn(server, first.nonce, 20)
    const voucher = done.at(-1)?.answer.json.voucher
    const body = { nonce, to: 'ana@shop.test' }
    const sending = await call(server.url, '/api/transfer', { body })
    expect(sending.json).toMatchObject({ status: 'NOT_SENT', code: 'rate-limited' })
    const arrival = { action: 'voucher', nonce, voucher }
    const taken = await call(server.url, '/api/lud16/ana/cb', { body: arrival })
    expectRefusalOf(taken)
    expect(taken.json.retryAfter).toBeLessThanOrEqual(10)
    const look = await call(server.url, '/api/coupons/preview', { body: { nonce } })
    expect(look.json.status).toBe('minted')
    // A coupon that a name received before is accepted again, however often it was refreshed.
    const other = await mintOne(server.url, token, couponId)
    const again = { action: 'voucher', nonce: other.nonce, voucher: other.voucher }
    for (let times = 0; times < 25; times++) {
      const { json } = await call(server.url, '/api/lud16/ana/cb', { body: again })
      expect(json).toEqual({ status: 'ACCEPTED' })
    }
  })
})

test('mistakes of a crowd do not change the answers to a session', async () => {
  const server = await start({ env: proxied })
  const { over } = behind(server)
  const { token } = await openShop(server)
  const headers = { 'X-Forwarded-For': crowd }
  const missing = () => call(server.url, '/api/coupons', { headers })
  await untilLimited(missing)
  const unknown = () =>
    call(server.url, `/api/coupons/${crypto.randomUUID()}/mints`, { token, headers })
  for (let turn = 0; turn < 30; turn++) {
    expectRefusal(await unknown(), 404, 'coupon-unknown')
    expect((await missing()).status).toBe(429)
  }
  expectRefusal(
    await over(`/api/coupons/${crypto.randomUUID()}/mints`, { token }),
    404,
    'coupon-unknown',
  )
})

/** Cards have another envelope. */
function expectRefusalOf({ status, json }: Answer): void {
  expect({ status, code: json.code }).toEqual({ status: 429, code: 'rate-limited' })
}

async function signedSession(server: TestServer, merchant: ReturnType<typeof newSigner>) {
  const path = '/api/auth/session'
  const proof = createProof(merchant, `https://shop.test${path}`, { method: 'POST' })
  const headers = { Authorization: nostrHeader(proof) }
  return (await call(server.url, path, { method: 'POST', headers })).json.token as string
}
