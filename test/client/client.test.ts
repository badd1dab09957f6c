/** The published client against a real service, behind a proxy that loses requests and answers. */

import { expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { clientLimits } from '../../src/base/limits-client.ts'
import {
  ApiError,
  type ClientOptions,
  createClient,
  openKey,
  SignerError,
} from '../../src/client/index.ts'
import { mintOne as mintNew } from '../../src/client/mint.ts'
import { isOpen, nameOf } from '../../src/client/once.ts'
import { failureOf } from '../support/api-failure.ts'
import { newSigner } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { type Fault, gatewayPage } from '../support/faulty-proxy.ts'
import { openProxiedShop } from '../support/proxied-shop.ts'

const claim = 'POST /api/coupons/claim'
const refresh = 'POST /api/coupons/refresh'

const { proxy, merchant, couponId, mintNonce, restart } = await openProxiedShop()

/** A client that repeats at once. */
function newClient(options: Partial<ClientOptions> = {}) {
  return createClient({ url: proxy.origin, pause: async () => undefined, ...options })
}

const login = '<html><body>Bienvenido al Wi-Fi</body></html>'
const faults: [what: string, fault: Fault][] = [
  ['a connection cut before the request arrived', { at: 'before', how: 'cut' }],
  ['a connection cut after the request was executed', { at: 'after', how: 'cut' }],
  ['an answer that breaks off', { at: 'after', how: 'half' }],
  ['a 502 page before', { at: 'before', how: { status: 502, body: gatewayPage } }],
  ['a 502 page after', { at: 'after', how: { status: 502, body: gatewayPage } }],
  ['the 404 page of a proxy', { at: 'after', how: { status: 404, body: gatewayPage } }],
  ['the JSON of a proxy', { at: 'after', how: { status: 403, body: '{"message":"no"}' } }],
  [
    'the JSON of a proxy that has a code',
    { at: 'after', how: { status: 403, body: '{"code":403,"message":"Forbidden"}' } },
  ],
  ['an empty JSON', { at: 'after', how: { status: 404, body: 'null' } }],
  ['the login page of a Wi-Fi', { at: 'before', how: { status: 200, body: login } }],
  ['a JSON that is no answer of ours', { at: 'before', how: { status: 200, body: '{"ok":1}' } }],
  ['a proxy that hangs before', { at: 'before', how: 'hang' }],
  ['a proxy that hangs after', { at: 'after', how: 'hang' }],
]
test.each(faults)('a coupon changes hands and is redeemed once, despite %s', async (_, fault) => {
  proxy.fault = (_route, times) => (times <= 2 ? fault : null)
  const client = newClient({ timeoutMs: fault.how === 'hang' ? 1000 : 20_000 })
  const taken = await client.call(refresh, { body: { nonce: await mintNonce() }, once: 'take' })
  const body = { nonce: taken.nonce }
  const sold = await client.call(claim, { body, once: 'sale 1' })
  expect([sold.status, sold.nonce]).toEqual(['success', taken.nonce])
  expect(await client.call(claim, { body, once: 'sale 1' })).toEqual(sold)
  expect((await client.call(claim, { body, once: 'sale 2' })).status).toBe('claimed')
  // On a busy machine an answer may come after the time-out, too, and then there are more.
  if (fault.how === 'hang') return
  // Two lost, the one that counted, its repetition, and the other sale.
  expect([proxy.seen.get(refresh), proxy.seen.get(claim)]).toEqual([3, 5])
})

test.each(['', '.', '..', undefined])(
  'a path with a part that is %p is not sent',
  async (handle) => {
    const client = newClient()
    const path = { id: crypto.randomUUID(), handle: handle as string }
    const asked = client.call('DELETE /api/coupons/{id}/mints/{handle}', { path })
    expect(await asked.catch((cause: unknown) => cause)).toBeInstanceOf(RangeError)
  },
)

test('the key of a lost answer stays when the session ended, or nobody signs', () => {
  const refused = (code: 'auth-missing' | 'signed-out' | 'voucher-unknown', status: number) =>
    isOpen(new ApiError(code, status))
  expect([refused('auth-missing', 401), refused('signed-out', 0), isOpen(new Error('no'))]).toEqual(
    [true, true, true],
  )
  expect(refused('voucher-unknown', 404)).toBe(false)
})

test('a program that starts again gets the answer that it missed', async () => {
  const storage = new Map<string, string>()
  const nonce = await mintNonce()
  proxy.fault = () => ({ at: 'after', how: 'cut' })
  const lost = newClient({ storage, patienceSeconds: 0 })
  const failure = await failureOf(lost.call(refresh, { body: { nonce }, once: 'take' }))
  expect([failure.code, failure.mayHaveSucceeded]).toEqual(['unreachable', true])
  await restart()
  proxy.fault = () => null
  const client = newClient({ storage })
  const { nonce: mine } = await client.call(refresh, { body: { nonce }, once: 'take' })
  expect(mine).not.toBe(nonce)
  await client.forget('take')
  expect(storage.size).toBe(0)
  const late = await failureOf(client.call(refresh, { body: { nonce }, once: 'take' }))
  expect([late.code, late.status, late.mayHaveSucceeded]).toEqual(['voucher-refreshed', 409, false])
})

/** The refusal of a session that ended, as the service sends it. */
const ended = {
  error: 'La sesión terminó.',
  code: 'auth-session-expired',
  reason: 'session-expired',
}

test('a lost attempt stays open when the session then ends, and nobody signs for another', async () => {
  const storage = new Map<string, string>()
  const own = merchantSigner()
  let declines = false
  const signer = {
    pubkey: own.pubkey,
    sign: async (event: Parameters<typeof own.sign>[0]) => {
      if (declines) throw new SignerError('declined')
      return own.sign(event)
    },
  }
  const mint = 'POST /api/coupons/mint'
  const client = newClient({ storage, signer })
  await client.call('GET /api/coupons')
  const send = (once: string) =>
    client.call(mint, { body: { couponId }, once }).catch((cause: unknown) => cause)
  const told = (failure: unknown) => {
    const { code, mayHaveSucceeded } = failure as ApiError | SignerError
    return [code, mayHaveSucceeded]
  }
  const over: Fault = { at: 'before', how: { status: 401, body: JSON.stringify(ended) } }
  declines = true
  proxy.fault = (_, times) => (times === 1 ? { at: 'after', how: 'cut' } : over)
  expect(told(await send('lost'))).toEqual(['declined', true])
  // A new call of the same name knows of the attempt by its key; one of a new name never asked before.
  proxy.fault = () => over
  expect(told(await send('lost'))).toEqual(['declined', true])
  expect(told(await send('new'))).toEqual(['declined', false])
  const without = newClient({ storage })
  const unsigned = (once: string) => failureOf(without.call(mint, { body: { couponId }, once }))
  expect(told(await unsigned('lost'))).toEqual(['auth-session-expired', true])
  expect(told(await unsigned('newer'))).toEqual(['auth-session-expired', false])
})

test('opening a session has the timeout of its call, and ends with its signal', async () => {
  const client = newClient({ signer: merchantSigner(), timeoutMs: 300, patienceSeconds: 0 })
  proxy.fault = () => ({ at: 'before', how: 'hang' })
  expect((await failureOf(client.call('GET /api/coupons'))).code).toBe('unreachable')
  const patient = newClient({ signer: merchantSigner() })
  const stop = new AbortController()
  proxy.fault = () => {
    stop.abort(new Error('closed'))
    return { at: 'before', how: 'hang' }
  }
  const stopped = patient.call('GET /api/coupons', { signal: stop.signal })
  await expect(stopped).rejects.toThrow('closed')
  const never = patient.call('GET /api/coupons', { signal: AbortSignal.abort(new Error('before')) })
  await expect(never).rejects.toThrow('before')
  // Without the timeout of the call it takes that of the client, which is twenty seconds.
}, 15_000)

test('a key whose answer the service may have forgotten is not sent, but on a refresh', async () => {
  const nonce = await mintNonce()
  const old = `${'k'.repeat(22)} ${secondsNow() - clientLimits.keySeconds - 1}`
  const storage = new Map([
    ['once:sale', old],
    ['once:take', old],
  ])
  const client = newClient({ storage })
  const failure = await failureOf(client.call(claim, { body: { nonce }, once: 'sale' }))
  expect([failure.code, failure.mayHaveSucceeded]).toEqual(['key-expired', true])
  expect(proxy.seen.get(claim)).toBeUndefined()
  const taken = await client.call(refresh, { body: { nonce }, once: 'take' })
  await client.forget('sale')
  const sold = await client.call(claim, { body: { nonce: taken.nonce }, once: 'sale' })
  expect(sold.status).toBe('success')
  expect(clientLimits.keySeconds).toBeLessThan(limits.answerSeconds)
})

test('a page asks under a new key where the old one is too old', async () => {
  const storage = new Map<string, string>()
  const shop = newClient({ signer: merchantSigner(), storage })
  const name = nameOf('mint', { couponId })
  storage.set(`once:${name}`, `${'k'.repeat(22)} 1000`)
  expect((await mintNew(shop, couponId)).nonce).toMatch(/^[\w-]{22}$/)
  expect(storage.size).toBe(0)
})

test('calls of one name at the same time send one key, which is stored before they leave', async () => {
  const texts = new Map<string, string>()
  let stored = false
  const storage = {
    get: async (name: string) => texts.get(name),
    async set(name: string, text: string) {
      await Bun.sleep(10)
      stored = texts.set(name, text).has(name)
    },
    delete: async (name: string) => texts.delete(name),
  }
  proxy.fault = () => {
    expect(stored).toBe(true)
    return null
  }
  const client = newClient({ storage })
  const body = { nonce: await mintNonce() }
  const answers = await Promise.all(
    [1, 2, 3].map(() => client.call(claim, { body, once: 'sale 7' })),
  )
  expect(answers.map(({ status }) => status)).toEqual(['success', 'success', 'success'])
  const own = { body, key: texts.get('once:sale 7')?.split(' ')[0] ?? '' }
  expect((await newClient().call(claim, own)).status).toBe('success')
})

test('a write without a key is sent once, and its failure says that it may have happened', async () => {
  const client = newClient({ signer: merchantSigner() })
  const before = (await client.call('GET /api/coupons')).coupons.length
  proxy.fault = (route) => (route === 'POST /api/coupons' ? { at: 'after', how: 'cut' } : null)
  const body = { name: 'Café', benefit: { type: 'percent' as const, percent: 10 } }
  const failure = await failureOf(client.call('POST /api/coupons', { body }))
  expect([failure.mayHaveSucceeded, proxy.seen.get('POST /api/coupons')]).toEqual([true, 1])
  proxy.fault = () => null
  expect((await client.call('GET /api/coupons')).coupons.length).toBe(before + 1)
  const once = 'coffee'
  const [{ coupon }, again] = await Promise.all([
    client.call('POST /api/coupons', { body, once }),
    client.call('POST /api/coupons', { body, once }),
  ])
  expect(again.coupon.id).toBe(coupon.id)
})

test('reads are repeated, and a refusal of the service is not', async () => {
  proxy.fault = (_route, times) =>
    times === 1 ? { at: 'before', how: { status: 502, body: gatewayPage } } : null
  const client = newClient()
  expect((await client.call('GET /api/coupons/manager')).pubkey).toMatch(/^[0-9a-f]{64}$/)
  expect(proxy.seen.get('GET /api/coupons/manager')).toBe(2)
  const unknown = { body: { nonce: 'A'.repeat(22) } }
  const failure = await failureOf(client.call('POST /api/coupons/preview', unknown))
  expect([failure.code, failure.status]).toEqual(['voucher-unknown', 404])
  expect(failure.sentence).toContain('cupón')
  expect(proxy.seen.get('POST /api/coupons/preview')).toBe(2)
})

test('an answer may be empty', async () => {
  const event = merchant.sign({ kind: 1, created_at: secondsNow(), tags: [], content: 'Abierto' })
  expect(await newClient().call('POST /nostr/publish', { body: event })).toBeNull()
})

test('patience ends, and a signal ends it sooner', async () => {
  proxy.fault = () => ({ at: 'before', how: { status: 503, body: gatewayPage } })
  const waits: number[] = []
  const impatient = newClient({
    pause: (seconds) => Bun.sleep(seconds * 100),
    patienceSeconds: 1,
  })
  const failure = await failureOf(impatient.call('GET /api/coupons/manager'))
  expect(failure.mayHaveSucceeded).toBe(true)
  const stop = new AbortController()
  const patient = newClient({
    pause: (seconds) => {
      waits.push(seconds)
      stop.abort(new Error('closed'))
      return Bun.sleep(seconds * 100_000)
    },
  })
  const ended = patient.call('GET /api/coupons/manager', { signal: stop.signal })
  await expect(ended).rejects.toThrow('closed')
  expect(waits).toEqual([1])
})

/** The merchant's key as an integrator has it. */
function merchantSigner() {
  const { pubkey, sign } = merchant
  return { pubkey, sign: async (event: Parameters<typeof sign>[0]) => sign(event) }
}

test('one signature opens a session, and one renews it, also for a till that must be known', async () => {
  let signatures = 0
  const { pubkey, sign } = newSigner()
  const signer = {
    pubkey,
    sign: async (event: Parameters<typeof sign>[0]) => {
      signatures++
      return sign(event)
    },
  }
  const till = newClient({ signer })
  const shop = newClient({ signer: merchantSigner() })
  await shop.call('POST /api/coupons/minters', { body: { pubkey, mint: true } })
  await shop.call('PATCH /api/shop', { body: { onlyAuthorizedTills: true } })
  const { nonce } = await till.call('POST /api/coupons/mint', { body: { couponId } }).then(only)
  await Promise.all([till.call('GET /api/coupons/mintable'), till.call('GET /api/coupons/minters')])
  expect(signatures).toBe(1)
  const unnamed = await failureOf(newClient().call(claim, { body: { nonce }, once: 'sale' }))
  expect(unnamed.code).toBe('till-not-allowed')
  await restart({ SESSION_JWT_SECRET: 'another secret of more than thirty-two bytes' })
  expect((await till.call(claim, { body: { nonce }, once: 'sale' })).status).toBe('success')
  expect(signatures).toBe(2)
  await restart({ SESSION_JWT_SECRET: 'a third secret of more than thirty-two bytes' })
  expect((await till.call('GET /api/coupons/mintable')).coupons).not.toEqual([])
  expect(signatures).toBe(3)
  await shop.call('PATCH /api/shop', { body: { onlyAuthorizedTills: false } })
})

/** The answer of a mint that asked for one voucher. */
function only<Answer extends object>(answer: Answer) {
  if (!('nonce' in answer)) throw new Error('more than one')
  return answer as Extract<Answer, { nonce: string }>
}

test('a route that takes no session gets a signature, and one without credentials nothing', async () => {
  const signed = newClient({ signer: openKey('7f'.repeat(32)) })
  const body = { code: 'AAAA-BBBB-CCCC' }
  const [withKey, without] = await Promise.all([
    failureOf(signed.call('POST /api/setup', { body })),
    failureOf(newClient().call('POST /api/setup', { body })),
  ])
  expect(withKey.status).not.toBe(401)
  expect(without.code).toBe('auth-missing')
})

test('the types know what an operation needs', async () => {
  const client = newClient({ patienceSeconds: 0 })
  const wrong = () => [
    // @ts-expect-error a refresh needs a key
    client.call('POST /api/coupons/refresh', { body: { nonce: '' } }),
    // @ts-expect-error no such operation
    client.call('GET /api/coupon'),
    // @ts-expect-error the id is missing
    client.call('GET /api/coupons/{id}/mints', {}),
    // @ts-expect-error a preview takes no key
    client.call('POST /api/coupons/preview', { body: { nonce: '' }, once: 'x' }),
  ]
  expect(wrong).toBeFunction()
  const manager: { pubkey: string; npub: string } = await client.call('GET /api/coupons/manager')
  expect(manager.npub).toStartWith('npub1')
})
