/** Calls of one sale, one coupon or one order at the same time: of one client, of several, and of several programs. */

import { expect, test } from 'bun:test'
import { openFolder } from '../../src/client/folder.ts'
import {
  type ClientOptions,
  createClient,
  issue,
  type KeyStorage,
  openKey,
  receive,
  redeem,
} from '../../src/client/index.ts'
import { isFinal, nameOf } from '../../src/client/once.ts'
import { inTurn } from '../../src/client/turns.ts'
import { call, createDefinition, mintOne, newSigner } from '../support/client.ts'
import { gatewayPage } from '../support/faulty-proxy.ts'
import { openProxiedShop } from '../support/proxied-shop.ts'
import { newDirectory, startServer } from '../support/server.ts'

const claim = 'POST /api/coupons/claim'
const secret = 'ac'.repeat(32)
const signer = openKey(secret)
const merchant = newSigner(Buffer.from(secret, 'hex'))
const owner = merchant.pubkey

const { proxy, url, couponId, mintNonce, openMerchantSession } = await openProxiedShop(merchant)
const token = await openMerchantSession()

const newClient = (storage: KeyStorage, options: Partial<ClientOptions> = {}) =>
  createClient({ url: proxy.origin, storage, patienceSeconds: 0, signer, ...options })
const issuedSoFar = async (): Promise<number> =>
  (await call(url, `/api/coupons/${couponId}/mints`, { token })).json.mints.length

/** The storage of one of several programs on the same texts. */
function viewOf(texts: Map<string, string>, underway: (name: string) => unknown = () => null) {
  const view: KeyStorage = {
    async get(name) {
      const text = texts.get(name)
      await underway(name)
      return text
    },
    set: (name, text) => texts.set(name, text),
    add(name, text) {
      const free = !texts.has(name)
      if (free) texts.set(name, text)
      return free
    },
    delete: (name) => texts.delete(name),
  }
  return view
}

/** The first answer of a service gets lost. */
function loseFirst(route: string) {
  const how = { status: 502, body: gatewayPage }
  proxy.fault = (one, times) => (one === route && times === 1 ? { at: 'after', how } : null)
}

test('one sale at two clients is one redemption, and an answer that was lost is repeated', async () => {
  for (const lost of [false, true]) {
    proxy.seen = new Map()
    if (lost) loseFirst(claim)
    const storage = viewOf(new Map(), () => Bun.sleep(0))
    const sale = { nonce: await mintNonce(), owner, sale: '1' }
    const both = await Promise.all([
      redeem(newClient(storage), sale),
      redeem(newClient(storage), sale),
    ])
    expect(both.map(({ outcome }) => outcome)).toEqual([lost ? 'unknown' : 'granted', 'granted'])
    expect((await redeem(newClient(storage), sale)).outcome).toBe('granted')
  }
})

test('a body that is refused meanwhile does not take the key of a call that is underway', async () => {
  for (const purchase of [
    { amount: -1, currency: 'ARS' },
    { amount: 5, currency: 'ARS' },
  ] as const) {
    const rules = { minimum: { amount: 100, currency: 'ARS' } }
    const limited = await createDefinition(url, token, { rules })
    const { nonce } = await mintOne(url, token, limited)
    proxy.seen = new Map()
    loseFirst(claim)
    const till = newClient(new Map())
    const sale = { nonce, owner, sale: '1', purchase: { amount: 200, currency: 'ARS' } } as const
    const both = await Promise.all([redeem(till, sale), redeem(till, { ...sale, purchase })])
    const other = purchase.amount < 0 ? 'unknown' : 'other-body'
    expect(both.map(({ outcome }) => outcome)).toEqual(['unknown', other])
    expect((await redeem(till, sale)).outcome).toBe('granted')
  }
})

test('calls of `call` under one name share its key, and only the first takes it for new', async () => {
  const till = newClient(new Map())
  const nonce = await mintNonce()
  const send = (purchase?: object) =>
    till
      .call(claim, { body: { nonce, ...(purchase && { purchase }) } as never, once: 'sale' })
      .then(() => null)
      .catch(({ code, mayHaveSucceeded }) => [code, mayHaveSucceeded])
  const both = await Promise.all([send(), send({ amount: -1, currency: 'ARS' })])
  expect(both).toEqual([null, ['field-invalid', true]])
})

test('two clients that share a storage send one key for a name of `call`', async () => {
  const { add: _, ...storage } = viewOf(new Map(), () => Bun.sleep(0))
  const before = await issuedSoFar()
  const mint = () =>
    newClient(storage).call('POST /api/coupons/mint', { body: { couponId }, once: 'order 7' })
  const both = await Promise.all([mint(), mint()])
  expect(both[1]).toEqual(both[0])
  expect(await issuedSoFar()).toBe(before + 1)
})

test('a call that was given up while it waited does nothing when its turn comes', async () => {
  const texts = new Map<string, string>()
  const held = Promise.withResolvers<void>()
  const storage = viewOf(texts, () => held.promise)
  const sale = { nonce: await mintNonce(), owner, sale: '1' }
  expect((await redeem(newClient(new Map()), sale)).outcome).toBe('granted')
  const first = redeem(newClient(storage), sale)
  const over = new AbortController()
  const second = redeem(newClient(storage), { ...sale, signal: over.signal })
  over.abort(new Error('closed'))
  await expect(second).rejects.toThrow('closed')
  held.resolve()
  expect((await first).outcome).toBe('used')
  const name = nameOf('redeem', { sale: '1', nonce: sale.nonce })
  await inTurn(storage, name, { work: async () => null, signal: undefined })
  expect(texts.size).toBe(0)
})

test('a key of a wrong form is refused for good, and a good one only by the word of a gateway', async () => {
  const body = { nonce: await mintNonce() }
  const refused = (key: string) =>
    newClient(new Map())
      .call(claim, { body, key })
      .then(() => null, isFinal)
  expect(await refused('short')).toBe(true)
  const answer = JSON.stringify({ code: 'idempotency-key-invalid', error: 'x' })
  proxy.fault = () => ({ at: 'before', how: { status: 400, body: answer } })
  expect(await refused('of a good form')).toBe(true)
  expect(await refused('of-a-good-form')).toBe(false)
})

test.each(['', 'cut', 'a-key-of-good-form', 'a-key-of-good-form 17x'])(
  'a stored key %p is an error, stays, and sends nothing',
  async (text) => {
    const texts = new Map([['once:sale', text]])
    const body = { nonce: await mintNonce() }
    const told = newClient(viewOf(texts)).call(claim, { body, once: 'sale' })
    await expect(told).rejects.toThrow('the storage has a damaged key')
    expect([texts.get('once:sale'), proxy.seen.get(claim)]).toEqual([text, undefined])
  },
)

test('an order that was refused keeps its key, which another program may be sending', async () => {
  const texts = new Map<string, string>()
  const limited = await createDefinition(url, token, { maxUses: 1 })
  const order = { couponId: limited, order: 'refused' }
  await mintOne(url, token, limited)
  const refused = await issue(newClient(texts), order)
  expect(['code' in refused && refused.code, texts.size]).toEqual(['coupon-exhausted', 1])
  const [name = ''] = texts.keys()
  const [key = ''] = texts.get(name)?.split(' ') ?? []
  await call(url, `/api/coupons/${limited}`, { method: 'PATCH', token, body: { maxUses: 2 } })
  const other = createClient({ url: proxy.origin, signer })
  const sent = await other.call('POST /api/coupons/mint', { body: { couponId: limited }, key })
  const issued = await issue(newClient(texts), order)
  expect<unknown>('coupon' in issued && issued.coupon).toEqual(sent)
})

test('an order that two programs issue at once has one coupon', async () => {
  const texts = new Map<string, string>()
  const before = await issuedSoFar()
  const order = { couponId, order: 'of two programs' }
  // The second one finds no key, and stores its own when the request of the first one is underway.
  const sent = Promise.withResolvers<void>()
  proxy.fault = () => {
    sent.resolve()
    return null
  }
  let asked = 0
  const late = viewOf(texts, (name) =>
    name.startsWith('once:') && asked++ === 0 ? sent.promise : null,
  )
  const both = await Promise.all([
    issue(newClient(late), order),
    issue(newClient(viewOf(texts)), order),
  ])
  expect(both[0].outcome).toBe('issued')
  expect(both[1]).toEqual(both[0])
  // One looks for a coupon just before the other one stores it; and one finds a key just before the other one forgets it.
  for (const look of [0, 1]) {
    const done = Promise.withResolvers<void>()
    const later = { couponId, order: `a moment later ${look}` }
    let looks = 0
    const slow = viewOf(texts, (name) =>
      name.startsWith('issue:') && looks++ === look ? done.promise : null,
    )
    const second = issue(newClient(slow), later)
    const first = await issue(newClient(viewOf(texts)), later)
    done.resolve()
    expect(await second).toEqual(first)
  }
  expect(await issuedSoFar()).toBe(before + 3)
  expect([...texts.keys()].filter((name) => name.startsWith('once:'))).toEqual([])
})

test('a program that opens its folder for each call issues one coupon and receives one', async () => {
  const path = newDirectory()
  const before = await issuedSoFar()
  const order = { couponId, order: '1' }
  const issued = await Promise.all([1, 2, 3].map(() => issue(newClient(openFolder(path)), order)))
  expect(new Set(issued.map((one) => 'coupon' in one && one.coupon.nonce)).size).toBe(1)
  expect(await issuedSoFar()).toBe(before + 1)
  const nonce = await mintNonce()
  const manager = (await call(url, '/api/coupons/manager')).json.pubkey
  loseFirst('POST /api/coupons/refresh')
  const taken = await Promise.all(
    [1, 2].map(() => receive(newClient(openFolder(path)), { nonce, manager })),
  )
  expect(taken.map(({ outcome }) => outcome)).toEqual(['unknown', 'received'])
})

test('a coupon that cannot be read is an error, and no other one takes its place', async () => {
  const texts = new Map<string, string>()
  const order = { couponId, order: 'damaged' }
  const issued = await issue(newClient(texts), order)
  if (issued.outcome !== 'issued') throw new Error(issued.code)
  const before = await issuedSoFar()
  const cut = texts.get(issued.storedAs)?.slice(0, 300) ?? ''
  texts.set(issued.storedAs, cut)
  const told = issue(newClient(texts), order)
  await expect(told).rejects.toThrow('the storage has a damaged coupon')
  expect([texts.get(issued.storedAs), texts.size, await issuedSoFar()]).toEqual([cut, 1, before])
})

test('an order asks for its own definition, in any spelling, and with a key of any age', async () => {
  const texts = new Map<string, string>()
  const mint = 'POST /api/coupons/mint'
  const other = await mintOne(url, token, await createDefinition(url, token))
  const how = { status: 201, body: JSON.stringify(other) }
  proxy.fault = (route) => (route === mint ? { at: 'before', how } : null)
  const order = { couponId, order: 'own' }
  const misrouted = await issue(newClient(texts), order)
  expect(['code' in misrouted && misrouted.code, texts.size]).toEqual(['answer-invalid', 1])
  proxy.seen = new Map()
  loseFirst(mint)
  const before = await issuedSoFar()
  expect((await issue(newClient(texts), order)).outcome).toBe('unknown')
  const [name = ''] = texts.keys()
  texts.set(name, `${texts.get(name)?.split(' ')[0]} 1000`)
  const spelled = { couponId: couponId.toUpperCase(), order: 'own' }
  const issued = await issue(newClient(texts), spelled)
  expect(issued.outcome).toBe('issued')
  expect(await issue(newClient(texts), order)).toEqual(issued)
  expect(await issuedSoFar()).toBe(before + 1)
})

test('a service that does not know a coupon costs it nothing where another one refreshed it', async () => {
  const texts = new Map<string, string>()
  const nonce = await mintNonce()
  loseFirst('POST /api/coupons/refresh')
  expect((await receive(newClient(texts), { nonce })).outcome).toBe('unknown')
  const { url: elsewhere } = await startServer()
  const other = await receive(newClient(texts, { url: elsewhere }), { nonce })
  expect('code' in other && other.code).toBe('voucher-unknown')
  expect((await receive(newClient(texts), { nonce })).outcome).toBe('received')
})
