/**
 * The calls of the La Crypta merchant panel, as it makes them, through the proxy of docs/operations.md that gives the
 * panel and the service one origin. Each answer is held against what the OpenAPI document of La Crypta requires.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Ajv from 'ajv'
import { call, createProof, type Json, newSigner, nostrHeader } from '../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../support/clock.ts'
import { cleanUp, startServer } from '../support/server.ts'

const page = readFileSync(join(import.meta.dir, '../../docs/operations.md'), 'utf8')
const [, block = ''] =
  /^```nginx\n(# In server \{ … \} of the panel[\s\S]*?)^```$/m.exec(page) ?? []
/** The places of the panel's proxy that belong to the service, with the query that it sends there. */
const places = [...block.matchAll(/^location ~ (\S+) \{\n(?: +set \$args "(.+)";\n)?/gm)].map(
  ([, path = '', query]) => ({ path: new RegExp(path), query }),
)

const merchant = newSigner()
let service: string
let origin: string
let token: string
let proxy: ReturnType<typeof Bun.serve>

beforeAll(async () => {
  proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const { pathname, search } = new URL(request.url)
      const place = places.find(({ path }) => path.test(pathname))
      if (!place) return new Response('a page of the panel', { status: 404 })
      const query = place.query === undefined ? search : `?${place.query}`
      return fetch(`${service}${pathname}${query}`, request)
    },
  })
  origin = `http://localhost:${proxy.port}`
  const env = { PUBLIC_URL: origin, MERCHANTS: merchant.pubkey, RATE_LIMIT: 'off' }
  service = (await startServer({ env })).url
  const proof = createProof(merchant, `${origin}/api/auth/session`, { method: 'POST' })
  const session = await call(origin, '/api/auth/session', {
    method: 'POST',
    headers: { Authorization: nostrHeader(proof) },
  })
  expect(session.json).toMatchObject({ pubkey: merchant.pubkey, expiresAt: expect.any(Number) })
  token = session.json.token
})

afterAll(async () => {
  await proxy.stop(true)
  await cleanUp()
})

const text = { type: 'string' }
const number = { type: 'integer' }
const orNull = (type: string) => ({ type: [type, 'null'] })
const event = {
  type: 'object',
  required: ['id', 'pubkey', 'created_at', 'kind', 'tags', 'content', 'sig'],
}
/** Keys that the document requires, with the types that it gives them. */
const required = (properties: Record<string, unknown>) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
})
const Mint = required({
  nonce: text,
  status: { enum: ['minted', 'claimed', 'voided', 'refreshed'] },
  mintedBy: text,
  mintedByNpub: text,
  mintedAt: number,
  claimedAt: orNull('integer'),
  voidedAt: orNull('integer'),
})
const Redemption = required({
  nonce: text,
  claimedAt: number,
  couponId: text,
  name: text,
  benefit: { type: ['object', 'null'] },
  order: { oneOf: [event, { type: 'null' }] },
  orderId: orNull('string'),
  amountMsat: orNull('integer'),
})
const Minter = required({ pubkey: text, npub: text, label: orNull('string'), createdAt: number })
const Definition = required({
  id: text,
  name: text,
  description: text,
  image: orNull('string'),
  benefit: { type: 'object' },
  maxUses: orNull('integer'),
  minted: number,
  claimed: number,
  expiresAt: orNull('integer'),
  archivedAt: orNull('integer'),
  createdAt: number,
  updatedAt: number,
})
const Bundle = required({
  coupons: { type: 'array', items: Definition },
  minters: { type: 'array', items: Minter },
  discovery: { oneOf: [event, { type: 'null' }] },
})
const ajv = new Ajv({ allowUnionTypes: true })

/** One call as the panel makes it; the body of its answer. */
async function ask(
  path: string,
  schema: object,
  sent: { method?: string; body?: unknown; status?: number } = {},
): Promise<Json> {
  const { status = 200, ...options } = sent
  const answer = await call(origin, path, { ...options, token })
  expect([path, answer.status]).toEqual([path, status])
  if (!ajv.validate(schema, answer.json)) throw new Error(`${path}: ${ajv.errorsText()}`)
  return answer.json
}

const terms = { description: '', image: null, maxUses: 100, expiresAt: null }
const create = async (benefit: object, fields: object = {}): Promise<string> => {
  const body = { name: 'Promo', ...terms, benefit, ...fields }
  const { coupon } = await ask('/api/coupons', required({ coupon: Definition }), {
    body,
    status: 201,
  })
  expect(coupon.benefit).toEqual(benefit)
  return coupon.id
}
const mint = async (couponId: string): Promise<string> =>
  (
    await ask('/api/coupons/mint', required({ nonce: text, voucher: event }), {
      body: { couponId },
    })
  ).nonce
const list = async (couponId: string): Promise<Json[]> =>
  (await ask(`/api/coupons/${couponId}/mints`, required({ mints: { type: 'array', items: Mint } })))
    .mints
const voidOne = (couponId: string, nonce: string) =>
  ask(`/api/coupons/${couponId}/mints/${encodeURIComponent(nonce)}`, required({ mint: Mint }), {
    method: 'DELETE',
  })
const percent = { type: 'percent', percent: 20, cap: { amount: 5000, currency: 'ARS' } }
const withKey = () => ({ 'Idempotency-Key': crypto.randomUUID() })

test('the panel announces the service, and reads its announcement back', async () => {
  const { pubkey } = await ask('/api/coupons/manager', required({ pubkey: text, npub: text }))
  expect((await ask('/api/coupons', Bundle)).discovery).toBeNull()
  const signed = merchant.sign({
    kind: 30_078,
    created_at: secondsNow(),
    tags: [
      ['d', 'lacrypta.merchant/coupons'],
      ['p', pubkey],
      ['client', 'merchant-manager'],
    ],
    content: JSON.stringify({
      v: 2,
      mintUrl: `${origin}/api/coupons/mint`,
      claimUrl: `${origin}/api/coupons/claim`,
    }),
  })
  const saved = { method: 'PUT', body: { event: signed } }
  await ask('/api/coupons/discovery', required({ event }), saved)
  expect((await ask('/api/coupons', Bundle)).discovery).toEqual(signed)
})

test('the panel creates, edits and removes a coupon of each type', async () => {
  const d = crypto.randomUUID()
  const made = []
  for (const benefit of [
    percent,
    { type: 'fixed', amount: 1500, currency: 'ARS', productDs: [d] },
    { type: 'multibuy', buyQty: 2, payQty: 1 },
    { type: 'buyXgetY', buyProductD: d, giftProductD: d },
    { type: 'freeItems', items: [{ d, qty: 1 }] },
  ])
    made.push(await create(benefit))
  const [id] = made
  const edited = { method: 'PATCH', body: { name: 'Otro', archived: true } }
  const { coupon } = await ask(`/api/coupons/${id}`, required({ coupon: Definition }), edited)
  expect(coupon).toMatchObject({ name: 'Otro', archivedAt: expect.any(Number) })
  const removed = required({ deleted: { const: true }, archived: { const: false } })
  for (const one of made) await ask(`/api/coupons/${one}`, removed, { method: 'DELETE' })
})

test('the panel lists a minter, and removes it', async () => {
  const { pubkey } = newSigner()
  const body = { pubkey, label: 'Caja 2' }
  await ask('/api/coupons/minters', required({ minter: Minter }), { body, status: 201 })
  expect((await ask('/api/coupons', Bundle)).minters).toMatchObject([body])
  const removed = required({ removed: { const: true } })
  await ask(`/api/coupons/minters/${pubkey}`, removed, { method: 'DELETE' })
})

test('the list after a claim, a refresh and a void has what the panel shows, and voids by', async () => {
  const couponId = await create(percent)
  const nonces = [await mint(couponId), await mint(couponId), await mint(couponId)]
  await call(origin, '/api/coupons/claim', { body: { nonce: nonces[0] } })
  await call(origin, '/api/coupons/refresh', { body: { nonce: nonces[1] }, headers: withKey() })
  expect((await list(couponId)).map(({ status }) => status)).toEqual([
    'minted',
    'minted',
    'claimed',
  ])
  const whole = await call(service, `/api/coupons/${couponId}/mints`, { token })
  expect(whole.json.mints.map(({ status }: Json) => status)).toEqual([
    ...['minted', 'minted', 'refreshed', 'claimed'],
  ])
  // The button of the panel: for each row that says `minted`, by the `nonce` of the row.
  for (const row of await list(couponId)) {
    if (row.status === 'minted') {
      expect((await voidOne(couponId, row.nonce)).mint).toMatchObject({
        nonce: row.nonce,
        status: 'voided',
      })
    }
  }
  expect((await list(couponId)).map(({ status }) => status)).toEqual([
    'voided',
    'voided',
    'claimed',
  ])
})

test('an expired voucher is listed as minted, and the panel voids it', async () => {
  const couponId = await create(percent, { expiresAt: secondsNow() + briefSeconds })
  await mint(couponId)
  const [{ nonce }] = (await list(couponId)) as [Json]
  const { coupons } = await ask('/api/coupons', Bundle)
  await untilSecond(coupons.find(({ id }: Json) => id === couponId).expiresAt)
  expect(await list(couponId)).toMatchObject([{ nonce, status: 'minted', expired: true }])
  expect((await voidOne(couponId, nonce)).mint).toMatchObject({ status: 'voided', expired: false })
})

test('redemptions have the key of a row, and nothing is spent with it', async () => {
  const couponId = await create(percent)
  const open = await mint(couponId)
  const nonce = await mint(couponId)
  await call(origin, '/api/coupons/claim', { body: { nonce } })
  const Redemptions = required({ redemptions: { type: 'array', items: Redemption } })
  const { redemptions } = await ask('/api/coupons/redemptions', Redemptions)
  expect(redemptions[0]).toMatchObject({ couponId, nonce: redemptions[0].handle })
  for (const row of await list(couponId)) {
    expect([open, nonce]).not.toContain(row.nonce)
    const body = { nonce: row.nonce }
    for (const [path, headers] of [
      ['claim', {}],
      ['preview', {}],
      ['refresh', withKey()],
    ] as const) {
      const answer = await call(origin, `/api/coupons/${path}`, { body, headers })
      expect([path, answer.status, answer.json.code]).toEqual([path, 404, 'voucher-unknown'])
    }
  }
})
