/** Vouchers of a batch: their requests, and lost answers. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { limits } from '../../src/base/limits.ts'
import { ApiError } from '../../src/client/api-error.ts'
import { createCaller } from '../../src/client/caller.ts'
import { mintBatch, mintOne } from '../../src/client/mint.ts'

type Sent = {
  key: string
  body: { count?: number; batch: object; labels?: string[] }
  bytes: number
}

const real = globalThis.fetch
let sent: Sent[] = []
/** The answers of the service by key, as it keeps them. */
let answers = new Map<string, unknown>()
/** The fate of the request with this number: refused, or executed without an answer. */
let fate: (at: number) => 'refused' | 'lost' | 'answered' = () => 'answered'

beforeEach(() => {
  sent = []
  answers = new Map()
  fate = () => 'answered'
  globalThis.fetch = (async (_path: string, options: RequestInit) => {
    const text = String(options.body)
    const body = JSON.parse(text) as Sent['body']
    const key = new Headers(options.headers).get('Idempotency-Key') ?? ''
    sent.push({ key, body, bytes: new TextEncoder().encode(text).length })
    const outcome = fate(sent.length)
    if (outcome === 'refused')
      return Response.json({ code: 'coupon-exhausted', error: 'Se acabó.' }, { status: 409 })
    const vouchers = Array.from({ length: body.count ?? 0 }, (_, at) => ({ nonce: `${key}:${at}` }))
    const whole = body.count === undefined ? { nonce: key, voucher: {} } : { vouchers }
    if (!answers.has(key)) answers.set(key, { ...whole, batch: { id: 'batch-1' } })
    if (outcome === 'lost') throw new TypeError('the line is cut')
    return Response.json(answers.get(key))
  }) as typeof fetch
})

afterAll(() => {
  globalThis.fetch = real
})

const texts = new Map<string, string>()
const token = async () => 'token'
const credentials = { token, soon: token, renew: token, needSigner: () => Promise.reject() }
const session = createCaller({ url: '', credentials, storage: texts, patience: null })
/** The longest names that the service takes, which JSON escapes. */
const labels = Array.from({ length: 500 }, (_, at) => `${at} `.padEnd(80, '"'))
const issue = () => mintBatch(session, { couponId: 'c', name: 'Feria', labels })

test('labels beyond the size of a request go in parts of the same batch, in their order', async () => {
  const { vouchers, failure } = await issue()
  expect([vouchers.length, failure]).toEqual([500, null])
  expect(sent.length).toBeGreaterThan(3)
  expect(sent.flatMap(({ body }) => body.labels)).toEqual(labels)
  expect(Math.max(...sent.map(({ bytes }) => bytes))).toBeLessThanOrEqual(limits.bodyBytesMax)
  expect(sent.map(({ body }) => body.batch)).toEqual([
    { name: 'Feria' },
    ...sent.slice(1).map(() => ({ id: 'batch-1' })),
  ])
  expect(new Set(sent.map(({ key }) => key)).size).toBe(sent.length)
  expect(texts.size).toBe(0)
})

test('a lost answer is fetched with the key of its part, and nothing is issued twice', async () => {
  fate = (at) => (at === 2 ? 'lost' : 'answered')
  await expect(issue()).rejects.toBeInstanceOf(ApiError)
  const first = sent.map(({ key }) => key)
  const { vouchers } = await issue()
  expect(sent.slice(first.length, first.length + 2).map(({ key }) => key)).toEqual(first)
  expect(new Set(vouchers.map(({ nonce }) => nonce)).size).toBe(500)
  const parts = new Map(sent.map(({ key, body }) => [key, body.labels]))
  expect([...parts.values()].flat()).toEqual(labels)
  expect(answers.size).toBe(parts.size)
})

test('a single voucher meanwhile leaves the key of a batch whose answer was lost', async () => {
  fate = (at) => (at === 2 ? 'lost' : 'answered')
  await expect(issue()).rejects.toBeInstanceOf(ApiError)
  const first = sent.map(({ key }) => key)
  await mintOne(session, 'c')
  await issue()
  expect(sent.slice(first.length + 1, first.length + 3).map(({ key }) => key)).toEqual(first)
  expect(texts.size).toBe(0)
})

test('a refusal in the middle gives the codes that were issued, since nobody can ask for them again', async () => {
  fate = (at) => (at === 2 ? 'refused' : 'answered')
  const { vouchers, failure } = await issue()
  expect(vouchers).toHaveLength(sent[0]?.body.labels?.length ?? 0)
  expect(failure).toMatchObject({ code: 'coupon-exhausted' })
  expect(texts.size).toBe(0)
})

test('a first refusal is thrown, and leaves no key behind', async () => {
  fate = () => 'refused'
  await expect(issue()).rejects.toMatchObject({ code: 'coupon-exhausted' })
  expect(texts.size).toBe(0)
})

test('a number without labels is one request', async () => {
  const { vouchers } = await mintBatch(session, { couponId: 'c', name: 'Feria', count: 3 })
  expect(vouchers).toHaveLength(3)
  expect(sent.map(({ body }) => body)).toEqual([
    { couponId: 'c', batch: { name: 'Feria' }, count: 3 },
  ] as never)
})
