import {
  createDefinition,
  type Json,
  newKey,
  newSigner,
  percentBenefit,
  sha256Hex,
} from '../../support/client.ts'
import { secondsNow } from '../../support/clock.ts'
import type { Caller, Documented } from '../../support/documented.ts'

const route = 'POST /api/coupons'
const money = { amount: 100.5, currency: 'ARS' }
const benefits: { type: string; [field: string]: unknown }[] = [
  percentBenefit,
  { type: 'percent', percent: 10, productDs: ['a'], cap: money },
  { type: 'fixed', ...money, productDs: ['a', 'b'] },
  { type: 'multibuy', buyQty: 3, payQty: 2 },
  { type: 'buyXgetY', buyProductD: 'a', giftProductD: 'a', cap: { amount: 5, currency: 'SAT' } },
  { type: 'freeItems', items: [{ d: 'a', qty: 1 }] },
]

/** A picture that lies in the directory of the server as if it had been fetched. */
export const fetchedPicture = 'https://example.com/te.png'

/** Every field of a definition. */
function full(): Json {
  return {
    name: 'Té',
    description: 'Con limón',
    image: fetchedPicture,
    benefit: percentBenefit,
    maxUses: 5,
    expiresAt: secondsNow() + 1000,
  }
}

export function testDefinitions({ scenario, newCaller }: Documented): void {
  for (const [at, benefit] of benefits.entries()) {
    scenario(
      `a definition with benefit ${at + 1}, ${benefit.type}, is made and deleted`,
      async () => {
        const { ask } = await newCaller()
        const { coupon } = await ask(route, { body: { name: 'Café', benefit } })
        await ask('DELETE /api/coupons/{id}', { path: `/api/coupons/${coupon.id}` })
      },
    )
  }

  scenario('a definition with every null that a request may bring', async () => {
    const { ask } = await newCaller()
    // As text: the document need not tell of each of them.
    const nulls = { type: 'percent', percent: 5, productDs: null, cap: null }
    await ask(route, { body: JSON.stringify({ name: 'Café', benefit: nulls }) })
  })

  scenario('a definition is made once for its key', async () => {
    const { ask, refused } = await newCaller()
    const body = full()
    const headers = { 'Idempotency-Key': newKey() }
    await ask(route, { body, headers })
    await ask(route, { body, headers })
    await refused(route, 'idempotency-key-reused', { body: { ...body, name: 'Otro' }, headers })
    const short = { 'Idempotency-Key': 'short' }
    await refused(route, 'idempotency-key-invalid', { body, headers: short })
  })

  scenario('a definition that makes no sense', async () => {
    const { refused } = await newCaller()
    const but = (changes: Json) => ({ body: { ...full(), ...changes } })
    await refused(route, 'body-invalid', { body: '[]' })
    await refused(route, 'body-invalid', { body: '' })
    await refused(route, 'field-invalid', but({ name: '' }))
    await refused(route, 'field-invalid', but({ maxUses: 'many' }))
    await refused(route, 'field-invalid', but({ benefit: 5 }))
    await refused(route, 'field-invalid', but({ rules: 5 }))
    await refused(route, 'field-invalid', but({ rules: { startsAt: 'soon' } }))
    await refused(route, 'benefit-invalid', but({ benefit: { type: 'nothing' } }))
    await refused(route, 'expiry-past', but({ expiresAt: 1 }))
    await refused(route, 'too-large', but({ description: 'x'.repeat(17_000) }))
  })

  scenario('a picture', async () => {
    const { ask, refused } = await newCaller()
    const pictures = 'GET /api/coupons/images/{hash}'
    const pathOf = (address: string) => `/api/coupons/images/${sha256Hex(address)}`
    await ask(route, { body: full() })
    await ask(pictures, { path: pathOf(fetchedPicture) })
    await refused(pictures, 'image-unknown', { path: '/api/coupons/images/x' })
    const nowhere = 'https://127.0.0.1/te.png'
    await ask(route, { body: { ...full(), image: nowhere } })
    await refused(pictures, 'image-unavailable', { path: pathOf(nowhere) })
  })

  const edit = 'PATCH /api/coupons/{id}'
  const made = async ({ server, token }: Caller) =>
    `/api/coupons/${await createDefinition(server.url, token, full())}`

  scenario('an edit', async () => {
    const caller = await newCaller()
    const { ask } = caller
    const path = await made(caller)
    await ask(edit, { path, body: { archived: true, expiresAt: null, image: null, maxUses: null } })
    await ask(edit, { path, body: { archived: false, name: 'Mate', expiresAt: 1 } })
  })

  scenario('an edit that makes no sense', async () => {
    const caller = await newCaller()
    const { refused } = caller
    const path = await made(caller)
    await refused(edit, 'nothing-to-change', { path, body: {} })
    await refused(edit, 'field-invalid', { path, body: { name: null } })
    await refused(edit, 'benefit-invalid', { path, body: { benefit: {} } })
    await refused(edit, 'body-invalid', { path, body: '7' })
  })

  scenario('a definition that is not there, or not theirs', async () => {
    const caller = await newCaller()
    const { refused } = caller
    const path = await made(caller)
    await refused(edit, 'coupon-unknown', { path: '/api/coupons/none', body: { name: 'x' } })
    await refused(edit, 'coupon-unknown', { path, body: { name: 'x' }, signer: newSigner() })
    await refused('DELETE /api/coupons/{id}', 'coupon-unknown', { path: '/api/coupons/none' })
  })

  scenario('a minter is named and taken back', async () => {
    const { ask, refused } = await newCaller()
    const { pubkey } = newSigner()
    await ask('POST /api/coupons/minters', { body: { pubkey } })
    await ask('POST /api/coupons/minters', { body: { pubkey, label: 'Caja' } })
    await ask('GET /api/coupons/minters')
    const remove = 'DELETE /api/coupons/minters/{key}'
    const path = `/api/coupons/minters/${pubkey}`
    await ask(remove, { path })
    await refused(remove, 'minter-unknown', { path })
  })

  scenario('a minter that nobody can be', async () => {
    const { refused, signer } = await newCaller()
    const name = 'POST /api/coupons/minters'
    const { pubkey } = newSigner()
    await refused(name, 'minter-is-owner', { body: { pubkey: signer.pubkey } })
    await refused(name, 'field-invalid', { body: { pubkey: 'nobody' } })
    await refused(name, 'field-invalid', { body: {} })
    await refused(name, 'field-invalid', { body: { pubkey, label: 'x'.repeat(81) } })
    await refused(name, 'body-invalid', { body: 'no' })
  })
}
