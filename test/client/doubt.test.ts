/** Refusals that leave open whether a request was executed, from a server that says as it is told. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import type { OperationName } from '../../src/client/described/operations.ts'
import {
  type ClientOptions,
  createClient,
  type EventSigner,
  redeem,
} from '../../src/client/index.ts'
import { once } from '../../src/client/once.ts'
import { failureOf } from '../support/api-failure.ts'

const claim = 'POST /api/coupons/claim'
const refresh = 'POST /api/coupons/refresh'
const nonce = 'A'.repeat(22)

type Said = { status?: number; body: object }
let said: (times: number) => Said
let times = 0

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch() {
    const { status = 200, body } = said(++times)
    return Response.json(body, { status })
  },
})
afterAll(() => server.stop(true))
beforeEach(() => {
  times = 0
})

/** A client that repeats at once. */
function newClient(options: Partial<ClientOptions> = {}) {
  return createClient({ url: server.url.origin, pause: async () => undefined, ...options })
}

function refusal(status: number, code: string, more: object = {}): Said {
  return { status, body: { code, error: 'x', ...more } }
}

const sold = (of: string): Said => ({ body: { nonce: of, status: 'success', voucher: {} } })

test('a key that the caller keeps may have been sent before', async () => {
  const client = newClient({ patienceSeconds: 0 })
  const told = async (answer: Said, named: { key: string } | { once: string }) => {
    said = () => answer
    return (await failureOf(client.call(refresh, { body: { nonce }, ...named }))).mayHaveSucceeded
  }
  const early = [refusal(429, 'rate-limited'), refusal(400, 'field-invalid')]
  for (const [at, answer] of early.entries()) {
    expect(await told(answer, { key: 'k'.repeat(22) })).toBe(true)
    expect(await told(answer, { once: `take ${at}` })).toBe(false)
  }
  // The service looked the key up before it said this.
  expect(await told(refusal(409, 'voucher-refreshed'), { key: 'k'.repeat(22) })).toBe(false)
})

test('a name that has the whole body is free when its form is refused, whatever was lost before', async () => {
  const storage = new Map<string, string>()
  const client = newClient({ storage, patienceSeconds: 0 })
  const told = async (answer: Said, of = 'mistyped') => {
    said = () => answer
    const take = once(client, 'take', { nonce: of }, (name) =>
      client.call(refresh, { body: { nonce: of }, once: name }),
    )
    const { mayHaveSucceeded } = await failureOf(take)
    return [mayHaveSucceeded, storage.size]
  }
  expect(await told(refusal(502, 'unavailable'))).toEqual([true, 1])
  // The word of a gateway, which says nothing of the form, whatever it calls it.
  expect(await told(refusal(503, 'nonce-invalid'))).toEqual([true, 1])
  expect(await told(refusal(429, 'rate-limited'))).toEqual([true, 1])
  // A caller that picks its own names may have sent another body.
  expect(await told(refusal(413, 'too-large'))).toEqual([true, 1])
  expect(await told(refusal(400, 'body-invalid'))).toEqual([true, 1])
  expect(await told(refusal(400, 'nonce-invalid'))).toEqual([true, 0])
  // The form of this body is right, so the service refuses it with none of them.
  const taken = refusal(502, 'unavailable')
  for (const code of ['nonce-invalid', 'field-invalid', 'body-invalid', 'too-large']) {
    storage.clear()
    expect([await told(taken, nonce), await told(refusal(400, code), nonce)]).toEqual([
      [true, 1],
      [true, 1],
    ])
  }
})

test('a code of the form, after an answer was lost in the same call, is the word of a gateway', async () => {
  const told = async (body: { nonce: string }, code: string) => {
    times = 0
    said = (count) => (count === 1 ? refusal(502, 'unavailable') : refusal(400, code))
    return (await failureOf(newClient().call(refresh, { body, once: 'take' }))).mayHaveSucceeded
  }
  expect(await told({ nonce }, 'too-large')).toBe(true)
  expect(await told({ nonce }, 'nonce-invalid')).toBe(true)
  expect(await told({ nonce: 'mistyped' }, 'nonce-invalid')).toBe(false)
})

test('a sale has one body, in whatever order its fields are given', async () => {
  const bodies: string[] = []
  const own = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      bodies.push(await request.text())
      return Response.json(sold(nonce).body)
    },
  })
  try {
    const till = createClient({ url: own.url.origin, patienceSeconds: 0 })
    const owner = 'ab'.repeat(32)
    const [amount, currency] = [5, 'ARS'] as const
    await redeem(till, { nonce, owner, sale: '1', purchase: { amount, currency } })
    await redeem(till, { purchase: { currency, amount }, sale: '1', owner, nonce })
  } finally {
    await own.stop(true)
  }
  expect(bodies).toHaveLength(2)
  expect(bodies[1]).toBe(bodies[0] ?? '')
})

test('a claim is not answered by another coupon', async () => {
  said = (count) => sold(count === 1 ? 'B'.repeat(22) : nonce)
  const answer = await newClient().call(claim, { body: { nonce }, once: 'sale' })
  expect([answer.nonce, times]).toEqual([nonce, 2])
  said = () => sold('B'.repeat(22))
  const client = newClient({ patienceSeconds: 0 })
  const foreign = await failureOf(client.call(claim, { body: { nonce }, once: 'other' }))
  expect([foreign.code, foreign.mayHaveSucceeded]).toEqual(['answer-invalid', true])
})

test('a signal has no listener of a call that ended', async () => {
  const { signal } = new AbortController()
  const listeners = new Set<unknown>()
  const { addEventListener: add, removeEventListener: remove } = signal
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    const [, listener, options] = given
    const until = typeof options === 'object' ? options.signal : undefined
    listeners.add(listener)
    until?.addEventListener('abort', () => listeners.delete(listener))
    add.apply(signal, given)
  }
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners.delete(given[1])
    remove.apply(signal, given)
  }
  said = () => sold(nonce)
  await newClient().call(claim, { body: { nonce }, once: 'sale', signal })
  said = () => refusal(404, 'voucher-unknown')
  await failureOf(newClient().call(claim, { body: { nonce }, once: 'sale', signal }))
  expect(listeners.size).toBe(0)
})

test('a signer that never answers holds a claim no longer than patience, or one request', async () => {
  const signer: EventSigner = {
    pubkey: 'ab'.repeat(32),
    sign: () => new Promise<never>(() => undefined),
  }
  said = () => refusal(403, 'till-not-allowed', { reason: 'missing' })
  const told = async (options: Partial<ClientOptions>) => {
    const till = newClient({ signer, ...options })
    const failure = await failureOf(till.call(claim, { body: { nonce }, once: 'sale' }))
    return `${failure.code}: ${failure.mayHaveSucceeded}`
  }
  const refused = 'till-not-allowed: false'
  expect(
    await Promise.all([
      told({ patienceSeconds: 1 }),
      told({ patienceSeconds: 0, timeoutMs: 1000 }),
    ]),
  ).toEqual([refused, refused])
  expect(times).toBe(2)
})

const event = { id: '', pubkey: '', created_at: 1, kind: 1, tags: [], content: '', sig: '' }
const writes: [name: OperationName, input: object, own: string, status: number][] = [
  ['POST /api/transfer', { body: { nonce, to: 'ana@cupones.example' } }, 'voucher-invalid', 400],
  ['POST /nostr/publish', { body: event }, 'event-invalid', 422],
  ['POST /card/pay', { body: event }, 'funds-insufficient', 400],
  ['GET /card/pay', { query: { k1: 'k', pr: 'ln' } }, 'invoice-invalid', 400],
  ['DELETE /api/posters/{id}', { path: { id: 'x' } }, 'poster-unknown', 404],
]
test.each(writes)('%s: the word of a gateway leaves it open', async (name, input, own, status) => {
  const call = newClient().call as (name: string, input: object) => Promise<unknown>
  const told = async (answer: Said) => {
    said = () => answer
    return (await failureOf(call(name, input))).mayHaveSucceeded
  }
  expect(await told(refusal(403, 'forbidden'))).toBe(true)
  expect(await told(refusal(404, 'voucher-refreshed'))).toBe(true)
  expect(await told(refusal(status, own))).toBe(false)
  expect(await told(refusal(429, 'rate-limited'))).toBe(false)
  expect(await told(refusal(401, 'auth-missing'))).toBe(false)
  expect(times).toBe(5)
})

test('a read is not executed, and asked once, whoever refuses it', async () => {
  said = () => refusal(403, 'forbidden')
  const client = newClient({ patienceSeconds: 1 })
  const reads = [
    client.call('GET /api/coupons/manager'),
    client.call('POST /api/coupons/preview', { body: { nonce } }),
  ]
  for (const { mayHaveSucceeded } of await Promise.all(reads.map(failureOf))) {
    expect(mayHaveSucceeded).toBe(false)
  }
  expect(times).toBe(2)
})
