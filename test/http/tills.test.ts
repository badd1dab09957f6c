import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { npubOf } from '../../src/nostr/keys.ts'
import {
  call,
  createDefinition,
  createProof,
  type Json,
  mintOne,
  newKey,
  newSigner,
  nostrHeader,
  openSession,
} from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
import { databaseOf } from '../support/database.ts'
import { refuses } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const owner = newSigner()
let server: TestServer
let token: string
let couponId: string

beforeAll(async () => {
  // With limits: an invalid authentication must not count against the till's address.
  server = await startServer({ checkRoots: true })
  token = await openSession(server.url, owner)
  couponId = await createDefinition(server.url, token)
})
afterAll(cleanUp)

/** A header signed for a claim. */
const signed = (by = owner, options: Parameters<typeof createProof>[2] = {}) =>
  nostrHeader(createProof(by, `${server.url}/api/coupons/claim`, { method: 'POST', ...options }))
const newNonce = async () => (await mintOne(server.url, token, couponId)).nonce as string
const claim = (nonce: string, headers: Record<string, string> = {}, fields: Json = {}) =>
  call(server.url, '/api/coupons/claim', { body: { nonce, ...fields }, headers })
const ask = async (path: string, by = token): Promise<Json> =>
  (await call(server.url, `/api/coupons/${path}`, { token: by })).json
const newest = async (): Promise<Json> => (await ask('redemptions?limit=1')).redemptions[0]
const minter = async (fields: Json = {}) => {
  const signer = newSigner()
  const body = { pubkey: signer.pubkey, ...fields }
  const { json } = await call(server.url, '/api/coupons/minters', { body, token })
  return { signer, minter: json.minter as Json }
}

const named = (row: Json) => [row.claimedBy, row.claimedByNpub, row.claimedByLabel]

describe('the redemption names', () => {
  test('the key of a session and of a signature, with its label as it is now', async () => {
    const { signer, minter: listed } = await minter({ label: 'Barra' })
    const session = await openSession(server.url, signer)
    for (const header of [`Bearer ${session}`, signed(signer)]) {
      expect((await claim(await newNonce(), { Authorization: header })).json.status).toBe('success')
      expect(named(await newest())).toEqual([listed.pubkey, listed.npub, 'Barra'])
    }
    const body = { pubkey: listed.pubkey, label: 'Salón' }
    await call(server.url, '/api/coupons/minters', { body, token })
    expect(named(await newest())).toEqual([listed.pubkey, listed.npub, 'Salón'])
    await call(server.url, `/api/coupons/minters/${listed.pubkey}`, { method: 'DELETE', token })
    expect(named(await newest())).toEqual([listed.pubkey, listed.npub, null])
  })

  test('the owner, who has no label, and a key that nobody listed', async () => {
    for (const by of [owner, newSigner()]) {
      await claim(await newNonce(), { Authorization: signed(by) })
      const row = await newest()
      expect([...named(row), row.unlisted]).toEqual([
        by.pubkey,
        npubOf(by.pubkey),
        null,
        by === owner ? undefined : true,
      ])
    }
  })

  test('a key that was listed after its claim as one that was not, so that they add up as in the statistics', async () => {
    const signer = newSigner()
    await claim(await newNonce(), { Authorization: signed(signer) })
    const body = { pubkey: signer.pubkey, label: 'Terraza' }
    await call(server.url, '/api/coupons/minters', { body, token })
    expect(await newest()).toMatchObject({ claimedByLabel: 'Terraza', unlisted: true })
    await claim(await newNonce(), { Authorization: signed(signer) })
    expect(await newest()).not.toHaveProperty('unlisted')

    const counted = new Map<string | null, number>()
    for (let cursor = ''; cursor !== 'null'; ) {
      const { redemptions, next } = await ask(`redemptions?limit=500${cursor}`)
      for (const { claimedBy, unlisted } of redemptions as Json[]) {
        const till = unlisted ? null : claimedBy
        counted.set(till, (counted.get(till) ?? 0) + 1)
      }
      cursor = next === null ? 'null' : `&cursor=${next}`
    }
    const { tills } = await ask('stats/tills')
    const sum = (days: Json[]) => days.reduce((all, { claimed }) => all + claimed, 0)
    expect(new Map(tills.map((one: Json) => [one.pubkey, sum(one.days)]))).toEqual(counted)
  })

  test('nobody where the authentication is missing or not valid, and nothing is refused', async () => {
    const expired = secondsNow() - 61
    const headers: Record<string, string | null> = {
      none: null,
      'an empty one': '',
      'another scheme': 'Basic dXNlcjpwYXNz',
      'a token of nobody': 'Bearer eyJhbGciOiJIUzI1NiJ9.e30.x',
      'an old signature': signed(owner, { createdAt: expired }),
      'a signature for another method': signed(owner, { method: 'GET' }),
      'a signature of another body': signed(owner, { body: '{}' }),
      'a signature for another service': nostrHeader(
        createProof(owner, 'https://other.example/api/coupons/claim', { method: 'POST' }),
      ),
      'a changed event': nostrHeader({
        ...createProof(owner, `${server.url}/api/coupons/claim`, { method: 'POST' }),
        content: 'x',
      }),
      'one beyond the limit': `Bearer ${'x'.repeat(9000)}`,
    }
    // More than the mistakes that an address may make a minute: here they are none.
    for (let round = 0; round < 20; round++) {
      for (const [name, header] of Object.entries(headers)) {
        const answer = await claim(
          await newNonce(),
          header === null ? {} : { Authorization: header },
        )
        expect([name, answer.status, answer.json.status]).toEqual([name, 200, 'success'])
        if (round === 0) expect([name, ...named(await newest())]).toEqual([name, null, null, null])
      }
    }
    // The address has all its guesses left.
    expect((await claim('A'.repeat(22))).json.code).toBe('voucher-unknown')
  })

  test('nobody where a signature is sent again, also by a claim at the same time', async () => {
    const header = { Authorization: signed() }
    expect((await claim(await newNonce(), header)).json.status).toBe('success')
    expect((await newest()).claimedBy).toBe(owner.pubkey)
    expect((await claim(await newNonce(), header)).json.status).toBe('success')
    expect((await newest()).claimedBy).toBeNull()

    const nonces = await Promise.all(Array.from({ length: 8 }, newNonce))
    const once = { Authorization: signed() }
    const answers = await Promise.all(nonces.map((nonce) => claim(nonce, once)))
    expect(answers.map(({ json }) => json.status)).toEqual(Array(8).fill('success'))
    const rows: Json[] = (await ask('redemptions?limit=8')).redemptions
    expect(rows.filter(({ claimedBy }) => claimedBy !== null)).toHaveLength(1)
  })

  test('the first one, whoever claims again', async () => {
    const { signer } = await minter()
    const nonce = await newNonce()
    const key = { 'Idempotency-Key': newKey() }
    const first = await claim(nonce, { Authorization: signed(), ...key })
    const again = await claim(nonce, { Authorization: signed(signer) })
    const { status, claimedAt } = again.json
    expect([status, claimedAt]).toEqual(['claimed', first.json.claimedAt])
    const retried = await claim(nonce, { Authorization: signed(signer), ...key })
    expect(retried.text).toBe(first.text)
    expect((await newest()).claimedBy).toBe(owner.pubkey)
  })

  test('nobody of a claim that redeems nothing, and its signature stays unused', async () => {
    const header = { Authorization: signed() }
    const [spent, other] = [await newNonce(), newSigner().pubkey]
    await claim(spent)
    expect((await claim(spent, header)).json.status).toBe('claimed')
    expect((await claim('A'.repeat(22), header)).json.code).toBe('voucher-unknown')
    const foreign = await claim(await newNonce(), header, { owner: other })
    expect(foreign.json.code).toBe('other-merchant')
    await claim(await newNonce(), header)
    expect((await newest()).claimedBy).toBe(owner.pubkey)
  })
})

describe('a key that redeems only', () => {
  test('is told from the others, and stays so until told otherwise', async () => {
    const { minter: listed } = await minter({ mint: false, label: 'Caja' })
    expect(listed).toMatchObject({ mint: false, label: 'Caja' })
    const steps: [Json, Json][] = [
      [{}, { mint: false, label: 'Caja' }],
      [{ label: 'Barra' }, { mint: false, label: 'Barra' }],
      [{ mint: true }, { label: 'Barra' }],
      [{}, { label: 'Barra' }],
      [{ mint: false }, { mint: false, label: 'Barra' }],
    ]
    const { pubkey, npub, createdAt } = listed
    for (const [fields, shown] of steps) {
      const body = { pubkey, ...fields }
      const { status, json } = await call(server.url, '/api/coupons/minters', { body, token })
      expect([status, json.minter]).toEqual([200, { pubkey, npub, createdAt, ...shown }])
      for (const path of ['minters', '']) {
        const { minters } = await ask(path)
        expect(minters.find((one: Json) => one.pubkey === pubkey)).toEqual(json.minter)
      }
    }
  })

  test('names redemptions, may not mint and sees nothing to mint', async () => {
    const { signer } = await minter({ mint: false })
    const session = await openSession(server.url, signer)
    const mint = () => call(server.url, '/api/coupons/mint', { body: { couponId }, token: session })
    await refuses(server, mint, 403, 'mint-not-allowed')
    expect(await ask('mintable', session)).toEqual({ coupons: [] })
    await claim(await newNonce(), { Authorization: `Bearer ${session}` })
    expect((await newest()).claimedBy).toBe(signer.pubkey)
    const body = { pubkey: signer.pubkey, mint: true }
    await call(server.url, '/api/coupons/minters', { body, token })
    expect((await mint()).status).toBe(200)
    expect((await ask('mintable', session)).coupons).toHaveLength(1)
  })

  test('learns which merchants list it, how, and under which name', async () => {
    const { signer, minter: listed } = await minter({ mint: false, label: 'Caja 1' })
    const session = await openSession(server.url, signer)
    const other = newSigner()
    const body = { pubkey: signer.pubkey }
    const by = await openSession(server.url, other)
    await call(server.url, '/api/coupons/minters', { body, token: by })
    expect(await ask('authorizations', session)).toEqual({
      authorizations: [
        { npub: npubOf(other.pubkey), label: null, mint: true },
        { npub: npubOf(owner.pubkey), label: 'Caja 1', mint: false },
      ],
    })
    await call(server.url, `/api/coupons/minters/${listed.npub}`, { method: 'DELETE', token })
    expect((await ask('authorizations', session)).authorizations).toHaveLength(1)
    expect(await ask('authorizations')).toEqual({ authorizations: [] })
  })

  const wrong: unknown[] = [null, 0, 'false', []]
  test('is named by a boolean', async () => {
    for (const mint of wrong) {
      const body = { pubkey: newSigner().pubkey, mint }
      const add = () => call(server.url, '/api/coupons/minters', { body, token })
      await refuses(server, add, 400, 'field-invalid', { field: 'mint' })
    }
  })
})

describe('GET /api/coupons/stats/tills', () => {
  const sum = (days: Json[]) => days.reduce((all, day) => all + day.claimed, 0)

  test('counts redemptions by till, and those without a listed key together', async () => {
    const shop = newSigner()
    const session = await openSession(server.url, shop)
    const id = await createDefinition(server.url, session)
    expect((await ask('stats/tills', session)).tills).toEqual([])
    const barra = newSigner()
    const body = { pubkey: barra.pubkey, label: 'Barra', mint: false }
    await call(server.url, '/api/coupons/minters', { body, token: session })
    for (const by of [null, barra, shop, newSigner(), barra]) {
      const { nonce } = await mintOne(server.url, session, id)
      await claim(nonce, by ? { Authorization: signed(by) } : {}, { owner: shop.pubkey })
      await claim(nonce, by ? { Authorization: signed(by) } : {})
    }
    expect((await claim(await newNonce(), { Authorization: signed(barra) })).status).toBe(200)
    const { from, to, offset, tills, next } = await ask('stats/tills', session)
    expect(tills.map(({ days, ...till }: Json) => [till, sum(days)])).toEqual([
      [{ pubkey: shop.pubkey, npub: npubOf(shop.pubkey), label: null }, 1],
      [{ pubkey: barra.pubkey, npub: npubOf(barra.pubkey), label: 'Barra' }, 2],
      [{ pubkey: null, npub: null, label: null }, 2],
    ])
    expect([offset, next]).toEqual([-3, null])
    const stats = await ask('stats', session)
    expect([from, to]).toEqual([stats.from, stats.to])
    const [coupon] = stats.coupons
    expect(sum(coupon.days)).toBe(5)
    expect((await ask('stats/tills?from=2026-01-01&to=2026-01-31', session)).tills).toEqual([])
  })

  test('comes in pages, each till once', async () => {
    const shop = newSigner()
    const session = await openSession(server.url, shop)
    const database = databaseOf(server.dataDir)
    const owner = Buffer.from(shop.pubkey, 'hex')
    await database.runEach(
      'INSERT INTO tills (owner, pubkey) VALUES (?, ?)',
      Array.from({ length: 4 }, () => [owner, randomBytes(32)]),
    )
    const tills = await database.all<{ id: number }>('SELECT id FROM tills WHERE owner = ?', owner)
    const noon = Date.parse('2025-01-01T12:00Z') / 3_600_000
    const noons = Array.from({ length: 365 }, (_, at) => noon + at * 24)
    await database.count(
      'till_hours',
      tills.flatMap(({ id }) => noons.map((hour) => ({ keys: [id, hour], by: { claimed: 1 } }))),
    )
    const range = 'stats/tills?from=2025-01-01&to=2025-12-31'
    const first = await ask(range, session)
    const second = await ask(`${range}&cursor=${first.next}`, session)
    expect([first.tills.length, second.tills.length, second.next]).toEqual([3, 1, null])
    const seen = [...first.tills, ...second.tills].map(({ pubkey }: Json) => pubkey)
    expect(new Set(seen).size).toBe(4)
  })

  test('refuses as the statistics of coupons do', async () => {
    const asked = (query: string) =>
      call(server.url, `/api/coupons/stats/tills?${query}`, { token })
    await refuses(server, () => asked('offset=15'), 400, 'field-invalid', { field: 'offset' })
    await refuses(server, () => asked('from=x'), 400, 'field-invalid', { field: 'from' })
    await refuses(server, () => asked('cursor=x'), 400, 'page-invalid')
  })
})

describe('a merchant that lets only its own tills redeem', () => {
  const shop = newSigner()
  const till = newSigner()
  let session: string
  let id: string

  beforeAll(async () => {
    session = await openSession(server.url, shop)
    id = await createDefinition(server.url, session)
    const body = { pubkey: till.pubkey, mint: false }
    await call(server.url, '/api/coupons/minters', { body, token: session })
    await change(true)
  })

  const change = (onlyAuthorizedTills: unknown) =>
    call(server.url, '/api/shop', {
      method: 'PATCH',
      body: { onlyAuthorizedTills },
      token: session,
    })
  const newOne = async () => (await mintOne(server.url, session, id)).nonce as string
  const refused = (nonce: string, headers: Record<string, string> = {}, reason?: string) =>
    refuses(server, () => claim(nonce, headers), 403, 'till-not-allowed', reason ? { reason } : {})

  test('is known by its setting, a boolean', async () => {
    const own = () => call(server.url, '/api/shop', { token: session })
    expect((await own()).json.onlyAuthorizedTills).toBe(true)
    for (const wrong of [null, 1, 'true']) {
      await refuses(server, () => change(wrong), 400, 'field-invalid', {
        field: 'onlyAuthorizedTills',
      })
    }
    expect((await own()).json.onlyAuthorizedTills).toBe(true)
  })

  test('is obeyed: its owner and its minters redeem, others and strangers do not', async () => {
    const nonce = await newOne()
    await refused(nonce, {}, 'missing')
    const wrong = [
      [signed(newSigner())],
      [signed(till, { createdAt: secondsNow() - 61 }), 'expired'],
      ['Nostr e30=', 'malformed'],
      ['Bearer x.y.z', 'session-invalid'],
      [`Bearer ${await openSession(server.url, newSigner())}`],
    ] as const
    for (const [Authorization, reason] of wrong) await refused(nonce, { Authorization }, reason)
    const used = { Authorization: signed(till) }
    expect((await claim(await newOne(), used)).json.status).toBe('success')
    await refused(nonce, used, 'replay')
    const bearer = { Authorization: `Bearer ${await openSession(server.url, till)}` }
    expect((await claim(nonce, bearer)).json.status).toBe('success')
    expect((await claim(await newOne(), { Authorization: signed(shop) })).status).toBe(200)
    // Other merchants make no demand.
    expect((await claim(await newNonce())).json.status).toBe('success')
  })

  test('is obeyed before the state of a voucher is told, and a repeated claim is told its time', async () => {
    const authorized = { Authorization: `Bearer ${await openSession(server.url, till)}` }
    const nonce = await newOne()
    const first = await claim(nonce, authorized)
    const again = await claim(nonce)
    expect([again.status, again.json.status]).toEqual([200, 'claimed'])
    expect(again.json.claimedAt).toBe(first.json.claimedAt)

    const gone = await newOne()
    const path = `/api/coupons/${id}/mints/${gone}`
    await call(server.url, path, { method: 'DELETE', token: session })
    await refused(gone, {}, 'missing')
    await refuses(server, () => claim(gone, authorized), 410, 'voucher-cancelled')
    const foreign = () => claim(gone, {}, { owner: owner.pubkey })
    await refuses(server, foreign, 409, 'other-merchant')
    await refuses(server, () => claim('A'.repeat(22)), 404, 'voucher-unknown')
  })

  test('no longer is when the setting is taken back, or the key of its till', async () => {
    const headers = { Authorization: `Bearer ${await openSession(server.url, till)}` }
    const path = `/api/coupons/minters/${till.pubkey}`
    await call(server.url, path, { method: 'DELETE', token: session })
    const nonce = await newOne()
    await refused(nonce, headers)
    await change(false)
    expect((await claim(nonce)).json.status).toBe('success')
  })
})
