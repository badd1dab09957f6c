/** Answers of something between the client and its service, and sessions that cannot be opened. */

import { afterAll, beforeEach, expect, test } from 'bun:test'
import { clientLimits } from '../../src/base/limits-client.ts'
import { httpStatusOf, refusalCodes } from '../../src/base/refusal.ts'
import {
  type ClientOptions,
  createClient,
  type EventSigner,
  SignerError,
} from '../../src/client/index.ts'
import { failureOf } from '../support/api-failure.ts'
import { newSigner } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { type Fault, gatewayPage, startFaultyProxy } from '../support/faulty-proxy.ts'
import { openProxiedShop } from '../support/proxied-shop.ts'

const claim = 'POST /api/coupons/claim'
const refresh = 'POST /api/coupons/refresh'
const openingSession = 'POST /api/auth/session'

const { proxy, merchant, couponId, mintNonce } = await openProxiedShop()
const other = await startFaultyProxy()
beforeEach(() => other.seen.clear())
afterAll(() => other.stop())

/** A client that repeats at once. */
function newClient(options: Partial<ClientOptions> = {}) {
  return createClient({ url: proxy.origin, pause: async () => undefined, ...options })
}

/** A signer that counts its signatures, each made by `sign`. */
function countingSigner(sign: (made: ReturnType<typeof merchant.sign>) => typeof made) {
  const own = newSigner()
  const counted = { signatures: 0 }
  const signer: EventSigner = {
    pubkey: own.pubkey,
    async sign(event) {
      counted.signatures++
      return sign(own.sign(event))
    },
  }
  return { signer, counted }
}

const declining = () =>
  countingSigner(() => {
    throw new SignerError('declined')
  })

/** The error of a device, which knows nothing of the client. */
const usb = new Error('usb')
const breaking = () =>
  countingSigner(() => {
    throw usb
  })

function json(status: number, body: object): Fault['how'] {
  return { status, body: JSON.stringify(body) }
}

test('a code counts only where the operation has it', async () => {
  const foreign: Fault = { at: 'before', how: json(403, { code: 'forbidden', error: 'Policy' }) }
  const nonce = await mintNonce()
  const storage = new Map<string, string>()
  const attempts: Fault[] = [{ at: 'after', how: { status: 502, body: gatewayPage } }, foreign]
  proxy.fault = (_, times) => attempts[times - 1] ?? null
  const input = { body: { nonce }, once: 'sale' }
  expect((await newClient({ storage }).call(claim, input)).status).toBe('success')
  expect(proxy.seen.get(claim)).toBe(3)
  // The program starts again, and has one attempt.
  proxy.fault = () => foreign
  const again = newClient({ storage, patienceSeconds: 0 })
  const told = async (once: string) => {
    const { code, mayHaveSucceeded } = await failureOf(again.call(claim, { ...input, once }))
    return [code as string, mayHaveSucceeded]
  }
  expect([await told('sale'), await told('another')]).toEqual([
    ['forbidden', true],
    ['forbidden', true],
  ])
  // The first answer of all, after the redemption.
  proxy.seen.clear()
  proxy.fault = (_, times) => (times === 1 ? { ...foreign, at: 'after' } : null)
  const body = { nonce: await mintNonce() }
  expect((await newClient().call(claim, { body, once: 'sale' })).status).toBe('success')
  expect(proxy.seen.get(claim)).toBe(2)
})

test('a refusal that comes before the key is looked up says nothing of another body', async () => {
  const storage = new Map<string, string>()
  const client = newClient({ storage })
  const body = { nonce: await mintNonce() }
  const told = async (once: string, amount: number) => {
    const asked = client.call(claim, { body: { ...body, purchase: { amount } } as never, once })
    const { code, mayHaveSucceeded } = await failureOf(asked)
    return [code, mayHaveSucceeded]
  }
  proxy.fault = () => ({ at: 'after', how: 'cut' })
  await failureOf(newClient({ storage, patienceSeconds: 0 }).call(claim, { body, once: 'sale' }))
  proxy.fault = () => null
  proxy.seen.clear()
  expect(await told('sale', -1)).toEqual(['field-invalid', true])
  expect(proxy.seen.get(claim)).toBe(1)
  expect((await client.call(claim, { body, once: 'sale' })).status).toBe('success')
  // A body that is refused in the call that sent it first was not executed, whatever was lost before.
  proxy.seen.clear()
  proxy.fault = (_, times) => (times === 1 ? { at: 'after', how: 'cut' } : null)
  expect(await told('other', -1)).toEqual(['field-invalid', false])
  const unknown = { body: { nonce: 'A'.repeat(22) }, once: 'unknown' }
  proxy.fault = () => ({ at: 'after', how: 'cut' })
  await failureOf(newClient({ storage, patienceSeconds: 0 }).call(claim, unknown))
  proxy.fault = () => null
  expect((await failureOf(client.call(claim, unknown))).mayHaveSucceeded).toBe(false)
})

test('the JSON of another server is no coupon, although it has a nonce', async () => {
  const portal: Fault = { at: 'before', how: json(200, { nonce: 'csp-nonce', status: 'ok' }) }
  proxy.fault = (_, times) => (times === 1 ? portal : null)
  const client = newClient()
  const { nonce } = await client.call(refresh, { body: { nonce: await mintNonce() }, once: 'take' })
  expect((await client.call(claim, { body: { nonce }, once: 'sale' })).status).toBe('success')
  expect([proxy.seen.get(refresh), proxy.seen.get(claim)]).toEqual([2, 2])
})

test('a 401 page costs neither the session nor a signature', async () => {
  const { signer, counted } = countingSigner((made) => made)
  const client = newClient({ signer })
  await client.call('GET /api/coupons')
  const page: Fault = { at: 'before', how: { status: 401, body: gatewayPage } }
  proxy.fault = (route, times) => (route === 'GET /api/coupons' && times < 9 ? page : null)
  await client.call('GET /api/coupons')
  expect([counted.signatures, proxy.seen.get(openingSession)]).toEqual([1, 1])
  // A session that cannot be opened has one signature, sent again until it arrives.
  const { signer: second, counted: once } = countingSigner((made) => made)
  proxy.seen.clear()
  proxy.fault = (route, times) => (route === openingSession && times < 9 ? page : null)
  await newClient({ signer: second }).call('GET /api/coupons')
  expect([once.signatures, proxy.seen.get(openingSession)]).toEqual([1, 9])
})

test('a signature that was used, and whose answer was lost, is followed by another', async () => {
  const { signer, counted } = countingSigner((made) => made)
  proxy.fault = (route, times) =>
    route === openingSession && times === 1 ? { at: 'after', how: 'cut' } : null
  await newClient({ signer }).call('GET /api/coupons')
  expect([counted.signatures, proxy.seen.get(openingSession)]).toEqual([2, 3])
})

const hindrances: [
  what: string,
  signer: () => ReturnType<typeof declining>,
  fault: Fault | null,
][] = [
  ['a person who declines', declining, null],
  ['a signer that breaks', breaking, null],
  [
    'a clock that is wrong',
    () => countingSigner((made) => ({ ...made, created_at: made.created_at - 300 })),
    null,
  ],
  [
    'limited sessions',
    () => countingSigner((made) => made),
    { at: 'before', how: json(429, { code: 'rate-limited', error: 'x', retryAfter: 60 }) },
  ],
  ['a service that hangs', () => countingSigner((made) => made), { at: 'before', how: 'hang' }],
]
test.each(hindrances)('a coupon is redeemed without a name, despite %s', async (_, make, fault) => {
  const { signer, counted } = make()
  proxy.fault = (route) => (route === openingSession ? fault : null)
  const till = newClient({ signer })
  for (const once of ['1', '2', '3']) {
    const sold = await till.call(claim, { body: { nonce: await mintNonce() }, once })
    expect(sold.status).toBe('success')
  }
  // Its person is not asked at each coupon.
  expect(counted.signatures).toBe(1)
})

test('a redirect is not followed, and one that stays names the right address', async () => {
  const to = (status: number, origin: string): Fault => {
    return { at: 'before', how: { status, body: '', headers: { location: `${origin}/x` } } }
  }
  const nonce = await mintNonce()
  const client = newClient()
  const asked = (once: string) => client.call(claim, { body: { nonce }, once })
  for (const status of [301, 308]) {
    proxy.fault = () => to(status, other.origin.replace('127.0.0.1', 'localhost'))
    const { code, message, mayHaveSucceeded } = await failureOf(asked(`sale ${status}`))
    expect([code, mayHaveSucceeded]).toEqual(['redirected', false])
    expect(message).toContain(proxy.origin)
    expect(message).toEndWith('give createClient that as its url')
  }
  // The same host under https, whatever the status. An attempt that was lost before stays open.
  const https = to(302, proxy.origin.replace('http:', 'https:'))
  proxy.seen.clear()
  proxy.fault = (_, times) => (times === 1 ? { at: 'before', how: 'cut' } : https)
  const failure = await failureOf(asked('sale'))
  expect([failure.code, failure.mayHaveSucceeded]).toEqual(['redirected', true])
  // The login of a Wi-Fi ends.
  proxy.seen.clear()
  proxy.fault = (_, times) =>
    times <= 2 ? to(302, other.origin.replace('127.0.0.1', 'login')) : null
  expect((await asked('sale')).status).toBe('success')
  expect([...other.seen]).toEqual([])
})

test('an operation without keys is not sent with one, nor one that does not exist', async () => {
  const client = newClient()
  const call = client.call as (name: string, input: object) => Promise<unknown>
  const body = { nonce: await mintNonce(), to: 'ana@cupones.example' }
  await expect(call('POST /api/transfer', { body, once: 'gift' })).rejects.toThrow(TypeError)
  await expect(call('POST /api/transfer', { body, key: 'k'.repeat(22) })).rejects.toThrow(TypeError)
  await expect(call('GET /nope', {})).rejects.toThrow(TypeError)
  expect([...proxy.seen]).toEqual([])
})

const waits: [told: unknown, header: string | null, seconds: number | null][] = [
  ['soon', null, null],
  [-5, null, null],
  [null, null, null],
  [7, null, 7],
  [undefined, '9', 9],
  [undefined, 'Wed, 21 Oct 2026 07:28:00 GMT', null],
]
test.each(waits)('to wait %p (header %p) is %p', async (retryAfter, header, expected) => {
  const body = JSON.stringify({ code: 'unavailable', error: 'x', retryAfter })
  const headers = header === null ? {} : { 'retry-after': header }
  proxy.fault = (_, times) =>
    times <= 2 ? { at: 'before', how: { status: 503, body, headers } } : null
  const paused: number[] = []
  const pause = async (seconds: number) => {
    paused.push(seconds)
  }
  const once = newClient({ patienceSeconds: 0 }).call('GET /api/coupons/manager')
  expect((await failureOf(once)).retryAfter).toBe(expected)
  proxy.seen.clear()
  await newClient({ pause }).call('GET /api/coupons/manager')
  expect(paused).toEqual([Math.max(1, expected ?? 0), Math.max(2, expected ?? 0)])
})

test('a failure says whether the request may have been executed', async () => {
  const nonce = await mintNonce()
  const client = newClient({ patienceSeconds: 0 })
  await client.call(claim, { body: { nonce }, once: 'sale' })
  const changed = client.call(claim, { body: { nonce, amountMsat: 5 }, once: 'sale' })
  const reused = await failureOf(changed)
  expect([reused.code, reused.mayHaveSucceeded]).toEqual(['idempotency-key-reused', true])

  const { signer } = countingSigner((made) => made)
  proxy.fault = (route) => (route === openingSession ? { at: 'after', how: 'cut' } : null)
  const body = { name: 'Café', benefit: { type: 'percent' as const, percent: 10 } }
  const unsent = await failureOf(newClient({ signer }).call('POST /api/coupons', { body }))
  expect([unsent.code, unsent.mayHaveSucceeded]).toEqual(['unreachable', false])
  expect(proxy.seen.get('POST /api/coupons')).toBeUndefined()

  const refused = async (code: string, status: number) => {
    proxy.fault = () => ({ at: 'before', how: json(status, { code, error: 'x' }) })
    return (await failureOf(client.call(claim, { body: { nonce }, once: code }))).mayHaveSucceeded
  }
  expect(await refused('overloaded', 503)).toBe(false)
  expect(await refused('unavailable', 503)).toBe(true)
  // The gateway's own, after it passed the request on.
  expect(await refused('upstream-timeout', 408)).toBe(true)
  expect(await refused('quota', 429)).toBe(true)
  for (const code of refusalCodes) {
    const status = httpStatusOf({ code })
    if (![408, 429].includes(status)) continue
    expect([code, await refused(code, status)]).toEqual([code, false])
  }
  // A service that moved answers the same for ever, and says nothing of an attempt before it did.
  proxy.seen.clear()
  expect(await refused('moved', 503)).toBe(false)
  proxy.fault = (_, times) =>
    times === 1
      ? { at: 'before', how: 'cut' }
      : { at: 'before', how: json(503, { code: 'moved', error: 'x' }) }
  proxy.seen.clear()
  const moved = await failureOf(newClient().call(claim, { body: { nonce }, once: 'other' }))
  expect([moved.code, moved.mayHaveSucceeded, proxy.seen.get(claim)]).toEqual(['moved', true, 2])
})

test('calls that wait for one session fail each for itself', async () => {
  const storage = new Map([['once:old', `${'k'.repeat(22)} ${secondsNow()}`]])
  const { signer } = countingSigner((made) => made)
  proxy.fault = (route) => (route === openingSession ? { at: 'before', how: 'cut' } : null)
  const client = newClient({ signer, storage, patienceSeconds: 0 })
  const failures = await Promise.all(
    ['old', 'new'].map((once) =>
      failureOf(client.call('POST /api/coupons/mint', { body: { couponId }, once })),
    ),
  )
  expect(failures.map(({ mayHaveSucceeded }) => mayHaveSucceeded)).toEqual([true, false])
})

test('the error of a signer is a SignerError, and says what may have been executed before', async () => {
  const storage = new Map([['once:old', `${'k'.repeat(22)} ${secondsNow()}`]])
  const client = newClient({ signer: breaking().signer, storage })
  const told = async (once: string) => {
    const cause = await client
      .call('POST /api/coupons/mint', { body: { couponId }, once })
      .catch((thrown: unknown) => thrown)
    if (!(cause instanceof SignerError)) throw cause
    return [cause.code, cause.cause, cause.mayHaveSucceeded]
  }
  expect([await told('old'), await told('new')]).toEqual([
    ['declined', usb, true],
    ['declined', usb, false],
  ])
})

test('a timeout of a gateway leaves the request open, whatever it answers then', async () => {
  const own = (status: number, code: string): Fault => {
    return { at: 'after', how: json(status, { code, error: 'x' }) }
  }
  proxy.fault = (_, times) => (times === 1 ? own(408, 'upstream-timeout') : own(403, 'forbidden'))
  let attempts = 0
  const pause = async () => {
    if (++attempts === 2) proxy.fault = () => null
  }
  const client = newClient({ pause })
  const input = { body: { nonce: await mintNonce() }, once: 'sale' }
  expect((await client.call(claim, input)).status).toBe('success')
  expect(proxy.seen.get(claim)).toBe(3)
})

test('a word of a gateway that begins like a code of a session opens none', async () => {
  const { signer, counted } = countingSigner((made) => made)
  const client = newClient({ signer, patienceSeconds: 0 })
  await client.call('GET /api/coupons')
  proxy.fault = () => ({ at: 'before', how: json(401, { code: 'auth-portal', error: 'x' }) })
  expect((await failureOf(client.call('GET /api/coupons'))).code as string).toBe('auth-portal')
  expect(counted.signatures).toBe(1)
})

test('patience does not follow the clock of the device', async () => {
  proxy.fault = (_, times) =>
    times <= 3 ? { at: 'before', how: { status: 502, body: gatewayPage } } : null
  const real = Date.now
  const pause = async () => {
    Date.now = () => real() + 86_400_000
  }
  try {
    const { pubkey } = await newClient({ pause }).call('GET /api/coupons/manager')
    expect(pubkey).toMatch(/^[0-9a-f]{64}$/)
  } finally {
    Date.now = real
  }
})

test('a key that a wrong clock stored is not sent', async () => {
  const ahead = secondsNow() + clientLimits.keySeconds + 60
  const storage = new Map([['once:sale', `${'k'.repeat(22)} ${ahead}`]])
  const asked = newClient({ storage }).call(claim, { body: { nonce: 'x' }, once: 'sale' })
  expect((await failureOf(asked)).code).toBe('key-expired')
})

test('an answer that never ends is none', async () => {
  const long = ' '.repeat(1024 * 1024)
  let sent = 0
  const endless = Bun.serve({
    port: 0,
    fetch: () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            sent++
            controller.enqueue(new TextEncoder().encode(long))
          },
        }),
      ),
  })
  const client = newClient({ url: endless.url.origin, patienceSeconds: 0 })
  expect((await failureOf(client.call('GET /api/coupons/manager'))).code).toBe('answer-invalid')
  expect(sent * long.length).toBeLessThan(4 * clientLimits.answerBytesMax)
  await endless.stop(true)
})
