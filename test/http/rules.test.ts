import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Rules } from '../../src/coupons/rules.ts'
import {
  call,
  createDefinition,
  type Json,
  mintOne,
  newKey,
  newSigner,
  openSession,
  percentBenefit,
  verifyEvent,
  withKey,
} from '../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../support/clock.ts'
import { refuses } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const signer = newSigner()
let server: TestServer
let token: string

beforeAll(async () => {
  server = await startServer({ checkRoots: true, env: { RATE_LIMIT: 'off' } })
  token = await openSession(server.url, signer)
})

afterAll(cleanUp)

const always = { days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', to: '00:00' }
const minimum = { amount: 10_000, currency: 'ARS' } as const
const rules: Rules = {
  startsAt: 1_700_000_000,
  times: { timeZone: 'America/Argentina/Buenos_Aires', windows: [always] },
  minimum,
  conditions: 'Sólo en efectivo.\nUno por persona.',
}

const create = (fields: Json) => {
  const body = { name: 'Café', benefit: percentBenefit, ...fields }
  return call(server.url, '/api/coupons', { body, token })
}
const issue = async (fields: Json) =>
  mintOne(server.url, token, await createDefinition(server.url, token, fields))
const claim = (of: string, fields: Json = {}, key: string | null = null) =>
  call(server.url, '/api/coupons/claim', {
    body: { nonce: of, ...fields },
    ...(key === null ? {} : withKey(key)),
  })
const preview = (nonce: string) => call(server.url, '/api/coupons/preview', { body: { nonce } })
const refresh = (nonce: string) =>
  call(server.url, '/api/coupons/refresh', { body: { nonce }, ...withKey() })
const edit = (id: string, body: Json) =>
  call(server.url, `/api/coupons/${id}`, { method: 'PATCH', body, token })
/** Days of the week that are neither today nor a neighbour, in any zone. */
const otherDays = () => {
  const today = new Date().getUTCDay() || 7
  return [3, 4, 5].map((later) => ((today + later - 1) % 7) + 1)
}
const closed = () => ({
  times: { timeZone: 'UTC', windows: [{ ...always, days: otherDays() }] },
})

describe('a coupon with rules', () => {
  test('shows them in every answer about it and inside of its signed voucher', async () => {
    const made = await create({ rules: { ...rules, unknown: 1 } })
    expect({ status: made.status, rules: made.json.coupon.rules }).toEqual({ status: 201, rules })
    const { id } = made.json.coupon
    const overview = await call(server.url, '/api/coupons', { token })
    expect(overview.json.coupons[0]).toEqual(made.json.coupon)
    const mintable = await call(server.url, '/api/coupons/mintable', { token })
    expect(mintable.json.coupons[0]).toMatchObject({ id, rules })
    const minted = await mintOne(server.url, token, id)
    expect(minted.rules).toEqual(rules)
    expect((await preview(minted.nonce)).json.rules).toEqual(rules)
    const refreshed = (await refresh(minted.nonce)).json
    expect(refreshed.rules).toEqual(rules)
    const claimed = (await claim(refreshed.nonce)).json
    expect(claimed).toMatchObject({ status: 'success', rules })
    for (const { voucher } of [minted, refreshed, claimed]) {
      expect(verifyEvent(voucher)).toBe(true)
      expect(JSON.parse(voucher.content).rules).toEqual(rules)
    }
    const again = (await claim(refreshed.nonce)).json
    expect(again.voucher.id).toBe(claimed.voucher.id)
  })

  test('keeps those that it was issued with', async () => {
    const { id } = (await create({ rules })).json.coupon
    const { nonce } = await mintOne(server.url, token, id)
    const changed = await edit(id, { rules: { minimum } })
    expect(changed.json.coupon.rules).toEqual({ minimum })
    expect((await edit(id, { name: 'Té' })).json.coupon.rules).toEqual({ minimum })
    expect(Object.keys((await edit(id, { rules: null })).json.coupon)).not.toContain('rules')
    expect((await refresh(nonce)).json.rules).toEqual(rules)
    expect(Object.keys(await mintOne(server.url, token, id))).not.toContain('rules')
  })

  test('is refused with rules that make no sense, and changes nothing', async () => {
    const { id } = (await create({ rules })).json.coupon
    const expiresAt = secondsNow() + 1000
    const bad: [Json, string][] = [
      [{ rules: 'x' }, 'rules'],
      [{ rules: [] }, 'rules'],
      [{ rules: { times: { timeZone: 'Nope/Zone', windows: [always] } } }, 'rules.times.timeZone'],
      [{ rules: { startsAt: { toString: 1 } } }, 'rules.startsAt'],
      [{ rules: { startsAt: expiresAt }, expiresAt }, 'rules.startsAt'],
    ]
    for (const [fields, field] of bad) {
      await refuses(server, () => create(fields), 400, 'field-invalid', { field })
      await refuses(server, () => edit(id, fields), 400, 'field-invalid', { field })
    }
    const early = { expiresAt: 1_600_000_000 }
    await refuses(server, () => edit(id, early), 400, 'field-invalid', { field: 'expiresAt' })
    expect((await edit(id, { ...early, rules: null })).status).toBe(200)
  })

  test('says nothing about rules when it has none, byte for byte', async () => {
    for (const none of [undefined, null, {}, { startsAt: null, conditions: '' }]) {
      const made = await create({ rules: none })
      const { coupon } = made.json
      const { id, createdAt, updatedAt } = coupon
      expect(made.text).toBe(
        `{"coupon":{"id":"${id}","name":"Café","description":"","image":null,` +
          '"benefit":{"type":"percent","percent":10},"maxUses":null,"minted":0,"claimed":0,' +
          `"expiresAt":null,"archivedAt":null,"createdAt":${createdAt},"updatedAt":${updatedAt}}}`,
      )
      const minted = await mintOne(server.url, token, id)
      const { nonce, npub, voucher } = minted
      expect(voucher.content).toBe(
        `{"v":1,"nonce":"${nonce}","owner":"${signer.pubkey}","name":"Café","description":"",` +
          '"coupon":{"type":"percent","percent":10},"phase":"minted"}',
      )
      const terms =
        `"couponId":"${id}","coupon":{"type":"percent","percent":10},"name":"Café",` +
        `"description":"","npub":"${npub}","image":null,"nonce":"${nonce}","expiresAt":null`
      const shown = await preview(nonce)
      expect(shown.text).toBe(`{"status":"minted",${terms},"claimedAt":null}`)
      const claimed = await claim(nonce, { purchase: { amount: 1, currency: 'ARS' } })
      const { claimedAt, voucher: event } = claimed.json
      expect(claimed.text).toBe(
        `{"status":"success","claimedAt":${claimedAt},${terms},"voucher":${JSON.stringify(event)}}`,
      )
      expect(JSON.parse(event.content)).not.toHaveProperty('rules')
    }
  })
})

describe('the claim of a coupon with rules', () => {
  test('waits for the start, and says how long', async () => {
    const startsAt = secondsNow() + briefSeconds
    const { nonce } = await issue({ rules: { startsAt } })
    const key = newKey()
    const early = () => claim(nonce, {}, key)
    const refused = await refuses(server, early, 409, 'not-now', { retry: true })
    const { retryAfter } = refused.json
    expect(refused.headers.get('retry-after')).toBe(String(retryAfter))
    expect(retryAfter).toBeGreaterThan(0)
    expect(retryAfter).toBeLessThanOrEqual(briefSeconds)
    expect((await preview(nonce)).json.status).toBe('minted')
    await untilSecond(startsAt)
    // The same key, because a refusal is never kept.
    const claimed = await claim(nonce, {}, key)
    expect(claimed.json.status).toBe('success')
    expect((await claim(nonce, {}, key)).text).toBe(claimed.text)
  })

  test('is refused outside of its hours, without a wait when it expires before them', async () => {
    const { nonce } = await issue({ rules: closed() })
    const refused = await refuses(server, () => claim(nonce), 409, 'not-now', { retry: true })
    expect(refused.json.retryAfter).toBeGreaterThan(86_400)
    const brief = await issue({ rules: closed(), expiresAt: secondsNow() + 3600 })
    await refuses(server, () => claim(brief.nonce), 409, 'not-now')
    // A swap is allowed at any time.
    expect((await refresh(nonce)).status).toBe(201)
  })

  test('checks a purchase that the till names, and no other', async () => {
    const { nonce } = await issue({ rules: { minimum } })
    const buy = (amount: number, currency: string) => () =>
      claim(nonce, { purchase: { amount, currency } })
    await refuses(server, buy(9999.99, 'ARS'), 409, 'minimum-not-met')
    await refuses(server, buy(10_000, 'USD'), 409, 'minimum-not-met')
    expect((await buy(10_000, 'ARS')()).json.status).toBe('success')
    const silent = await issue({ rules: { minimum } })
    expect((await claim(silent.nonce, { purchase: null })).json.status).toBe('success')
    const listed = await call(server.url, '/api/coupons/redemptions?limit=2', { token })
    const purchases = listed.json.redemptions.map((one: Json) => one.purchase)
    expect(purchases).toEqual([undefined, { amount: 10_000, currency: 'ARS' }])
  })

  const malformed: [unknown, string][] = [
    [5, 'purchase'],
    ['10000', 'purchase'],
    [[], 'purchase'],
    [{}, 'purchase.currency'],
    [{ amount: 1, currency: { toString: 1 } }, 'purchase.currency'],
    [{ amount: -1, currency: 'ARS' }, 'purchase.amount'],
    [{ amount: 0.001, currency: 'ARS' }, 'purchase.amount'],
    [{ amount: '1', currency: 'ARS' }, 'purchase.amount'],
  ]
  test('refuses a malformed purchase before anything else', async () => {
    const { nonce } = await issue({})
    for (const [purchase, field] of malformed) {
      for (const of of [nonce, 'A'.repeat(22)]) {
        await refuses(server, () => claim(of, { purchase }), 400, 'field-invalid', { field })
      }
    }
  })

  test('is refused for any older reason first', async () => {
    const couponId = await createDefinition(server.url, token, {
      rules: { ...closed(), minimum },
    })
    const { nonce } = await mintOne(server.url, token, couponId)
    const purchase = { amount: 1, currency: 'ARS' }
    const owner = newSigner().pubkey
    await refuses(server, () => claim(nonce, { owner, purchase }), 409, 'other-merchant')
    await refuses(server, () => claim(nonce, { purchase }), 409, 'not-now', { retry: true })
    await refresh(nonce)
    await refuses(server, () => claim(nonce, { purchase }), 410, 'voucher-moved')
    const other = await mintOne(server.url, token, couponId)
    await call(server.url, `/api/coupons/${couponId}/mints/${other.nonce}`, {
      method: 'DELETE',
      token,
    })
    await refuses(server, () => claim(other.nonce, { purchase }), 410, 'voucher-cancelled')
    const expiresAt = secondsNow() + briefSeconds
    const brief = await issue({ rules: { ...closed(), minimum }, expiresAt })
    await untilSecond(expiresAt)
    await refuses(server, () => claim(brief.nonce, { purchase }), 410, 'voucher-expired')
  })

  test('answers a repeat with the first time, whatever its purchase', async () => {
    const { nonce } = await issue({ rules: { minimum } })
    const { claimedAt } = (await claim(nonce)).json
    const again = await claim(nonce, { purchase: { amount: 1, currency: 'ARS' } })
    expect(again.json).toMatchObject({ status: 'claimed', claimedAt })
  })
})
