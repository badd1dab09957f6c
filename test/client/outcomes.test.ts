/** Redeeming, receiving and issuing: every outcome, and what the storage holds after it. */

import { expect, test } from 'bun:test'
import {
  type ClientOptions,
  createClient,
  type KeyStorage,
  openKey,
  type Received,
  receive,
  redeem,
} from '../../src/client/index.ts'
import { issue } from '../../src/client/issue.ts'
import { call, createDefinition, mintOne, newSigner, openSession } from '../support/client.ts'
import { type Fault, gatewayPage } from '../support/faulty-proxy.ts'
import { openProxiedShop } from '../support/proxied-shop.ts'
import { startServer } from '../support/server.ts'

const refresh = 'POST /api/coupons/refresh'
const manager = 'GET /api/coupons/manager'

const secret = 'ab'.repeat(32)
const merchant = newSigner(Buffer.from(secret, 'hex'))
const owner = merchant.pubkey

const { proxy, url, couponId, mintNonce, openMerchantSession } = await openProxiedShop(merchant)

/** A client that asks once. */
function newClient(storage: KeyStorage, options: Partial<ClientOptions> = {}) {
  return createClient({ url: proxy.origin, storage, patienceSeconds: 0, ...options })
}

const statusOf = async (nonce: string) =>
  (await call(url, '/api/coupons/preview', { body: { nonce } })).json.status

const badGateway: Fault = { at: 'after', how: { status: 502, body: gatewayPage } }
const unanswered: Fault = { at: 'before', how: { status: 502, body: gatewayPage } }
function refusal(status: number, code: string): Fault {
  return { at: 'before', how: { status, body: JSON.stringify({ code, error: 'x' }) } }
}

test('each outcome of a redemption, and whether its key stays', async () => {
  const storage = new Map<string, string>()
  const till = newClient(storage)
  const nonce = await mintNonce()
  const told = async (sale: string, more: object = {}) => {
    const redeemed = await redeem(till, { nonce, owner, sale, ...more })
    return [redeemed.outcome, 'code' in redeemed ? redeemed.code : null, storage.size]
  }
  expect(await told('1', { owner: newSigner().pubkey })).toEqual(['refused', 'other-merchant', 0])
  proxy.fault = () => badGateway
  expect(await told('1')).toEqual(['unknown', 'unreachable', 1])
  // The service does not look for the key of a form that it refuses, so the first body may have been executed.
  proxy.fault = () => null
  const unreal = { purchase: { amount: -1, currency: 'ARS' } }
  expect(await told('1', unreal)).toEqual(['unknown', 'field-invalid', 1])
  proxy.fault = () => refusal(429, 'rate-limited')
  expect(await told('1')).toEqual(['unknown', 'rate-limited', 1])
  proxy.fault = () => null
  expect(await told('1')).toEqual(['granted', null, 1])
  expect(await told('1')).toEqual(['granted', null, 1])
  expect(await told('1', { amountMsat: 5 })).toEqual(['other-body', 'idempotency-key-reused', 1])
  expect(await told('2')).toEqual(['used', null, 1])
  expect(await told('2', unreal)).toEqual(['refused', 'field-invalid', 1])
  const granted = await redeem(till, { nonce, owner, sale: '1' })
  if (granted.outcome !== 'granted') throw new Error(granted.outcome)
  expect([granted.coupon.name, granted.coupon.nonce]).toEqual(['Café gratis', nonce])
  const [name = ''] = storage.keys()
  // The clock of a device may have gone on by years meanwhile, and the service still has the answer.
  storage.set(name, `${storage.get(name)?.split(' ')[0]} 1000`)
  expect(await told('1')).toEqual(['granted', null, 1])
  storage.set(name, `${'k'.repeat(22)} 1000`)
  expect(await told('1')).toEqual(['used', null, 0])
  const unknown = await redeem(till, { nonce: 'A'.repeat(22), owner, sale: '3' })
  if (unknown.outcome !== 'refused') throw new Error(unknown.outcome)
  expect(unknown.code).toBe('voucher-unknown')
  expect(unknown.sentence).toContain('cupón')
})

test('a mistyped nonce, and the words of a gateway, are told apart', async () => {
  const storage = new Map<string, string>()
  const till = newClient(storage)
  const told = async (fault: Fault | null) => {
    proxy.fault = () => fault
    const redeemed = await redeem(till, { nonce: 'mistyped', owner, sale: '1' })
    return [redeemed.outcome, storage.size]
  }
  expect(await told(unanswered)).toEqual(['unknown', 1])
  expect(await told(refusal(503, 'nonce-invalid'))).toEqual(['unknown', 1])
  expect(await told(refusal(503, 'idempotency-key-reused'))).toEqual(['unknown', 1])
  // Every attempt of this name had this nonce, so none was executed.
  expect(await told(null)).toEqual(['refused', 0])
})

test('the key of a sale is forgotten by its name', async () => {
  const storage = new Map<string, string>()
  const till = newClient(storage)
  const sold = await redeem(till, { nonce: await mintNonce(), owner, sale: '1' })
  if (sold.outcome !== 'granted') throw new Error(sold.outcome)
  await till.forget(sold.once)
  expect(storage.size).toBe(0)
})

test('a sale and a nonce in one text are not another sale with another nonce', async () => {
  const storage = new Map<string, string>()
  const till = newClient(storage)
  const nonce = await mintNonce()
  proxy.fault = () => badGateway
  expect((await redeem(till, { nonce, owner, sale: 'a b' })).outcome).toBe('unknown')
  proxy.fault = () => null
  for (const [sale, other] of [
    ['a', `b ${nonce}`],
    ['a b ', nonce],
    ['a","nonce":"b', nonce],
  ] as const) {
    const { outcome } = await redeem(till, { nonce: other, owner, sale })
    expect(outcome).not.toBe('granted')
  }
  expect((await redeem(till, { nonce, owner, sale: 'a b' })).outcome).toBe('granted')
})

const wrong: [what: string, given: object][] = [
  ['no owner', { owner: undefined }],
  ['an npub as owner', { owner: 'npub1xyz' }],
  ['no sale', { sale: undefined }],
  ['an empty sale', { sale: '' }],
]
test.each(wrong)('a till with %s asks for nothing', async (_, given) => {
  const sale = { nonce: await mintNonce(), owner, sale: '1', ...given }
  await expect(redeem(newClient(new Map()), sale)).rejects.toThrow(RangeError)
  expect(proxy.seen.size).toBe(0)
})

test('errors of the storage and the reason of a signal come as they are', async () => {
  const till = newClient({ ...new Map(), get: () => Promise.reject(new Error('disk')) } as never)
  const nonce = await mintNonce()
  await expect(redeem(till, { nonce, owner, sale: '1' })).rejects.toThrow('disk')
  await expect(receive(till, { nonce })).rejects.toThrow('disk')
  const signal = AbortSignal.abort(new Error('closed'))
  const client = newClient(new Map())
  await expect(redeem(client, { nonce, owner, sale: '1', signal })).rejects.toThrow('closed')
  await expect(receive(client, { nonce, signal })).rejects.toThrow('closed')
  expect(await statusOf(nonce)).toBe('minted')
})

/** A program that dies before so many changes of its storage were made. */
function dyingAfter(texts: Map<string, string>, changes: number): KeyStorage {
  let left = changes
  const alive = <Result>(change: () => Result): Result => {
    if (left-- <= 0) throw new Error('power cut')
    return change()
  }
  return {
    get: (name) => texts.get(name),
    set: (name, text) => alive(() => texts.set(name, text)),
    delete: (name) => alive(() => texts.delete(name)),
  }
}

test('a wallet that dies anywhere gets its coupon when it starts again', async () => {
  for (let changes = 0, done = false; !done; changes++) {
    const texts = new Map<string, string>()
    const nonce = await mintNonce()
    const cut = await receive(newClient(dyingAfter(texts, changes)), { nonce }).catch(
      (cause: Error) => cause.message,
    )
    done = cut !== 'power cut'
    // Manager, key, coupon, and the key goes.
    expect([changes, done]).toEqual([changes, changes === 4])
    const mine = await receive(newClient(texts), { nonce })
    if (mine.outcome !== 'received') throw new Error(mine.code)
    expect([await statusOf(nonce), await statusOf(mine.coupon.nonce)]).toEqual([
      'refreshed',
      'minted',
    ])
    expect(new Set(texts.keys())).toEqual(new Set([`manager ${proxy.origin}`, mine.storedAs]))
    expect(JSON.parse(texts.get(mine.storedAs) ?? '')).toEqual(mine.coupon)
    // Without the service, too.
    const away = newClient(texts, { url: 'http://127.0.0.1:1' })
    const manager = texts.get(`manager ${proxy.origin}`) ?? ''
    expect(await receive(away, { nonce, manager })).toEqual(mine)
  }
})

test('each outcome of receiving, and whether its key stays', async () => {
  const texts = new Map<string, string>()
  const wallet = newClient(texts)
  const nonce = await mintNonce()
  const keys = () => [...texts.keys()].filter((name) => name.startsWith('once:')).length
  const told = (one: Received): unknown[] => {
    return [one.outcome, 'code' in one ? one.code : null, keys()]
  }
  const take = async (of = nonce) => told(await receive(wallet, { nonce: of }))
  proxy.fault = (route) => (route === refresh ? badGateway : null)
  expect(await take()).toEqual(['unknown', 'unreachable', 1])
  // A refusal to tell the manager says nothing of the refresh.
  texts.delete(`manager ${proxy.origin}`)
  proxy.fault = (route) => (route === manager ? refusal(403, 'forbidden') : null)
  expect(await take()).toEqual(['unknown', 'forbidden', 1])
  const foreign: Fault = { at: 'before', how: { status: 200, body: '{"pubkey":"portal"}' } }
  proxy.fault = (route) => (route === manager ? foreign : null)
  expect(await take()).toEqual(['unknown', 'answer-invalid', 1])
  proxy.fault = () => null
  expect(await take()).toEqual(['received', null, 0])
  const gone = await mintNonce()
  await receive(newClient(new Map()), { nonce: gone })
  expect(await take(gone)).toEqual(['refused', 'voucher-refreshed', 0])
  proxy.fault = (route) => (route === refresh ? unanswered : null)
  expect(await take('mistyped')).toEqual(['unknown', 'unreachable', 1])
  proxy.fault = () => null
  expect(await take('mistyped')).toEqual(['refused', 'nonce-invalid', 0])
})

test('a coupon that the first manager did not sign is neither stored nor lost', async () => {
  const texts = new Map<string, string>()
  const wallet = newClient(texts)
  const nonce = await mintNonce()
  const old = await mintOne(url, await openMerchantSession(), couponId)
  await receive(wallet, { nonce: await mintNonce() })
  const before = new Map(texts)
  const { voucher } = old
  const forged = { ...voucher, sig: `${'0'.repeat(127)}1` }
  for (const [answer, why] of [
    [{ ...old, voucher: forged }, 'signature'],
    [{ ...old, nonce: 'B'.repeat(22) }, 'nonce'],
    [{ ...old, voucher: {} }, 'shape'],
    // The giver knows the coupon that they gave.
    [old, 'same nonce'],
  ] as const) {
    const body = JSON.stringify(answer)
    proxy.fault = () => ({ at: 'before', how: { status: 201, body } })
    const told = await receive(wallet, { nonce: old.nonce })
    if (told.outcome !== 'unknown') throw new Error(told.outcome)
    expect([told.code, told.error.message]).toEqual(['answer-invalid', `not a new coupon: ${why}`])
    expect(texts.size).toBe(before.size + 1)
  }
  proxy.fault = () => null
  const swapped = await receive(wallet, { nonce: old.nonce, manager: newSigner().pubkey })
  expect('error' in swapped && swapped.error.message).toBe('not a new coupon: other-manager')
  expect((await receive(wallet, { nonce: old.nonce })).outcome).toBe('received')
  expect(texts.get(`manager ${proxy.origin}`)).toBe(before.get(`manager ${proxy.origin}`))
  await expect(receive(wallet, { nonce, manager: 'npub1xyz' })).rejects.toThrow(RangeError)
  texts.set(`manager ${proxy.origin}`, 'damaged')
  await expect(receive(wallet, { nonce })).rejects.toThrow(`no key as "manager ${proxy.origin}"`)
})

test('a wallet has the managers of two services', async () => {
  const other = await startServer()
  const session = await openSession(other.url, merchant)
  const { nonce } = await mintOne(other.url, session, await createDefinition(other.url, session))
  const texts = new Map<string, string>()
  const taken = [
    await receive(newClient(texts), { nonce: await mintNonce() }),
    await receive(newClient(texts, { url: other.url }), { nonce }),
  ]
  expect(taken.map(({ outcome }) => outcome)).toEqual(['received', 'received'])
  expect(new Set(texts.values()).size).toBe(4)
})

test('an order has one coupon, wherever the issuer dies', async () => {
  const signer = openKey(secret)
  const token = await openMerchantSession()
  const known = async () =>
    (await call(url, `/api/coupons/${couponId}/mints`, { token })).json.mints.length
  for (let changes = 0, done = false; !done; changes++) {
    const texts = new Map<string, string>()
    const before = await known()
    const order = `order ${changes}`
    const shop = newClient(dyingAfter(texts, changes), { signer })
    const cut = await issue(shop, { couponId, order }).catch((cause: Error) => cause.message)
    done = cut !== 'power cut'
    expect([changes, done]).toEqual([changes, changes === 3])
    const issued = await issue(newClient(texts, { signer }), { couponId, order })
    if (issued.outcome !== 'issued') throw new Error(issued.code)
    expect(await issue(newClient(texts), { couponId, order })).toEqual(issued)
    expect([...texts.keys()]).toEqual([issued.storedAs])
    expect(await known()).toBe(before + 1)
  }
  const lost = new Map<string, string>()
  proxy.fault = (route) => (route === 'POST /api/coupons/mint' ? badGateway : null)
  const shop = newClient(lost, { signer })
  const told = await issue(shop, { couponId, order: 'lost' })
  expect([told.outcome, lost.size]).toEqual(['unknown', 1])
  const refused = await issue(shop, { couponId: crypto.randomUUID(), order: 'lost' })
  proxy.fault = () => null
  expect((await issue(shop, { couponId, order: 'lost' })).outcome).toBe('issued')
  expect([refused.outcome, lost.size]).toEqual(['unknown', 2])
  await expect(issue(shop, { couponId, order: '' })).rejects.toThrow(RangeError)
})

test('a client without a storage receives and issues nothing', async () => {
  const nonce = await mintNonce()
  const client = createClient({ url: proxy.origin })
  await expect(receive(client, { nonce })).rejects.toThrow(TypeError)
  await expect(issue(client, { couponId, order: '1' })).rejects.toThrow(TypeError)
  const away = createClient({ url: 'http://127.0.0.1:1', patienceSeconds: 0 })
  await expect(receive(away, { nonce })).rejects.toThrow(TypeError)
  expect(await statusOf(nonce)).toBe('minted')
  expect((await redeem(client, { nonce, owner, sale: '1' })).outcome).toBe('granted')
})

/** A storage whose answer about a coupon, asked for while another one is on its way, comes when a key was forgotten. */
function lagging(): KeyStorage {
  const texts = new Map<string, string>()
  let underway = 0
  const forgotten = Promise.withResolvers<void>()
  return {
    async get(name) {
      const text = texts.get(name)
      if (!/^(receive|issue):/.test(name)) return text
      await (underway++ > 0 ? forgotten.promise : Bun.sleep(0))
      underway--
      return text
    },
    set: (name, text) => texts.set(name, text),
    delete(name) {
      texts.delete(name)
      if (name.startsWith('once:')) forgotten.resolve()
    },
  }
}

test('overlapping calls of one name get one coupon, however slow the storage is', async () => {
  const nonce = await mintNonce()
  const wallet = newClient(lagging())
  const received = await Promise.all([receive(wallet, { nonce }), receive(wallet, { nonce })])
  expect(received[0].outcome).toBe('received')
  expect(received[1]).toEqual(received[0])
  const shop = newClient(lagging(), { signer: openKey(secret) })
  const order = { couponId, order: 'overlapping' }
  const issued = await Promise.all([issue(shop, order), issue(shop, order)])
  expect(issued[0].outcome).toBe('issued')
  expect(issued[1]).toEqual(issued[0])
})

test('a call that waits for another one ends with its signal', async () => {
  const texts = new Map<string, string>()
  const held = Promise.withResolvers<void>()
  const wallet = newClient({
    get: (name) => held.promise.then(() => texts.get(name)),
    set: (name, text) => texts.set(name, text),
    delete: (name) => texts.delete(name),
  })
  const nonce = await mintNonce()
  const manager = (await call(url, '/api/coupons/manager')).json.pubkey
  const first = receive(wallet, { nonce, manager })
  const over = new AbortController()
  const second = receive(wallet, { nonce, manager, signal: over.signal })
  over.abort(new Error('closed'))
  await expect(second).rejects.toThrow('closed')
  held.resolve()
  expect((await first).outcome).toBe('received')
})
