import { expect } from 'bun:test'
import { npubOf } from '../../../src/nostr/keys.ts'
import { call, newSigner, percentBenefit } from '../../support/client.ts'
import { secondsNow, untilSecond } from '../../support/clock.ts'
import { startClosed } from '../../support/closed.ts'
import type { Documented } from '../../support/documented.ts'
import { pngOf, samples } from '../../support/pictures.ts'

const setup = 'POST /api/setup'
const list = 'GET /api/merchants'
const add = 'POST /api/merchants'
const remove = 'DELETE /api/merchants/{key}'

const named = (key: string) => ({ path: `/api/merchants/${key}` })

/** The setup code, and who is let in after it. */
export function testMerchants({ scenario, newCaller }: Documented): void {
  scenario('a setup code that is wrong, and one that is right', async () => {
    const at = await startClosed()
    const { ask, refused, signer } = await newCaller({ at })
    const send = (code: unknown) => ({ body: { code }, signer })
    await refused('GET /api/coupons', 'merchant-not-allowed')
    await refused(setup, 'auth-missing', { body: { code: at.code } })
    await refused(setup, 'body-invalid', { body: '[]', signer })
    await refused(setup, 'field-invalid', send(5))
    await refused(setup, 'setup-code-wrong', send('x'))
    await refused(list, 'merchants-owner-only')
    await ask(setup, send(at.code))
    await refused(setup, 'setup-code-wrong', send(at.code))
    await ask('GET /api/coupons')
  })

  scenario('merchants that another lets in', async () => {
    const at = await startClosed()
    const { ask, send, refused, signer } = await newCaller({ at })
    const { pubkey } = newSigner()
    const key = npubOf(pubkey)
    await refused(add, 'merchants-owner-only', { body: { pubkey } })
    await refused(remove, 'merchants-owner-only', named(pubkey))
    await send(setup, { body: { code: at.code } })
    // The newest is first, by the second.
    await untilSecond(secondsNow() + 1)
    await send(add, { body: { pubkey: key } })
    await send(list)
    await ask(add, { body: { pubkey, label: 'La panadería' } })
    await ask(add, { body: { pubkey } })
    await refused(add, 'field-invalid', { body: { pubkey: 'x' } })
    await refused(add, 'body-invalid', { body: '[]' })
    await ask(list)
    await send(remove, { path: { key } })
    await refused(remove, 'merchant-unknown', named(pubkey))
    await refused(remove, 'merchant-is-owner', named(signer.pubkey))
  })

  scenario('the settings of a shop', async () => {
    const { ask, refused, server, signer } = await newCaller()
    const change = 'PATCH /api/shop'
    const open = 'GET /api/shops/{key}'
    await ask('GET /api/shop')
    await ask(change, { body: { name: 'Panadería', color: 'red' } })
    await ask('GET /api/shop')
    await refused(change, 'field-invalid', { body: { color: 'plaid' } })
    await refused(change, 'nothing-to-change', { body: {} })
    await refused(change, 'body-invalid', { body: '[]' })
    const path = `/api/shops/${signer.pubkey}`
    await ask(open, { path })
    const { headers } = await call(server.url, path)
    await ask(open, { path, headers: { 'If-None-Match': headers.get('etag') ?? '' } })
    await refused(open, 'merchant-unknown', { path: '/api/shops/x' })
    const closed = await newCaller({ at: await startClosed() })
    await closed.refused(change, 'merchant-not-allowed', { body: { name: 'x' } })
  })

  scenario('pictures of a merchant', async () => {
    const { ask, refused } = await newCaller()
    const upload = 'POST /api/pictures'
    const show = 'GET /api/pictures/{hash}'
    const { picture } = await ask(upload, { body: samples.png })
    expect(await ask(upload, { body: samples.png })).toEqual({ picture })
    const path = `/api/pictures/${picture.hash}`
    await ask(show, { path })
    await ask(show, { path, headers: { 'If-None-Match': `"${picture.hash}"` } })
    const made = await ask('POST /api/coupons', {
      body: { name: 'x', benefit: percentBenefit, picture: picture.hash },
    })
    const coupon = { path: `/api/coupons/${made.coupon.id}` }
    const unknown = { body: { picture: '0'.repeat(64) } }
    await ask('POST /api/coupons/mint', { body: { couponId: made.coupon.id } })
    await refused('PATCH /api/coupons/{id}', 'picture-unknown', { ...coupon, ...unknown })
    await refused('PATCH /api/shop', 'picture-unknown', unknown)
    await ask('PATCH /api/shop', { body: { picture: picture.hash } })
    await refused(show, 'picture-unknown', { path: '/api/pictures/x' })
    await refused(upload, 'picture-invalid', { body: 'GIF89a' })
    await refused(upload, 'picture-too-wide', { body: pngOf(2049, 1) })
    for (let shade = 0; shade < 199; shade++) await ask(upload, { body: pngOf(1, 1, { shade }) })
    await refused(upload, 'pictures-full', { body: pngOf(2, 1) })
  })

  scenario('merchants where the settings decide', async () => {
    const { refused } = await newCaller()
    const { pubkey } = newSigner()
    await refused(list, 'merchants-by-setting')
    await refused(add, 'merchants-by-setting', { body: { pubkey } })
    await refused(remove, 'merchants-by-setting', named(pubkey))
  })
}
