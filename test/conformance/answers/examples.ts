import { afterAll, beforeAll, expect } from 'bun:test'
import { handleOf } from '../../../src/coupons/nonce.ts'
import { npubOf } from '../../../src/nostr/keys.ts'
import { withTags } from '../../support/another-day.ts'
import { type Json, newSigner, withKey } from '../../support/client.ts'
import { secondsNow } from '../../support/clock.ts'
import type { Documented } from '../../support/documented.ts'
import { createEvent } from '../../support/events.ts'
import { startFaultyRelay, stopRelays, tell } from '../../support/faulty-relay.ts'
import { samples } from '../../support/pictures.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { addAccount } from '../../support/shops.ts'
import { until } from '../../support/until.ts'
import { announcementOf } from './announcements.ts'

const origin = 'https://cupones.example'
const claiming = 'POST /api/coupons/claim'
const minting = 'POST /api/coupons/mint'
const refreshing = 'POST /api/coupons/refresh'

/** The requests of the pages, sent as they stand but for the values of their day, in the order of a day. */
export function testExamples({ scenario, newCaller, printed, exampleOf }: Documented): void {
  let at: TestServer
  beforeAll(async () => {
    const relay = startFaultyRelay({
      event(socket, { id }) {
        tell(socket, 'OK', id, false, 'blocked: members only')
        return true
      },
    })
    const RELAYS = `embedded,${relay.url}`
    const env = { RATE_LIMIT: 'off', PUBLIC_URL: origin, MERCHANTS: 'open', RELAYS }
    at = await startServer({ env })
  })
  afterAll(stopRelays)

  /** A merchant with the coupon and the till of the pages. */
  const openShop = async () => {
    const [shop, till] = [await newCaller({ at, origin }), await newCaller({ at, origin })]
    const { coupon } = await shop.send('POST /api/coupons')
    const id: string = coupon.id
    const change = () => shop.send('PATCH /api/coupons/{id}', { path: { id } })
    const authorize = (key: string, fields: Json = {}) =>
      shop.send('POST /api/coupons/minters', { body: { pubkey: npubOf(key), ...fields } })
    const mint = () => till.send(minting, { body: { couponId: id } })
    return { shop, till, id, change, authorize, mint, tillKey: till.signer.pubkey }
  }

  scenario('a merchant opens a shop', async () => {
    const { shop, change, authorize, id, tillKey } = await openShop()
    const { server, signer, send } = shop
    await send('POST /api/auth/session')
    await change()
    await authorize(tillKey)
    await authorize(tillKey)
    await send('GET /api/coupons/minters')
    const { pubkey: manager } = await send('GET /api/coupons/manager')
    const announcing = 'PUT /api/coupons/discovery'
    const { tags } = withTags(exampleOf(announcing).event, { p: manager })
    const event = announcementOf({ ...server, url: origin }, signer, { tags })
    expect(await send(announcing, { body: { event } })).toEqual({ event })
    await send('GET /api/coupons')
    const content = { ...JSON.parse(event.content), refreshUrl: undefined }
    const poor = announcementOf(server, signer, { created_at: secondsNow() + 9 }, content)
    const { warnings } = await send(announcing, { body: { event: poor } })
    expect(warnings).toHaveLength(2)
    await send('DELETE /api/coupons/discovery')
    await send('PATCH /api/shop')
    await send('GET /api/shop')
    await send('GET /api/shops/{key}', { path: { key: npubOf(signer.pubkey) } })
    const uploading = 'POST /api/pictures'
    const { picture } = await send(uploading, { body: () => samples.webp })
    await send('GET /api/pictures/{hash}', { path: { hash: picture.hash } })

    const helper = await newCaller({ at, origin })
    await authorize(helper.signer.pubkey, { mint: false })
    await helper.send('GET /api/coupons/authorizations')
    const key = npubOf(helper.signer.pubkey)
    await send('DELETE /api/coupons/minters/{key}', { path: { key } })
    await shop.ask(minting, { body: { couponId: id } })
    await send('DELETE /api/coupons/{id}', { path: { id } })
  })

  scenario('a poster gives a voucher', async () => {
    const { shop, id, change } = await openShop()
    const { poster } = await shop.send('POST /api/posters', { body: { couponId: id } })
    const path = { id: poster.id }
    await shop.send('GET /api/posters')
    await shop.send('GET /api/posters/{id}', { path })
    await change()
    const take = { path, signer: newSigner(), ...withKey() }
    await shop.send('POST /api/posters/{id}/take', take)
    await shop.send('POST /api/posters/{id}/take', take)
    const { poster: second } = await shop.send('POST /api/posters', { body: { couponId: id } })
    await shop.send('PATCH /api/posters/{id}', { path: { id: second.id } })
    await shop.send('DELETE /api/posters/{id}', { path })
  })

  scenario('vouchers are issued, change hands and are redeemed', async () => {
    const { shop, till, id, change, authorize, mint, tillKey } = await openShop()
    await change()
    await authorize(tillKey)
    await till.send('GET /api/coupons/mintable')
    const { nonce } = await mint()
    const { nonce: other } = await mint()
    await shop.send('POST /api/coupons/preview', { body: { nonce } })
    await shop.send('GET /api/coupons/claim', { query: { nonce } })
    const key = withKey()
    const next = await shop.send(refreshing, { body: { nonce }, ...key })
    await shop.send(refreshing, { body: { nonce }, ...key })
    await shop.refused(refreshing, 'voucher-refreshed', { body: { nonce }, ...withKey() })
    await shop.refused(claiming, 'voucher-moved', { body: { nonce } })
    const paid = exampleOf(claiming).zapRequest
    const { pubkey: owner } = shop.signer
    const zapRequest = newSigner().sign(withTags(paid, { p: owner, coupon: id }))
    const order = { owner, zapRequest, nonce: next.nonce }
    await till.ask(claiming, { body: { ...exampleOf(claiming), ...order } })
    await shop.send('GET /api/coupons/redemptions')
    await shop.send('GET /api/coupons/{id}/mints', { path: { id } })
    const { nonce: third } = await mint()
    await shop.send(claiming, { body: { ...order, nonce: third } })
    await shop.send(claiming, { body: { ...order, nonce: third } })
    const query = { from: daysAgo(29), to: daysAgo(0) }
    await shop.send('GET /api/coupons/stats', { query })

    const handle = Buffer.from(handleOf(other)).toString('base64url')
    await shop.send('DELETE /api/coupons/{id}/mints/{handle}', { path: { id, handle } })
    const batch = { name: 'Feria de la plaza' }
    const issued = await shop.ask(minting, { body: { couponId: id, count: 2, batch } })
    await shop.send('GET /api/coupons/{id}/batches', { path: { id } })
    const path = { id, batch: issued.batch.id }
    await shop.send('DELETE /api/coupons/{id}/batches/{batch}', { path })
    await shop.send('DELETE /api/coupons/{id}/mints', { path: { id } })
  })

  scenario('redemptions are counted by till', async () => {
    const { shop, till, authorize, mint, tillKey } = await openShop()
    await authorize(tillKey)
    const [first, second] = [await mint(), await mint()]
    await shop.ask(claiming, { body: { nonce: first.nonce }, token: '' })
    await till.ask(claiming, { body: { nonce: second.nonce } })
    const query = { from: daysAgo(29), to: daysAgo(0) }
    await shop.send('GET /api/coupons/stats/tills', { query })
  })

  scenario('a coupon with the rules of the pages, and a benefit that makes no sense', async () => {
    const { ask, refused } = await newCaller({ at, origin })
    const body = exampleOf('POST /api/coupons')
    const rules = printed.answers.find(({ value }) => value.times)?.value
    await ask('POST /api/coupons', { body: { ...body, rules } })
    const benefit = { type: 'multibuy', buyQty: 2, payQty: 2 }
    await refused('POST /api/coupons', 'benefit-invalid', { body: { ...body, benefit } })
  })

  scenario('an event of a merchant is published, and asked for', async () => {
    const { signer, send } = (await openShop()).shop
    const { kind, tags, content } = exampleOf('POST /nostr/publish')
    const event = createEvent({ signer, kind, tags, content })
    await send('POST /nostr/publish', { body: () => event })
    const state = () => send('GET /nostr/publish/{id}', { path: { id: event.id } })
    await until('both relays have answered', async () => (await state()).status === 'partial')
    await send('POST /nostr/fetch')
  })

  scenario('the holder of a name gets the voucher of the example', async () => {
    const { shop, id, change } = await openShop()
    const { signer, send } = shop
    await addAccount(at.dataDir, 'eva', signer.pubkey)
    await change()
    const { nonce, voucher } = await shop.ask(minting, { body: { couponId: id } })
    await send('POST /api/lud16/{name}/cb', { body: { nonce, voucher } })
    const { vouchers } = await shop.ask('GET /api/wallet/vouchers')
    const sent = await shop.ask(minting, { body: { couponId: id } })
    const to = 'eva@cupones.example'
    await send('POST /api/transfer', { body: { nonce: sent.nonce, to } })
    await send('DELETE /api/wallet/vouchers/{id}', { path: { id: vouchers[0].id } })
    await shop.ask('GET /api/wallet/settings')
    await send('PUT /api/wallet/settings')
  })
}

function daysAgo(days: number): string {
  return new Date((secondsNow() - days * 86_400) * 1000).toISOString().slice(0, 10)
}
