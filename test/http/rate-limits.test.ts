import { afterEach, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { SignJWT } from 'jose'
import {
  type Answer,
  call,
  createDefinition,
  createProof,
  type Json,
  mintOne,
  newKey,
  newSigner,
  nostrHeader,
  openSession,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { untilLimited } from '../support/limited.ts'
import { timelessProgram } from '../support/program.ts'
import { expectRefusal, refuses } from '../support/refusals.ts'
import { cleanUp, startServer } from '../support/server.ts'

afterEach(cleanUp)

/** A server whose budgets stay as they were used up. */
const start = (env: Record<string, string> = {}) => startServer({ command: timelessProgram, env })

const unknown = { body: { nonce: 'A'.repeat(22) } }

test('failures of one client limit neither known nonces nor good keys behind its address', async () => {
  const server = await start()
  const signer = newSigner()
  const token = await openSession(server.url, signer)
  const couponId = await createDefinition(server.url, token)
  const { nonce } = await mintOne(server.url, token, couponId)
  const guesses: (() => Promise<Answer>)[] = [
    () => call(server.url, '/api/coupons/claim', unknown),
    () => call(server.url, '/api/coupons/preview', unknown),
    () => call(server.url, `/api/coupons/claim?nonce=${unknown.body.nonce}`),
    () =>
      call(server.url, '/api/coupons/refresh', {
        ...unknown,
        headers: { 'Idempotency-Key': newKey() },
      }),
    () => call(server.url, '/api/coupons', { token: 'guess' }),
    () => call(server.url, '/api/coupons', { headers: { Authorization: 'Nostr guess' } }),
  ]
  const first = guesses[0] as (typeof guesses)[0]
  const { limited, before } = await untilLimited(first)
  expect(before).toBe(100)
  expectRefusal(limited, 429, 'rate-limited', { retry: true })
  expect(limited.json.retryAfter).toBeLessThanOrEqual(60)
  // Every kind of failure is counted together.
  for (const guess of guesses) {
    expect((await guess()).status).toBe(429)
  }
  expect((await call(server.url, '/api/coupons/preview', { body: { nonce } })).status).toBe(200)
  expect((await call(server.url, `/api/coupons/claim?nonce=${nonce}`)).status).toBe(200)
  const refreshed = await call(server.url, '/api/coupons/refresh', {
    body: { nonce },
    headers: { 'Idempotency-Key': newKey() },
  })
  expect(refreshed.status).toBe(201)
  const claimed = await call(server.url, '/api/coupons/claim', {
    body: { nonce: refreshed.json.nonce },
  })
  expect(claimed.status).toBe(200)
  expect((await call(server.url, '/api/coupons', { token })).status).toBe(200)
  expect((await call(server.url, '/api/coupons', { signer })).status).toBe(200)
  expect(await openSession(server.url, newSigner())).toBeString()
  expect((await call(server.url, '/api/coupons/mint', { body: { couponId }, token })).status).toBe(
    200,
  )
})

test('mistakes of one client do not limit others behind its address', async () => {
  const server = await start()
  const token = await openSession(server.url, newSigner())
  const couponId = await createDefinition(server.url, token)
  const { nonce } = await mintOne(server.url, token, couponId)
  const mistakes: (() => Promise<Answer>)[] = [
    () => call(server.url, '/api/coupons'),
    () => call(server.url, '/api/coupons/preview', { body: { nonce: 'short' } }),
    () => call(server.url, '/api/coupons/claim', { body: '{' }),
    () => call(server.url, '/api/coupons/claim', { body: 'x'.repeat(20_000) }),
  ]
  for (let round = 0; round < 25; round++) {
    await Promise.all(mistakes.flatMap((mistake) => Array.from({ length: 20 }, mistake)))
  }
  expect((await call(server.url, '/api/coupons/preview', { body: { nonce } })).status).toBe(200)
  expect((await call(server.url, '/api/coupons', { token })).status).toBe(200)
  const { limited } = await untilLimited(mistakes[0] as () => Promise<Answer>)
  expectRefusal(limited, 429, 'rate-limited', { retry: true })
  expect((await call(server.url, '/api/coupons/claim', { body: { nonce } })).status).toBe(200)
})

test('claims of closed vouchers do not limit others behind the address', async () => {
  const server = await start()
  const token = await openSession(server.url, newSigner())
  const couponId = await createDefinition(server.url, token)
  const mint = async () => (await mintOne(server.url, token, couponId)).nonce as string
  const [voided, refreshed, good] = [await mint(), await mint(), await mint()]
  const removed = await call(server.url, `/api/coupons/${couponId}/mints/${voided}`, {
    method: 'DELETE',
    token,
  })
  expect(removed.status).toBe(200)
  const headers = { 'Idempotency-Key': newKey() }
  await call(server.url, '/api/coupons/refresh', { body: { nonce: refreshed }, headers })
  const claim = (nonce: string) => call(server.url, '/api/coupons/claim', { body: { nonce } })
  const seen = new Set<number>()
  for (let round = 0; round < 30; round++) {
    const nonces = Array.from({ length: 50 }, (_, at) => (at % 2 ? voided : refreshed))
    for (const { status } of await Promise.all(nonces.map(claim))) seen.add(status)
  }
  // Only the client that repeats them is limited in the end.
  expect(seen).toEqual(new Set([410, 429]))
  expect((await claim(good)).json.status).toBe('success')
})

test('an expired session is reported as expired, also when the mistakes of its address are used up', async () => {
  const secret = randomBytes(32).toString('base64url')
  const server = await start({ SESSION_JWT_SECRET: secret })
  const past = secondsNow() - 10
  const token = await new SignJWT()
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(newSigner().pubkey)
    .setIssuedAt(past - 43_200)
    .setExpirationTime(past)
    .sign(new TextEncoder().encode(secret))
  const missing = () => call(server.url, '/api/coupons')
  await untilLimited(missing)
  expect((await missing()).status).toBe(429)
  const answer = await call(server.url, '/api/coupons', { token })
  expectRefusal(answer, 401, 'auth-session-expired', { reason: 'session-expired' })
})

test('repeating an overheard signature uses up the failures of the sender, not the share of its key', async () => {
  const server = await start({ TRUSTED_PROXIES: '127.0.0.1', MERCHANTS: 'open' })
  const owner = newSigner()
  const overheard = nostrHeader(createProof(owner, `${server.url}/api/coupons`))
  const ask = (address: string) =>
    call(server.url, '/api/coupons', {
      headers: { Authorization: overheard, 'X-Forwarded-For': address },
    })
  expect((await ask('203.0.113.1')).status).toBe(200)
  for (const address of [1, 2, 3, 4, 5].map((last) => `203.0.113.${last}`)) {
    const answers: Answer[] = []
    for (let round = 0; round < 6; round++) {
      answers.push(...(await Promise.all(Array.from({ length: 50 }, () => ask(address)))))
    }
    const replays = answers.filter(({ status }) => status === 401)
    const limited = answers.filter(({ status }) => status === 429)
    expect([replays.length, limited.length]).toEqual([100, 200])
    expectRefusal(replays[0] as Answer, 401, 'auth-replay', { reason: 'replay' })
    expectRefusal(limited[0] as Answer, 429, 'rate-limited', { retry: true })
  }
  for (let turn = 0; turn < 50; turn++) {
    const fresh = await call(server.url, '/api/coupons', {
      signer: owner,
      headers: { 'X-Forwarded-For': '203.0.113.1' },
    })
    expect(fresh.status).toBe(200)
  }
})

test('an overheard signature for a large mint does not use up the share of its key either', async () => {
  const server = await start()
  const owner = newSigner()
  const token = await openSession(server.url, owner)
  const couponId = await createDefinition(server.url, token)
  const body = JSON.stringify({ couponId, count: 500 })
  const url = `${server.url}/api/coupons/mint`
  const overheard = nostrHeader(createProof(owner, url, { method: 'POST', body }))
  const replay = () =>
    call(server.url, '/api/coupons/mint', { body, headers: { Authorization: overheard } })
  expect((await replay()).status).toBe(200)
  const answers = await Promise.all(Array.from({ length: 90 }, replay))
  expect(answers.map(({ status }) => status)).toEqual(Array(90).fill(401))
  const asked = Array.from({ length: 200 }, () => call(server.url, '/api/coupons', { token }))
  const limited = (await Promise.all(asked)).filter(({ status }) => status === 429)
  expect(limited).toHaveLength(0)
})

test('a refused request changes no row', async () => {
  const server = await start()
  await untilLimited(() => call(server.url, '/api/coupons/claim', unknown))
  const guess = () => call(server.url, '/api/coupons', { token: 'guess' })
  await refuses(server, guess, 429, 'rate-limited', { retry: true })
})

test('a refused request may pass after the time that it names', async () => {
  const server = await startServer()
  const { limited } = await untilLimited(() => call(server.url, '/api/coupons/claim', unknown))
  await Bun.sleep(limited.json.retryAfter * 1000 + 100)
  expect((await call(server.url, '/api/coupons/claim', unknown)).status).toBe(404)
})

test('a shop that redeems 300 vouchers in a burst, each with its preview, is not limited', async () => {
  const server = await startServer()
  const token = await openSession(server.url, newSigner())
  const couponId = await createDefinition(server.url, token)
  const { json } = await call(server.url, '/api/coupons/mint', {
    body: { couponId, count: 300 },
    token,
  })
  const nonces: string[] = json.vouchers.map((one: Json) => one.nonce)
  for (let at = 0; at < nonces.length; at += 25) {
    const answers = await Promise.all(
      nonces.slice(at, at + 25).map(async (nonce) => {
        const previewed = await call(server.url, '/api/coupons/preview', { body: { nonce } })
        const claimed = await call(server.url, '/api/coupons/claim', { body: { nonce } })
        return [previewed.status, claimed.status]
      }),
    )
    expect(answers.flat().every((status) => status === 200)).toBe(true)
  }
})

test('X-Forwarded-For of an undeclared proxy neither helps its sender nor harms the address in it', async () => {
  const server = await start()
  let turn = 0
  const spoofed = () =>
    call(server.url, '/api/coupons/claim', {
      ...unknown,
      headers: { 'X-Forwarded-For': `203.0.113.${turn++ % 250}` },
    })
  const { limited } = await untilLimited(spoofed)
  expectRefusal(limited, 429, 'rate-limited', { retry: true })
})

test('behind a declared proxy each client is counted by its own address', async () => {
  const server = await start({ TRUSTED_PROXIES: '127.0.0.1', MERCHANTS: 'open' })
  const from = (address: string) => () =>
    call(server.url, '/api/coupons/claim', { ...unknown, headers: { 'X-Forwarded-For': address } })
  await untilLimited(from('203.0.113.7'))
  expect((await from('203.0.113.8')()).status).toBe(404)
  expect((await call(server.url, '/api/coupons/claim', unknown)).status).toBe(404)
  // The client's own entries stand left of the one that the proxy added, and do not count.
  expect((await from('198.51.100.1, 203.0.113.7')()).status).toBe(429)
  // One household has a /64.
  await untilLimited(from('2001:db8:1:2::1'))
  expect((await from('2001:db8:1:2:ffff::9')()).status).toBe(429)
  expect((await from('2001:db8:1:3::1')()).status).toBe(404)
})

test('the requests of one key are limited together, from all addresses', async () => {
  const server = await start({ TRUSTED_PROXIES: '127.0.0.1', MERCHANTS: 'open' })
  const busy = newSigner()
  const token = await openSession(server.url, busy)
  let turn = 0
  const ask = (by: string) => () =>
    call(server.url, '/api/coupons', {
      token: by,
      headers: { 'X-Forwarded-For': `203.0.113.${turn++ % 250}` },
    })
  const { limited } = await untilLimited(ask(token))
  expectRefusal(limited, 429, 'rate-limited', { retry: true })
  const other = await openSession(server.url, newSigner())
  expect((await ask(other)()).status).toBe(200)
})

test('a signed event is used up also when its key is limited', async () => {
  const server = await start({ TRUSTED_PROXIES: '127.0.0.1', MERCHANTS: 'open' })
  const signer = newSigner()
  const token = await openSession(server.url, signer)
  let turn = 0
  const ask = (authorization: string) =>
    call(server.url, '/api/coupons', {
      headers: { Authorization: authorization, 'X-Forwarded-For': `203.0.113.${turn++ % 250}` },
    })
  const proof = nostrHeader(createProof(signer, `${server.url}/api/coupons`))
  await untilLimited(() => ask(`Bearer ${token}`))
  expect((await ask(proof)).status).toBe(429)
  expectRefusal(await ask(proof), 401, 'auth-replay', { reason: 'replay' })
})

test('wrong keys for a burned voucher are limited, and not those for another', async () => {
  const server = await start()
  const token = await openSession(server.url, newSigner())
  const couponId = await createDefinition(server.url, token)
  const [burned, other] = [
    await mintOne(server.url, token, couponId),
    await mintOne(server.url, token, couponId),
  ]
  const refresh = (nonce: string, key = newKey()) =>
    call(server.url, '/api/coupons/refresh', {
      body: { nonce },
      headers: { 'Idempotency-Key': key },
    })
  const key = newKey()
  await refresh(burned.nonce, key)
  await refresh(other.nonce)
  const { limited, before, answers } = await untilLimited(() => refresh(burned.nonce), 600)
  expectRefusal(limited, 429, 'rate-limited', { retry: true })
  expect(before).toBe(300)
  expect(answers.every(({ status }) => status === 409 || status === 429)).toBe(true)
  expect((await refresh(other.nonce)).status).toBe(409)
  expect(
    (await call(server.url, '/api/coupons/preview', { body: { nonce: burned.nonce } })).status,
  ).toBe(200)
})

test('RATE_LIMIT=off limits nothing', async () => {
  const server = await startServer({ env: { RATE_LIMIT: 'off' } })
  for (let batch = 0; batch < 6; batch++) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => call(server.url, '/api/coupons/claim', unknown)),
    )
    expect(answers.every(({ status }) => status === 404)).toBe(true)
  }
})
