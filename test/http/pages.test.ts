import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  call,
  createDefinition,
  type Json,
  mintOne,
  newSigner,
  openSession,
} from '../support/client.ts'
import { refuses } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const vouchers = 612
let server: TestServer
let token: string
let couponId: string

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
  token = await openSession(server.url, newSigner())
  couponId = await createDefinition(server.url, token)
  const nonces: string[] = []
  for (const count of [500, vouchers - 500]) {
    const { json } = await call(server.url, '/api/coupons/mint', {
      body: { couponId, count },
      token,
    })
    nonces.push(...json.vouchers.map((one: Json) => one.nonce))
  }
  await Promise.all(nonces.map((nonce) => claim(nonce)))
})

afterAll(cleanUp)

const claim = (nonce: string) => call(server.url, '/api/coupons/claim', { body: { nonce } })

const lists = [
  {
    name: 'GET /api/coupons/{id}/mints',
    path: () => `/api/coupons/${couponId}/mints`,
    field: 'mints',
  },
  {
    name: 'GET /api/coupons/redemptions',
    path: () => '/api/coupons/redemptions',
    field: 'redemptions',
  },
]

for (const { name, path, field } of lists) {
  const page = async (query: string) => {
    const { status, json } = await call(server.url, `${path()}${query}`, { token })
    return { status, rows: json[field] as Json[], next: json.next as string | null }
  }

  describe(name, () => {
    for (const [query, length] of [
      ['', 100],
      ['?limit=1', 1],
      ['?limit=500', 500],
      ['?x=1&limit=7', 7],
    ] as const) {
      test(`${query || 'no limit'} gives ${length} rows and a cursor`, async () => {
        const { status, rows, next } = await page(query)
        expect({ status, length: rows.length }).toEqual({ status: 200, length })
        expect(next).toBeString()
      })
    }

    for (const limit of [
      '0',
      '501',
      '-1',
      'abc',
      '',
      '1.5',
      '1e2',
      '0x10',
      ' 5',
      '+5',
      '99999999999999999999',
      '١',
    ]) {
      test(`refuses the limit "${limit}"`, async () => {
        const query = `?limit=${encodeURIComponent(limit)}`
        await refuses(
          server,
          () => call(server.url, path() + query, { token }),
          400,
          'page-invalid',
        )
      })
    }

    for (const cursor of ['', 'x', '!', '0', 'MTA=', 'LTE', 'MS41', 'MDE', 'A'.repeat(5000)]) {
      test(`refuses the cursor "${cursor.slice(0, 10)}"`, async () => {
        const query = `?cursor=${encodeURIComponent(cursor)}`
        await refuses(
          server,
          () => call(server.url, path() + query, { token }),
          400,
          'page-invalid',
        )
      })
    }

    test('refuses the cursor of another page after any change to it', async () => {
      const { next } = await page('?limit=10')
      for (const cursor of [`${next}=`, `${next} `, `${next}A`]) {
        const query = `?cursor=${encodeURIComponent(cursor)}`
        await refuses(
          server,
          () => call(server.url, path() + query, { token }),
          400,
          'page-invalid',
        )
      }
    })

    test('pages follow without gap or repetition, newest first, while new rows arrive', async () => {
      const whole: Json[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: string = cursor === '' ? '?limit=500' : `?limit=500&cursor=${cursor}`
        const { rows, next } = await page(query)
        whole.push(...rows)
        cursor = next
      }
      const walked: Json[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: string = cursor === '' ? '?limit=97' : `?limit=97&cursor=${cursor}`
        const { rows, next } = await page(query)
        walked.push(...rows)
        cursor = next
        // Newer rows are on none of the following pages.
        await claim((await mintOne(server.url, token, couponId)).nonce)
      }
      expect(walked.length).toBeGreaterThanOrEqual(vouchers)
      expect(walked.map(({ handle }) => handle)).toEqual(whole.map(({ handle }) => handle))
      expect(new Set(walked.map(({ handle }) => handle)).size).toBe(walked.length)
    })

    test('the last page has no next, also when it is exactly full', async () => {
      const { rows } = await page('?limit=500')
      expect(rows).toHaveLength(500)
      const own = await openSession(server.url, newSigner())
      const id = await createDefinition(server.url, own)
      const { json } = await call(server.url, '/api/coupons/mint', {
        body: { couponId: id, count: 3 },
        token: own,
      })
      for (const { nonce } of json.vouchers) await claim(nonce)
      const mine = field === 'mints' ? `/api/coupons/${id}/mints` : path()
      const ask = async (query: string) =>
        (await call(server.url, mine + query, { token: own })).json
      expect((await ask('?limit=3')).next).toBeNull()
      const { next } = await ask('?limit=2')
      const rest = await ask(`?limit=2&cursor=${next}`)
      expect({ length: rest[field].length, next: rest.next }).toEqual({ length: 1, next: null })
    })
  })
}

test('a cursor of one definition shows no row of another', async () => {
  const other = await createDefinition(server.url, token)
  const { nonce } = await mintOne(server.url, token, other)
  expect(nonce).toBeString()
  const { next } = (await call(server.url, `/api/coupons/${couponId}/mints?limit=1`, { token }))
    .json
  const { json } = await call(server.url, `/api/coupons/${other}/mints?cursor=${next}`, { token })
  expect(json).toEqual({ mints: [], next: null })
})
