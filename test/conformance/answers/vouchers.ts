import { expect } from 'bun:test'
import { limits } from '../../../src/base/limits.ts'
import {
  createDefinition,
  type Json,
  mintOne,
  newSigner,
  percentBenefit,
  withKey,
} from '../../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../../support/clock.ts'
import { damage, databaseOf } from '../../support/database.ts'
import type { Caller, Documented } from '../../support/documented.ts'

const minting = 'POST /api/coupons/mint'
const claiming = 'POST /api/coupons/claim'
const refreshing = 'POST /api/coupons/refresh'
const previewing = 'POST /api/coupons/preview'
const voiding = 'DELETE /api/coupons/{id}/mints/{handle}'
const listing = 'GET /api/coupons/{id}/mints'
const batches = 'GET /api/coupons/{id}/batches'
const batchVoiding = 'DELETE /api/coupons/{id}/batches/{batch}'

/** A merchant with a definition. */
async function withCoupon({ newCaller }: Documented, fields: Json = {}) {
  const caller = await newCaller()
  const { server, token } = caller
  const couponId = await createDefinition(server.url, token, fields)
  const mint = async (): Promise<string> => (await mintOne(server.url, token, couponId)).nonce
  return { ...caller, couponId, mint, mints: `/api/coupons/${couponId}/mints` }
}

/** A merchant's work with vouchers: issue, list, count, void. */
export function testIssuing(service: Documented): void {
  const { scenario } = service

  scenario('vouchers are minted, one or several', async () => {
    const { ask, refused, couponId } = await withCoupon(service, { maxUses: 6 })
    const key = withKey()
    await ask(minting, { body: { couponId } })
    await ask(minting, { body: { couponId, count: 3 }, ...key })
    await refused(minting, 'idempotency-key-reused', { body: { couponId }, ...key })
    await refused(minting, 'coupon-exhausted', { body: { couponId, count: 3 } })
    await ask('GET /api/coupons/mintable')
  })

  scenario('vouchers of a batch are issued, counted and voided', async () => {
    const { ask, refused, couponId, server } = await withCoupon(service)
    const { batch } = await ask(minting, {
      body: { couponId, count: 2, batch: { name: 'Feria' }, labels: ['Ana', null] },
    })
    const path = `/api/coupons/${couponId}/batches`
    const none = { path: `/api/coupons/${crypto.randomUUID()}/batches` }
    await ask(batches, { path })
    await refused(batches, 'page-invalid', { path: `${path}?limit=0` })
    await refused(batches, 'coupon-unknown', none)
    await ask(batchVoiding, { path: `${path}/${batch.id}` })
    await refused(batchVoiding, 'batch-unknown', { path: `${path}/none` })
    await refused(batchVoiding, 'coupon-unknown', { path: `${none.path}/${batch.id}` })
    // As if a thousand had been issued.
    await damage(server.dataDir, 'UPDATE batches SET issued = 1000')
    await refused(minting, 'batch-full', { body: { couponId, batch: { id: batch.id } } })
    await databaseOf(server.dataDir).runEach(
      `INSERT INTO batches (uuid, definition_id, name, created_at)
       SELECT ?, max(id), 'x', 1 FROM definitions`,
      Array.from({ length: 1000 }, () => [crypto.randomUUID()]),
    )
    await refused(minting, 'batches-full', { body: { couponId, batch: { name: 'Otra' } } })
    await refused(minting, 'batch-unknown', { body: { couponId, batch: { id: 'none' } } })
  })

  scenario('a mint that makes no sense, or is not theirs', async () => {
    const { refused, couponId } = await withCoupon(service)
    await refused(minting, 'idempotency-key-invalid', { body: { couponId }, ...withKey('x') })
    await refused(minting, 'field-invalid', { body: { couponId: 'x' } })
    await refused(minting, 'field-invalid', { body: { couponId, count: 501 } })
    await refused(minting, 'body-invalid', { body: '"x"' })
    await refused(minting, 'mint-not-allowed', { body: { couponId }, signer: newSigner() })
    await refused(minting, 'coupon-unknown', { body: { couponId: crypto.randomUUID() } })
  })

  scenario('a mint of a definition that is over', async () => {
    const { ask, refused, couponId, mint } = await withCoupon(service)
    await mint()
    await ask('DELETE /api/coupons/{id}', { path: `/api/coupons/${couponId}` })
    await refused(minting, 'coupon-archived', { body: { couponId } })
    const edit = { path: `/api/coupons/${couponId}`, body: { archived: false, expiresAt: 1 } }
    await ask('PATCH /api/coupons/{id}', edit)
    await refused(minting, 'coupon-expired', { body: { couponId } })
  })

  scenario('the list of vouchers, page by page', async () => {
    const { ask, refused, mint, mints } = await withCoupon(service)
    for (let times = 0; times < 4; times++) await mint()
    const page = await ask(listing, { path: `${mints}?limit=2` })
    await ask(listing, { path: `${mints}?limit=2&cursor=${page.next}` })
    for (const query of ['limit=0', 'limit=501', 'limit=x', 'limit=', 'cursor=!', 'cursor=']) {
      await refused(listing, 'page-invalid', { path: `${mints}?${query}` })
    }
    await refused(listing, 'coupon-unknown', { path: '/api/coupons/none/mints' })
    // Given twice: whatever the server makes of it, it must be in the document.
    await ask(listing, { path: `${mints}?limit=1&limit=2` })
  })

  scenario('the hands that a voucher went through', async () => {
    const { ask, refused, mint, mints } = await withCoupon(service)
    await mint()
    const [{ handle }] = (await ask(listing, { path: mints })).mints
    await ask(listing, { path: `${mints}?chain=${handle}` })
    await refused(listing, 'field-invalid', { path: `${mints}?chain=x` })
    await refused(listing, 'voucher-unknown', { path: `${mints}?chain=${'A'.repeat(22)}` })
  })

  scenario('the counts by day', async () => {
    const { ask, refused, mint } = await withCoupon(service)
    await mint()
    const stats = 'GET /api/coupons/stats'
    expect((await ask(stats)).coupons).toHaveLength(1)
    await ask(stats, { path: '/api/coupons/stats?from=2026-01-01&to=2026-01-31&offset=0' })
    await refused(stats, 'field-invalid', { path: '/api/coupons/stats?from=x' })
    await refused(stats, 'page-invalid', { path: '/api/coupons/stats?cursor=x' })
  })

  scenario('the counts by till', async () => {
    const { ask, refused, mint } = await withCoupon(service)
    await ask('POST /api/coupons/claim', { body: { nonce: await mint() } })
    await ask('GET /api/coupons/authorizations')
    const tills = 'GET /api/coupons/stats/tills'
    expect((await ask(tills)).tills).toHaveLength(1)
    await refused(tills, 'field-invalid', { path: '/api/coupons/stats/tills?from=x' })
    await refused(tills, 'page-invalid', { path: '/api/coupons/stats/tills?cursor=x' })
  })

  scenario('a redemption at a till that the merchant did not authorise', async () => {
    const { ask, refused, mint } = await withCoupon(service)
    await ask('PATCH /api/shop', { body: { onlyAuthorizedTills: true } })
    const body = { nonce: await mint() }
    await refused('POST /api/coupons/claim', 'till-not-allowed', { body, token: '' })
  })

  scenario('a voucher is voided by its nonce', async () => {
    const { ask, refused, mint, mints } = await withCoupon(service)
    const nonce = await mint()
    const path = `${mints}/${nonce}`
    await ask(voiding, { path })
    await refused(voiding, 'voucher-voided', { path })
    await refused(voiding, 'voucher-unknown', { path: `${mints}/none` })
    await refused(voiding, 'coupon-unknown', { path: `/api/coupons/none/mints/${nonce}` })
    await refused(voiding, 'field-invalid', { path: `${path}?chain=2` })
  })

  scenario('a voucher that moved on or was redeemed is not voided', async () => {
    const { ask, refused, mint, mints } = await withCoupon(service)
    const [claimed, moved] = [await mint(), await mint()]
    await ask(claiming, { body: { nonce: claimed } })
    await refused(voiding, 'voucher-claimed', { path: `${mints}/${claimed}` })
    await ask(refreshing, { body: { nonce: moved }, ...withKey() })
    await refused(voiding, 'voucher-refreshed', { path: `${mints}/${moved}` })
    await ask(voiding, { path: `${mints}/${moved}?chain=1` })
    await ask(listing, { path: mints })
  })

  scenario('all open vouchers are voided at once', async () => {
    const { ask, refused, mint, mints } = await withCoupon(service)
    const nonce = await mint()
    const all = 'DELETE /api/coupons/{id}/mints'
    expect(await ask(all, { path: mints })).toEqual({ voided: 1 })
    await refused(all, 'coupon-unknown', { path: '/api/coupons/none/mints' })
    await refused(claiming, 'voucher-cancelled', { body: { nonce } })
    await refused(refreshing, 'voucher-cancelled', { body: { nonce }, ...withKey() })
  })
}

/** The uses of a nonce: look, refresh, claim. */
export function testHolding(service: Documented): void {
  const { scenario, newCaller } = service

  async function look({ ask }: Caller, nonce: string): Promise<string> {
    const preview = await ask(previewing, { body: { nonce } })
    const { status } = await ask('GET /api/coupons/claim', {
      path: `/api/coupons/claim?nonce=${nonce}`,
    })
    expect(preview.status).toBe(status)
    return status
  }

  scenario('a voucher changes hands', async () => {
    const holder = await withCoupon(service)
    const { ask, refused } = holder
    const nonce = await holder.mint()
    expect(await look(holder, nonce)).toBe('minted')
    const key = withKey()
    await ask(refreshing, { body: { nonce }, ...key })
    await ask(refreshing, { body: { nonce }, ...key })
    expect(await look(holder, nonce)).toBe('refreshed')
    await refused(refreshing, 'voucher-refreshed', { body: { nonce }, ...withKey() })
    await refused(refreshing, 'idempotency-key-invalid', { body: { nonce } })
    await refused(claiming, 'voucher-moved', { body: { nonce } })
  })

  scenario('a voucher is redeemed with its order', async () => {
    const holder = await withCoupon(service)
    const { ask, refused, signer, couponId } = holder
    const nonce = await holder.mint()
    const zapRequest = newSigner().sign({
      kind: 9734,
      created_at: 1_700_000_000,
      tags: [['coupon', couponId]],
      content: '',
    })
    const key = withKey()
    const body = { nonce, owner: signer.pubkey, zapRequest, amountMsat: 21_000 }
    await refused(claiming, 'other-merchant', { body: { nonce, owner: newSigner().pubkey } })
    expect((await ask(claiming, { body, ...key })).status).toBe('success')
    await ask(claiming, { body, ...key })
    expect((await ask(claiming, { body: { nonce } })).status).toBe('claimed')
    expect(await look(holder, nonce)).toBe('claimed')
    await refused(claiming, 'idempotency-key-reused', { body: { nonce }, ...key })
    await refused(claiming, 'idempotency-key-invalid', { body, ...withKey('ñ') })
    await refused(refreshing, 'voucher-claimed', { body: { nonce }, ...withKey() })

    const books = 'GET /api/coupons/redemptions'
    await ask(books)
    const { redemptions } = await ask(books, { path: '/api/coupons/redemptions?limit=1' })
    expect(redemptions[0].order).toEqual(zapRequest)
    await refused(books, 'page-invalid', { path: '/api/coupons/redemptions?limit=0' })
    await ask('GET /api/coupons')
  })

  scenario('a voucher with rules is redeemed when they allow it', async () => {
    const minimum = { amount: 100, currency: 'ARS' }
    const holder = await withCoupon(service, { rules: { minimum, conditions: 'En efectivo' } })
    const { ask, refused, couponId } = holder
    const nonce = await holder.mint()
    expect(await look(holder, nonce)).toBe('minted')
    const little = { ...minimum, amount: 99 }
    await refused(claiming, 'minimum-not-met', { body: { nonce, purchase: little } })
    await refused(claiming, 'field-invalid', { body: { nonce, purchase: 'x' } })
    await ask('GET /api/coupons/mintable')
    expect((await ask(claiming, { body: { nonce, purchase: minimum } })).status).toBe('success')
    const path = `/api/coupons/${couponId}`
    const later = { rules: { startsAt: secondsNow() + 1000 } }
    await ask('PATCH /api/coupons/{id}', { path, body: later })
    await refused(claiming, 'not-now', { body: { nonce: await holder.mint() } })
  })

  for (const route of [claiming, refreshing, previewing]) {
    scenario(`${route} with a nonce that cannot be`, async () => {
      const { refused } = await newCaller()
      const key = withKey()
      await refused(route, 'voucher-unknown', { body: { nonce: 'A'.repeat(22) }, ...key })
      await refused(route, 'nonce-invalid', { body: { nonce: 'short' }, ...key })
      await refused(route, 'field-invalid', { body: { nonce: 5 }, ...key })
      await refused(route, 'field-invalid', { body: {}, ...key })
      await refused(route, 'body-invalid', { body: '[1]', ...key })
      await refused(route, 'too-large', { body: `{"nonce":"${'x'.repeat(17_000)}"}`, ...key })
    })
  }

  scenario('GET /api/coupons/claim with a nonce that cannot be', async () => {
    const { refused } = await newCaller()
    const asked = (query: string) => ({ path: `/api/coupons/claim${query}` })
    const unknown = asked(`?nonce=${'A'.repeat(22)}`)
    await refused('GET /api/coupons/claim', 'voucher-unknown', unknown)
    await refused('GET /api/coupons/claim', 'nonce-invalid', asked('?nonce=short'))
    await refused('GET /api/coupons/claim', 'field-invalid', asked(''))
  })

  scenario('a voucher that is over', async () => {
    const expiresAt = secondsNow() + briefSeconds
    const holder = await withCoupon(service, { name: 'Breve', benefit: percentBenefit, expiresAt })
    const { refused } = holder
    const nonce = await holder.mint()
    await untilSecond(expiresAt)
    expect(await look(holder, nonce)).toBe('expired')
    await refused(claiming, 'voucher-expired', { body: { nonce } })
    await refused(refreshing, 'voucher-expired', { body: { nonce }, ...withKey() })
  })

  scenario('the live stream', async () => {
    const { refused, server, token, mint } = await withCoupon(service)
    const route = 'GET /api/coupons/live'
    const path = '/api/coupons/live'
    const headers = { Authorization: `Bearer ${token}` }
    const open = () => fetch(`${server.url}${path}`, { headers })
    const streams = await Promise.all(Array.from({ length: limits.livePerKeyMax }, open))
    const { responses } = service.operationOf('GET', '/api/coupons/live')
    for (const { status, headers } of streams) {
      const media = headers.get('content-type')?.split(';')[0] ?? ''
      expect(Object.keys(responses[status]?.content ?? {})).toEqual([media])
      service.seen.set(route, (service.seen.get(route) ?? new Set()).add(status))
    }
    await refused(route, 'live-full', { headers })
    await mint()
    let answer = ''
    for await (const part of streams[0]?.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      answer += part
      if (/^data: .*\n\n/m.test(answer)) break
    }
    service.exchanges.set(route, [
      ...(service.exchanges.get(route) ?? []),
      { path, headers, body: undefined, status: 200, answer, answered: new Headers() },
    ])
    await Promise.all(streams.slice(1).map((stream) => stream.body?.cancel()))
  })
}
