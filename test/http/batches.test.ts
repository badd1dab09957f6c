/** Vouchers that are issued together under a name, with a recipient each. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  call,
  createDefinition,
  type Json,
  newKey,
  newSigner,
  openSession,
  withKey,
} from '../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../support/clock.ts'
import { refuses } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const signer = newSigner()
let server: TestServer
let token: string
let couponId: string

beforeAll(async () => {
  server = await startServer({ checkRoots: true, env: { RATE_LIMIT: 'off' } })
  token = await openSession(server.url, signer)
  couponId = await createDefinition(server.url, token)
})

afterAll(cleanUp)

const mint = (body: Json, headers: Json = {}) =>
  call(server.url, '/api/coupons/mint', { body: { couponId, ...body }, token, ...headers })
const batches = async (of = couponId) => {
  const listed = await call(server.url, `/api/coupons/${of}/batches`, { token })
  expect(listed.status).toBe(200)
  return listed.json.batches
}
const figuresOf = async (id: string, of = couponId) => {
  const batch = (await batches(of)).find((one: Json) => one.id === id)
  const { issued, open, expired, claimed, voided } = batch
  expect(open + expired + claimed + voided).toBe(issued)
  return [issued, open, expired, claimed, voided]
}
const claim = (nonce: string) => call(server.url, '/api/coupons/claim', { body: { nonce } })
const refresh = (nonce: string) =>
  call(server.url, '/api/coupons/refresh', { body: { nonce }, ...withKey() })
const drop = (batch: string, of = couponId) =>
  call(server.url, `/api/coupons/${of}/batches/${batch}`, { method: 'DELETE', token })

test('a mint names its batch and its recipients, and an answer without them stays as it was', async () => {
  const labels = ['Ana', null, 'Beto ñandú']
  const minted = await mint({ count: 3, batch: { name: 'Feria' }, labels })
  expect(Object.keys(minted.json)).toEqual(['vouchers', 'batch'])
  const { vouchers, batch } = minted.json
  expect(batch.name).toBe('Feria')
  expect(JSON.stringify(vouchers)).not.toContain('Ana')
  const more = await mint({ labels: ['Caro'], batch: { id: batch.id } })
  expect(more.json.batch).toEqual(batch)
  const listed = await call(server.url, `/api/coupons/${couponId}/mints?limit=4`, { token })
  const rows = listed.json.mints.map((one: Json) => [one.label, one.batch === batch.id])
  expect(rows).toEqual([
    ['Caro', true],
    ['Beto ñandú', true],
    [undefined, true],
    ['Ana', true],
  ])
  const plain = await mint({ count: 1 })
  expect(Object.keys(plain.json)).toEqual(['vouchers'])
  expect((await mint({})).json.nonce).toHaveLength(22)
  const [last] = (await call(server.url, `/api/coupons/${couponId}/mints?limit=1`, { token })).json
    .mints
  expect(Object.keys(last)).not.toContain('label')
  expect(Object.keys(last)).not.toContain('batch')
})

test('a retry with the same Idempotency-Key repeats the batch, and makes no other', async () => {
  const key = withKey(newKey())
  const first = await mint({ count: 2, batch: { name: 'Una vez' } }, key)
  const again = await mint({ count: 2, batch: { name: 'Una vez' } }, key)
  expect(again.text).toBe(first.text)
  expect((await batches()).filter((one: Json) => one.name === 'Una vez')).toHaveLength(1)
})

test('the figures of a batch add up, and voiding it spares what was redeemed', async () => {
  const { vouchers, batch } = (await mint({ count: 5, batch: { name: 'Mesa 4' } })).json
  const nonces = vouchers.map((one: Json) => one.nonce)
  expect((await claim(nonces[0])).status).toBe(200)
  const moved = (await refresh(nonces[1])).json.nonce
  const outside = (await mint({})).json.nonce
  expect(await figuresOf(batch.id)).toEqual([5, 4, 0, 1, 0])
  expect((await drop(batch.id)).json).toEqual({ voided: 4 })
  expect(await figuresOf(batch.id)).toEqual([5, 0, 0, 1, 4])
  expect((await drop(batch.id)).json).toEqual({ voided: 0 })
  for (const nonce of [moved, nonces[2]])
    await refuses(server, () => claim(nonce), 410, 'voucher-cancelled')
  expect((await claim(outside)).json.status).toBe('success')
  expect((await claim(nonces[0])).json.status).toBe('claimed')
})

test('an expired voucher of a batch counts as expired, and is voided with it', async () => {
  const ends = secondsNow() + briefSeconds
  const brief = await createDefinition(server.url, token, { expiresAt: ends })
  const minted = await mint({ couponId: brief, count: 2, batch: { name: 'Corta' } })
  await untilSecond(ends)
  const { id } = minted.json.batch
  expect(await figuresOf(id, brief)).toEqual([2, 0, 2, 0, 0])
  expect((await drop(id, brief)).json).toEqual({ voided: 2 })
})

test('the redemption names the recipient', async () => {
  const { vouchers } = (await mint({ count: 1, labels: ['Dora'] })).json
  await claim(vouchers[0].nonce)
  const listed = await call(server.url, '/api/coupons/redemptions?limit=1', { token })
  expect(listed.json.redemptions[0].label).toBe('Dora')
})

const malformed: [Json, string][] = [
  [{ count: 2, labels: ['uno'] }, 'labels'],
  [{ count: 1, labels: ['x'.repeat(81)] }, 'labels'],
  [{ count: 1, labels: ['\u202eanA'] }, 'labels'],
  [{ count: 1, batch: {} }, 'batch'],
  [{ count: 1, batch: { id: 'x', name: 'y' } }, 'batch'],
  [{ count: 1, batch: { name: '' } }, 'batch.name'],
  [{ count: 1, batch: { name: 'x'.repeat(81) } }, 'batch.name'],
]

test.each(malformed)('%j is refused by its field', async (body, field) => {
  await refuses(server, () => mint(body), 400, 'field-invalid', { field })
})

test('a batch of another coupon or another merchant looks like one that does not exist', async () => {
  const { batch } = (await mint({ count: 1, batch: { name: 'Propia' } })).json
  const other = await createDefinition(server.url, token)
  await refuses(server, () => drop(batch.id, other), 404, 'batch-unknown')
  await refuses(
    server,
    () => mint({ couponId: other, batch: { id: batch.id } }),
    404,
    'batch-unknown',
  )
  await refuses(server, () => drop('x'), 404, 'batch-unknown')
  const stranger = await openSession(server.url, newSigner())
  const asStranger = (method: string, path: string) =>
    call(server.url, `/api/coupons/${couponId}/batches${path}`, { method, token: stranger })
  await refuses(server, () => asStranger('GET', ''), 404, 'coupon-unknown')
  await refuses(server, () => asStranger('DELETE', `/${batch.id}`), 404, 'coupon-unknown')
})

test('a batch takes no more vouchers than its figures can be counted for', async () => {
  const { batch } = (await mint({ count: 500, batch: { name: 'Grande' } })).json
  expect((await mint({ count: 500, batch: { id: batch.id } })).status).toBe(200)
  await refuses(server, () => mint({ batch: { id: batch.id } }), 409, 'batch-full')
  expect((await drop(batch.id)).json).toEqual({ voided: 1000 })
})
