import { expect } from 'bun:test'
import { withTags } from '../../support/another-day.ts'
import { type Json, newSigner, withKey } from '../../support/client.ts'
import { secondsNow } from '../../support/clock.ts'
import { type Documented, sharedServer } from '../../support/documented.ts'
import { createEvent } from '../../support/events.ts'
import { addAccount } from '../../support/shops.ts'
import { announcementOf } from './announcements.ts'

const origin = 'https://cupones.example'

/** The examples of the document, sent as they stand but for the values that a service makes. */
export function testExamples({ scenario, newCaller, operationOf, exampleOf }: Documented): void {
  const home = sharedServer({ RATE_LIMIT: 'off', PUBLIC_URL: origin, MERCHANTS: 'open' })

  /** The body of an example, with `values` in place of those of another day. */
  const bodyOf = (route: string, values: Json = {}): Json => ({ ...exampleOf(route), ...values })

  /** The path of an example with its query. */
  const queryOf = (route: string, values: Record<string, string>): string => {
    const [method = '', path = ''] = route.split(' ')
    const named = operationOf(method, path).parameters.flatMap(({ in: place, name, example }) =>
      place === 'query' && example !== undefined ? [[name, values[name] ?? example]] : [],
    )
    return `${path}?${new URLSearchParams(named)}`
  }

  scenario('a merchant, a till and a holder send the examples', async () => {
    const { ask, signer, server } = await newCaller()
    const till = await newCaller()
    const send = (route: string, values: Json = {}, options: Json = {}) =>
      ask(route, { body: bodyOf(route, values), ...options })

    const look = (route: string, values: Record<string, string> = {}) =>
      ask(route, { path: queryOf(route, values) })

    const { coupon } = await send('POST /api/coupons')
    const couponId: string = coupon.id
    const poster = (await send('POST /api/posters', { couponId })).poster
    await ask('GET /api/posters/{id}', { path: `/api/posters/${poster.id}` })
    const body = bodyOf('PATCH /api/posters/{id}')
    const take = { path: `/api/posters/${poster.id}/take`, signer: newSigner(), ...withKey() }
    await ask('POST /api/posters/{id}/take', take)
    await ask('POST /api/posters/{id}/take', take)
    await ask('PATCH /api/posters/{id}', { path: `/api/posters/${poster.id}`, body })
    await send('PATCH /api/coupons/{id}', {}, { path: `/api/coupons/${couponId}` })
    await ask('GET /api/coupons/mintable')
    await send('POST /api/coupons/minters')
    await send('POST /api/coupons/minters')
    await send('POST /api/coupons/minters', { pubkey: till.signer.pubkey })

    const minted = await send('POST /api/coupons/mint', { couponId })
    const { nonce } = minted
    await send('POST /api/coupons/preview', { nonce })
    await ask('GET /api/coupons/claim', { path: `/api/coupons/claim?nonce=${nonce}` })
    const refresh = withKey()
    const next = await send('POST /api/coupons/refresh', { nonce }, refresh)
    await send('POST /api/coupons/refresh', { nonce }, refresh)
    const paid = bodyOf('POST /api/coupons/claim').zapRequest
    const zapRequest = newSigner().sign(withTags(paid, { p: signer.pubkey, coupon: couponId }))
    const order = { nonce: next.nonce, owner: signer.pubkey, zapRequest }
    await send('POST /api/coupons/claim', order, { token: till.token })
    await look('GET /api/coupons/redemptions')
    const days = { from: daysAgo(29), to: daysAgo(0) }
    await look('GET /api/coupons/stats', days)
    await look('GET /api/coupons/stats/tills', days)

    const { pubkey: manager } = await ask('GET /api/coupons/manager')
    const announced = bodyOf('PUT /api/coupons/discovery').event
    const { tags } = withTags(announced, { p: manager })
    const event = announcementOf(server, signer, { tags })
    expect(await send('PUT /api/coupons/discovery', { event })).toEqual({ event })
    await send('POST /nostr/fetch')
    await send('PATCH /api/shop')
    const { content, kind, tags: about } = bodyOf('POST /nostr/publish')
    await send('POST /nostr/publish', createEvent({ signer, kind, tags: about, content }))
  })

  scenario('the holder of a name gets the voucher of the example', async () => {
    const at = home()
    const { ask, signer } = await newCaller({ at, origin })
    await addAccount(at.dataDir, 'eva', signer.pubkey)
    const { coupon } = await ask('POST /api/coupons', { body: bodyOf('POST /api/coupons') })
    const { coupon: benefit } = JSON.parse(bodyOf('POST /api/lud16/{name}/cb').voucher.content)
    const path = `/api/coupons/${coupon.id}`
    await ask('PATCH /api/coupons/{id}', { path, body: { benefit, image: null } })
    const minting = 'POST /api/coupons/mint'
    const { nonce, voucher } = await ask(minting, { body: { couponId: coupon.id } })
    const taking = 'POST /api/lud16/{name}/cb'
    const offer = bodyOf(taking, { nonce, voucher })
    await ask(taking, { path: '/api/lud16/eva/cb', body: offer })
    await ask('GET /api/wallet/vouchers')
  })
}

function daysAgo(days: number): string {
  return new Date((secondsNow() - days * 86_400) * 1000).toISOString().slice(0, 10)
}
