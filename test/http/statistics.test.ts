import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  call,
  createDefinition,
  type Json,
  mintOne,
  newKey,
  newSigner,
  openSession,
} from '../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../support/clock.ts'
import { databaseOf } from '../support/database.ts'
import { refuses } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
})
afterAll(cleanUp)

const day = (text: string) => Date.parse(`${text}Z`) / 3_600_000

async function merchant() {
  const token = await openSession(server.url, newSigner())
  const ask = (path: string) => call(server.url, `/api/coupons/${path}`, { token })
  const stats = async (query = '') => (await ask(`stats${query}`)).json as Json
  return {
    token,
    ask,
    stats,
    define: (fields: Json = {}) => createDefinition(server.url, token, fields),
  }
}

/** Count as if it had been in that hour. */
async function writeHours(
  couponId: string,
  rows: [hour: number, minted: number, claimed: number][],
) {
  const database = databaseOf(server.dataDir)
  const [found] = await database.all<{ id: number }>(
    'SELECT id FROM definitions WHERE uuid = ?',
    couponId,
  )
  const id = found?.id ?? 0
  const counts = rows.map(([hour, minted, claimed]) => ({
    keys: [id, hour],
    by: { minted, claimed },
  }))
  await database.count('hourly', counts)
}

const refresh = async (nonce: string) => {
  const headers = { 'Idempotency-Key': newKey() }
  return (await call(server.url, '/api/coupons/refresh', { body: { nonce }, headers })).json
}

describe('GET /api/coupons/stats', () => {
  test('counts mints and redemptions of today by coupon; refreshes and voids change nothing', async () => {
    const { token, ask, stats, define } = await merchant()
    const [quiet, first, second] = [await define(), await define(), await define()]
    const body = { couponId: second, count: 5 }
    await call(server.url, '/api/coupons/mint', { body, token })
    await ask(`${second}/mints`)
    const moved = await refresh((await mintOne(server.url, token, first)).nonce)
    for (const nonce of [moved.nonce, moved.nonce]) {
      await call(server.url, '/api/coupons/claim', { body: { nonce } })
    }
    await call(server.url, `/api/coupons/${second}/mints`, { method: 'DELETE', token })
    const { coupons, from, to, offset, next } = await stats()
    const none = { issued: 0, open: 0, expired: 0, claimed: 0, voided: 0 }
    expect(coupons).toEqual([
      {
        couponId: second,
        figures: { ...none, issued: 5, voided: 5 },
        days: [{ day: to, minted: 5, claimed: 0 }],
      },
      {
        couponId: first,
        figures: { ...none, issued: 1, claimed: 1 },
        days: [{ day: to, minted: 1, claimed: 1 }],
      },
      { couponId: quiet, figures: none, days: [] },
    ])
    expect([offset, next]).toEqual([-3, null])
    expect(Date.parse(to) - Date.parse(from)).toBe(29 * 86_400_000)
  })

  test('days begin at midnight of the requested offset', async () => {
    const { stats, define } = await merchant()
    const couponId = await define()
    await writeHours(couponId, [
      [day('2026-03-01T02:00'), 1, 0],
      [day('2026-03-01T03:00'), 10, 1],
      [day('2026-03-02T02:00'), 100, 10],
      [day('2026-03-02T03:00'), 1000, 100],
    ])
    const days = async (query: string) =>
      (await stats(query)).coupons.flatMap((one: Json) =>
        one.days.map((row: Json) => [row.day, row.minted, row.claimed]),
      )
    expect(await days('?from=2026-03-01&to=2026-03-01')).toEqual([['2026-03-01', 110, 11]])
    expect(await days('?from=2026-03-01&to=2026-03-02&offset=0')).toEqual([
      ['2026-03-01', 11, 1],
      ['2026-03-02', 1100, 110],
    ])
    expect(await days('?from=2026-02-28&to=2026-03-02&offset=-3')).toEqual([
      ['2026-02-28', 1, 0],
      ['2026-03-01', 110, 11],
      ['2026-03-02', 1000, 100],
    ])
    expect(await days('?from=2026-03-02&to=2026-03-02&offset=14')).toEqual([
      ['2026-03-02', 1100, 110],
    ])
  })

  test('many days come in pages of whole coupons, and each coupon once', async () => {
    const { stats, define } = await merchant()
    const coupons = [await define(), await define(), await define(), await define()]
    for (const couponId of coupons) {
      const noons = Array.from({ length: 365 }, (_, at) => day('2025-01-01T12:00') + at * 24)
      await writeHours(
        couponId,
        noons.map((hour) => [hour, 1, 0]),
      )
    }
    const range = '?from=2025-01-01&to=2025-12-31'
    const first = await stats(range)
    const second = await stats(`${range}&cursor=${first.next}`)
    const seen = [first, second].map((page) => page.coupons.map((one: Json) => one.couponId))
    expect(seen).toEqual([coupons.toReversed().slice(0, 3), coupons.slice(0, 1)])
    expect(second.next).toBeNull()
    expect(second.coupons[0].days).toHaveLength(365)
  })

  test('the figures of a coupon add up at every moment', async () => {
    const { token, stats, define } = await merchant()
    const expiresAt = secondsNow() + briefSeconds
    const couponId = await define({ expiresAt })
    const figures = async () => {
      const { couponId: id, figures: found } = (await stats('?from=2026-01-01&to=2026-01-01'))
        .coupons[0]
      expect(id).toBe(couponId)
      const { issued, ...parts } = found
      expect(Object.values(parts).reduce((sum: number, one) => sum + Number(one), 0)).toBe(issued)
      return parts
    }
    const mint = async () => (await mintOne(server.url, token, couponId)).nonce as string
    const remove = (name = '') =>
      call(server.url, `/api/coupons/${couponId}/mints${name}`, { method: 'DELETE', token })
    const [claimed, voided, moved] = [await mint(), await mint(), await mint()]
    await call(server.url, '/api/coupons/claim', { body: { nonce: claimed } })
    await remove(`/${voided}`)
    await refresh(moved)
    expect(await figures()).toEqual({ open: 1, expired: 0, claimed: 1, voided: 1 })
    await untilSecond(expiresAt)
    expect(await figures()).toEqual({ open: 0, expired: 1, claimed: 1, voided: 1 })
    const later = { method: 'PATCH', body: { expiresAt: null }, token }
    await call(server.url, `/api/coupons/${couponId}`, later)
    await mint()
    expect(await figures()).toEqual({ open: 1, expired: 1, claimed: 1, voided: 1 })
    await remove()
    expect(await figures()).toEqual({ open: 0, expired: 0, claimed: 1, voided: 3 })
  })

  test('another merchant sees none of it', async () => {
    const { token, define } = await merchant()
    await mintOne(server.url, token, await define())
    expect((await (await merchant()).stats()).coupons).toEqual([])
  })

  const wrong: [query: string, field: string | undefined][] = [
    ['from=2026-2-1', 'from'],
    ['from=2026-02-29', 'from'],
    ['from=1999-01-01', 'from'],
    ['to=today', 'to'],
    ['from=2026-03-02&to=2026-03-01', 'from'],
    ['from=2025-01-01&to=2026-01-02', 'from'],
    ['offset=15', 'offset'],
    ['offset=-13', 'offset'],
    ['offset=%2B3', 'offset'],
    ['offset=5.5', 'offset'],
    ['offset=15&from=x', 'offset'],
    ['cursor=x', undefined],
  ]
  for (const [query, field] of wrong) {
    test(`?${query} is refused`, async () => {
      const { ask } = await merchant()
      const code = field === undefined ? 'page-invalid' : 'field-invalid'
      const expected = field === undefined ? {} : { field }
      await refuses(server, () => ask(`stats?${query}`), 400, code, expected)
    })
  }
})

test('GET /api/coupons/{id}/mints?refreshed=0 leaves refreshed vouchers out, page by page', async () => {
  const { token, ask, define } = await merchant()
  const couponId = await define()
  for (let moved = 0; moved < 3; moved++) {
    await refresh((await mintOne(server.url, token, couponId)).nonce)
    await mintOne(server.url, token, couponId)
  }
  const all = (await ask(`${couponId}/mints?refreshed=1`)).json.mints as Json[]
  const left = all.filter(({ status }) => status !== 'refreshed')
  expect([all.length, left.length]).toEqual([9, 6])
  const whole = (await ask(`${couponId}/mints?refreshed=0`)).json
  expect(whole).toEqual({ mints: left, next: null })
  const shown: Json[] = []
  for (let cursor = ''; ; ) {
    const { json } = await ask(`${couponId}/mints?refreshed=0&limit=2${cursor}`)
    shown.push(...json.mints)
    if (json.next === null) break
    cursor = `&cursor=${json.next}`
  }
  expect(shown).toEqual(left)
  const wrong = () => ask(`${couponId}/mints?refreshed=2`)
  await refuses(server, wrong, 400, 'field-invalid', { field: 'refreshed' })
})

describe('GET /api/coupons/{id}/mints?chain=', () => {
  test('lists the chain of one voucher, oldest first, from any handle in it, in pages', async () => {
    const { token, ask, define } = await merchant()
    const couponId = await define()
    await mintOne(server.url, token, couponId)
    let { nonce } = await mintOne(server.url, token, couponId)
    for (let moves = 0; moves < 4; moves++) {
      nonce = (await refresh(nonce)).nonce
      await mintOne(server.url, token, couponId)
    }
    await call(server.url, '/api/coupons/claim', { body: { nonce } })
    const all = (await ask(`${couponId}/mints?limit=500`)).json.mints as Json[]
    const chain = all.filter((row) => row.status === 'refreshed' || row.status === 'claimed')
    const expected = chain.toReversed()
    expect(expected.map((row) => row.status)).toEqual([...Array(4).fill('refreshed'), 'claimed'])
    for (const { handle } of expected) {
      const { json } = await ask(`${couponId}/mints?chain=${handle}`)
      expect(json).toEqual({ mints: expected, next: null })
    }
    const handle = expected[2]?.handle
    const pages: Json[] = []
    for (let cursor = ''; ; ) {
      const { json } = await ask(`${couponId}/mints?chain=${handle}&limit=2${cursor}`)
      pages.push(json.mints)
      if (json.next === null) break
      cursor = `&cursor=${json.next}`
    }
    expect(pages).toEqual([expected.slice(0, 2), expected.slice(2, 4), expected.slice(4)])
  })

  test('a cursor of another chain shows no row of that one', async () => {
    const { token, ask, define } = await merchant()
    const couponId = await define()
    const { nonce } = await mintOne(server.url, token, couponId)
    await refresh(nonce)
    const alone = await mintOne(server.url, token, couponId)
    await refresh(alone.nonce)
    const rows = (await ask(`${couponId}/mints`)).json.mints as Json[]
    const [, second, , first] = rows.map(({ handle }) => handle)
    const { next } = (await ask(`${couponId}/mints?chain=${second}&limit=1`)).json
    const { json } = await ask(`${couponId}/mints?chain=${first}&limit=1&cursor=${next}`)
    expect(json).toEqual({ mints: [], next: null })
  })

  test('every refusal, in their order, leaves every row as it was', async () => {
    const { token, ask, define } = await merchant()
    const [couponId, other] = [await define(), await define()]
    const { nonce } = await mintOne(server.url, token, couponId)
    const { handle } = (await ask(`${couponId}/mints`)).json.mints[0]
    const none = crypto.randomUUID()
    const rows: [path: string, status: number, code: string, field?: string][] = [
      [`${none}/mints?chain=x&limit=0`, 400, 'field-invalid', 'chain'],
      [`${none}/mints?chain=${handle}&limit=0`, 400, 'page-invalid'],
      [`${none}/mints?chain=${handle}`, 404, 'coupon-unknown'],
      [`${other}/mints?chain=${handle}`, 404, 'voucher-unknown'],
      // A nonce is no handle: it has no business in an address.
      [`${couponId}/mints?chain=${nonce}`, 404, 'voucher-unknown'],
    ]
    for (const [path, status, code, field] of rows) {
      await refuses(server, () => ask(path), status, code, field ? { field } : {})
    }
    const stranger = await merchant()
    const asStranger = () => stranger.ask(`${couponId}/mints?chain=${handle}`)
    await refuses(server, asStranger, 404, 'coupon-unknown')
  })
})
