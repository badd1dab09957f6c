import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash, randomUUID } from 'node:crypto'
import { npubEncode } from 'nostr-tools/nip19'
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
} from '../support/client.ts'
import { briefSeconds, secondsNow, untilSecond } from '../support/clock.ts'
import { databaseOf } from '../support/database.ts'
import { readRows, refuses } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const signer = newSigner()
let server: TestServer
let token: string
let manager: string

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off' } })
  token = await openSession(server.url, signer)
  manager = (await call(server.url, '/api/coupons/manager')).json.pubkey
})

afterAll(cleanUp)

const mint = (body: unknown, by = token) =>
  call(server.url, '/api/coupons/mint', { body, token: by })
const patch = (id: string, body: unknown) =>
  call(server.url, `/api/coupons/${id}`, { method: 'PATCH', body, token })
const preview = async (nonce: string) =>
  (await call(server.url, '/api/coupons/preview', { body: { nonce } })).json
const overview = async (id: string): Promise<Json> =>
  (await call(server.url, '/api/coupons', { token })).json.coupons.find(
    (one: Json) => one.id === id,
  )
const mints = async (id: string): Promise<Json[]> =>
  (await call(server.url, `/api/coupons/${id}/mints?limit=500`, { token })).json.mints
/** The committed vouchers of a definition; with a nonce, those that were written before its voucher. */
async function countIssued(id: string, before?: string): Promise<number> {
  const handle = before === undefined ? null : Buffer.from(handleOf(before), 'base64url')
  const [counted] = await databaseOf(server.dataDir).all<{ n: number }>(
    `SELECT count(*) AS n FROM vouchers
     WHERE definition_id = (SELECT id FROM definitions WHERE uuid = ?)
       AND id < coalesce((SELECT id FROM vouchers WHERE handle = ?), 9007199254740991)`,
    ...[id, handle],
  )
  return counted?.n ?? 0
}
const voidAll = (id: string) =>
  call(server.url, `/api/coupons/${id}/mints`, { method: 'DELETE', token })
const voidOne = (id: string, name: string, query = '') =>
  call(server.url, `/api/coupons/${id}/mints/${name}${query}`, { method: 'DELETE', token })
const claim = (nonce: string) => call(server.url, '/api/coupons/claim', { body: { nonce } })
const refresh = (nonce: string, key = newKey()) =>
  call(server.url, '/api/coupons/refresh', { body: { nonce }, headers: { 'Idempotency-Key': key } })
const handleOf = (nonce: string) =>
  createHash('sha256').update(nonce).digest().subarray(0, 16).toString('base64url')

const resultFields = [
  'coupon',
  'couponId',
  'description',
  'expiresAt',
  'image',
  'name',
  'nonce',
  'npub',
  'voucher',
]

describe('POST /api/coupons/mint', () => {
  test('answers with exactly the voucher result, signed by the manager', async () => {
    const expiresAt = secondsNow() + 1000
    const image = 'https://fotos.example/cafe.png'
    const couponId = await createDefinition(server.url, token, {
      description: 'Con leche',
      image,
      expiresAt,
    })
    const before = secondsNow()
    const { status, json } = await mint({ couponId, x: 1 })
    expect(status).toBe(200)
    const { voucher, nonce, ...rest } = json
    expect(rest).toEqual({
      couponId,
      coupon: percentBenefit,
      name: 'Café gratis',
      description: 'Con leche',
      npub: npubEncode(signer.pubkey),
      image,
      expiresAt,
    })
    expect(nonce).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(Object.keys(voucher)).toHaveLength(7)
    expect(voucher).toMatchObject({ kind: 20_402, pubkey: manager })
    expect(voucher.created_at).toBeGreaterThanOrEqual(before)
    expect(voucher.tags).toEqual([
      ['nonce', nonce],
      ['p', signer.pubkey],
      ['coupon', couponId],
      ['phase', 'minted'],
      ['expiration', String(expiresAt)],
    ])
    expect(JSON.parse(voucher.content)).toEqual({
      v: 1,
      nonce,
      owner: signer.pubkey,
      name: 'Café gratis',
      description: 'Con leche',
      image,
      coupon: percentBenefit,
      phase: 'minted',
      expiresAt,
    })
    expect(verifyEvent(voucher)).toBe(true)
  })

  test('has null for unset fields in the answer, and omits them from the event', async () => {
    const { voucher, ...rest } = await mintOne(
      server.url,
      token,
      await createDefinition(server.url, token),
    )
    expect(new Set(Object.keys({ ...rest, voucher }))).toEqual(new Set(resultFields))
    expect(rest).toMatchObject({ image: null, expiresAt: null, description: '' })
    expect(voucher.tags.map(([name]: string[]) => name)).toEqual(['nonce', 'p', 'coupon', 'phase'])
    expect(Object.keys(JSON.parse(voucher.content))).toEqual([
      'v',
      'nonce',
      'owner',
      'name',
      'description',
      'coupon',
      'phase',
    ])
  })

  const badBodies: [string, Json, string][] = [
    ['no couponId', {}, 'couponId'],
    ['a couponId of null', { couponId: null }, 'couponId'],
    ['a couponId that is no UUID', { couponId: 'x' }, 'couponId'],
    ['a couponId and more', { couponId: `${randomUUID()} ` }, 'couponId'],
    ['a count of 0', { couponId: randomUUID(), count: 0 }, 'count'],
    ['a count of 501', { couponId: randomUUID(), count: 501 }, 'count'],
    ['a count of -1', { couponId: randomUUID(), count: -1 }, 'count'],
    ['a count with a fraction', { couponId: randomUUID(), count: 1.5 }, 'count'],
    ['a count in text', { couponId: randomUUID(), count: '2' }, 'count'],
  ]
  for (const [name, body, field] of badBodies) {
    test(`refuses ${name}`, async () => {
      await refuses(server, () => mint(body), 400, 'field-invalid', { field })
    })
  }

  test('an upper-case couponId names the same definition', async () => {
    const couponId = await createDefinition(server.url, token)
    expect((await mint({ couponId: couponId.toUpperCase() })).json.couponId).toBe(couponId)
  })

  test('refuses in the order: unknown 404, stranger 403, archived 410, expired 410, exhausted 409', async () => {
    await refuses(server, () => mint({ couponId: randomUUID() }), 404, 'coupon-unknown')
    const stranger = await openSession(server.url, newSigner())
    const couponId = await createDefinition(server.url, token, { maxUses: 1 })
    const byStranger = () => mint({ couponId }, stranger)
    await mint({ couponId })
    await patch(couponId, { archived: true, expiresAt: secondsNow() - 1 })
    await refuses(server, byStranger, 403, 'mint-not-allowed')
    await refuses(server, () => mint({ couponId }), 410, 'coupon-archived')
    await patch(couponId, { archived: false })
    await refuses(server, byStranger, 403, 'mint-not-allowed')
    await refuses(server, () => mint({ couponId }), 410, 'coupon-expired')
    await patch(couponId, { expiresAt: null })
    await refuses(server, byStranger, 403, 'mint-not-allowed')
    await refuses(server, () => mint({ couponId }), 409, 'coupon-exhausted')
    await patch(couponId, { maxUses: 2 })
    await refuses(server, byStranger, 403, 'mint-not-allowed')
    expect((await mint({ couponId })).status).toBe(200)
  })

  test('a minter may mint as soon as it is added, and no longer once it is removed', async () => {
    const till = newSigner()
    const by = await openSession(server.url, till)
    const couponId = await createDefinition(server.url, token)
    await refuses(server, () => mint({ couponId }, by), 403, 'mint-not-allowed')
    await call(server.url, '/api/coupons/minters', { body: { pubkey: till.pubkey }, token })
    const { nonce, voucher } = (await mint({ couponId }, by)).json
    expect(voucher.tags).toContainEqual(['p', signer.pubkey])
    const [row] = await mints(couponId)
    expect(row).toMatchObject({
      handle: handleOf(nonce),
      mintedBy: till.pubkey,
      mintedByNpub: npubEncode(till.pubkey),
    })
    await call(server.url, `/api/coupons/minters/${till.pubkey}`, { method: 'DELETE', token })
    await refuses(server, () => mint({ couponId }, by), 403, 'mint-not-allowed')
    expect((await claim(nonce)).status).toBe(200)
  })

  test('one of many callers gets the last slot, and a void gives it back', async () => {
    const couponId = await createDefinition(server.url, token, { maxUses: 5 })
    const answers = await Promise.all(Array.from({ length: 30 }, () => mint({ couponId })))
    const minted = answers.filter(({ status }) => status === 200)
    expect(minted).toHaveLength(5)
    expect(answers.filter(({ json }) => json.code === 'coupon-exhausted')).toHaveLength(25)
    expect(await overview(couponId)).toMatchObject({ minted: 5, claimed: 0 })
    await refresh(minted[0]?.json.nonce)
    await claim(minted[1]?.json.nonce)
    await refuses(server, () => mint({ couponId }), 409, 'coupon-exhausted')
    await voidOne(couponId, handleOf(minted[2]?.json.nonce))
    expect(await overview(couponId)).toMatchObject({ minted: 4, claimed: 1 })
    expect((await mint({ couponId })).status).toBe(200)
    await refuses(server, () => mint({ couponId }), 409, 'coupon-exhausted')
  })

  test('count mints all or none', async () => {
    const couponId = await createDefinition(server.url, token, { maxUses: 10 })
    const { status, json } = await mint({ couponId, count: 8 })
    expect(status).toBe(200)
    expect(Object.keys(json)).toEqual(['vouchers'])
    expect(json.vouchers).toHaveLength(8)
    expect(new Set(json.vouchers.map((one: Json) => one.nonce)).size).toBe(8)
    for (const one of json.vouchers) {
      expect(new Set(Object.keys(one))).toEqual(new Set(resultFields))
      expect(verifyEvent(one.voucher)).toBe(true)
    }
    await refuses(server, () => mint({ couponId, count: 3 }), 409, 'coupon-exhausted')
    expect(await overview(couponId)).toMatchObject({ minted: 8 })
    expect((await mint({ couponId, count: 2 })).json.vouchers).toHaveLength(2)
  })

  test('a claim and a refresh do not wait for forty mints of five hundred, each of which is all or nothing', async () => {
    const own = await createDefinition(server.url, token)
    const [spent, moved] = [
      await mintOne(server.url, token, own),
      await mintOne(server.url, token, own),
    ]
    // For the last of them 200 uses are too few.
    const couponId = await createDefinition(server.url, token, { maxUses: 19_700 })
    const bulks = Array.from({ length: 40 }, () => mint({ couponId, count: 500 }))
    const [claimed, refreshed] = await Promise.all([claim(spent.nonce), refresh(moved.nonce)])
    expect([claimed.status, refreshed.status]).toEqual([200, 201])
    const meanwhile = await countIssued(couponId)
    const answers = await Promise.all(bulks)
    // By the order of the rows: this process may see an answer much later than it left.
    expect(await countIssued(couponId, refreshed.json.nonce)).toBeLessThan(10_000)
    expect(meanwhile % 500).toBe(0)
    const good = answers.filter(({ status }) => status === 200)
    const nonces = good.flatMap(({ json }) => json.vouchers.map((one: Json) => one.nonce))
    expect([good.length, new Set(nonces).size]).toEqual([39, 19_500])
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(({ json }) => json.code)).toEqual(['coupon-exhausted'])
    expect(await countIssued(couponId)).toBe(19_500)
  })

  test('a count of 1 answers with a list of one, and 500 is the maximum', async () => {
    const couponId = await createDefinition(server.url, token)
    const one = await mint({ couponId, count: 1 })
    expect(one.json.vouchers).toHaveLength(1)
    const most = await mint({ couponId, count: 500 })
    expect(most.json.vouchers).toHaveLength(500)
    expect(await overview(couponId)).toMatchObject({ minted: 501 })
  })

  test('the terms of a voucher are frozen; the next one gets the new terms', async () => {
    const couponId = await createDefinition(server.url, token, { expiresAt: secondsNow() + 5000 })
    const old = await mintOne(server.url, token, couponId)
    const promised = await preview(old.nonce)
    const terms = {
      name: 'Otro nombre',
      description: 'Otra cosa',
      image: 'https://fotos.example/otra.png',
      benefit: { type: 'fixed', amount: 5, currency: 'USD' },
      expiresAt: secondsNow() - 10,
    }
    await patch(couponId, terms)
    expect(await preview(old.nonce)).toEqual(promised)
    await refuses(server, () => mint({ couponId }), 410, 'coupon-expired')
    await patch(couponId, { expiresAt: secondsNow() + 9000 })
    const next = await mintOne(server.url, token, couponId)
    expect(next).toMatchObject({
      name: 'Otro nombre',
      description: 'Otra cosa',
      image: terms.image,
      coupon: terms.benefit,
    })
    // Refresh and claim promise what was minted, too.
    const moved = (await refresh(old.nonce)).json
    const { voucher, nonce, ...facts } = moved
    const { status, claimedAt, nonce: before, ...same } = promised
    expect({ status, claimedAt, before }).toEqual({
      status: 'minted',
      claimedAt: null,
      before: old.nonce,
    })
    expect(facts).toEqual(same)
    const claimed = (await claim(nonce)).json
    expect(claimed).toMatchObject(same)
    expect(JSON.parse(claimed.voucher.content)).toMatchObject({
      name: 'Café gratis',
      coupon: percentBenefit,
    })
    expect(JSON.parse(voucher.content).expiresAt).toBe(same.expiresAt)
    const [newest] = (await call(server.url, '/api/coupons/redemptions?limit=1', { token })).json
      .redemptions
    expect(newest).toMatchObject({ name: 'Café gratis', benefit: percentBenefit, couponId })
  })

  test('archiving stops minting only', async () => {
    const couponId = await createDefinition(server.url, token)
    const [a, b] = [
      await mintOne(server.url, token, couponId),
      await mintOne(server.url, token, couponId),
    ]
    await patch(couponId, { archived: true })
    expect((await preview(a.nonce)).status).toBe('minted')
    expect((await claim(a.nonce)).json.status).toBe('success')
    expect((await refresh(b.nonce)).status).toBe(201)
  })

  test('a voucher expires without any request', async () => {
    const couponId = await createDefinition(server.url, token, {
      expiresAt: secondsNow() + briefSeconds,
    })
    const { nonce, expiresAt } = await mintOne(server.url, token, couponId)
    const spare = await mintOne(server.url, token, couponId)
    expect((await preview(nonce)).status).toBe('minted')
    await untilSecond(expiresAt)
    expect(await preview(nonce)).toMatchObject({ status: 'expired', claimedAt: null })
    const listed = (await mints(couponId)).map(({ status, expired }) => [status, expired])
    expect(listed).toEqual([
      ['minted', true],
      ['minted', true],
    ])
    await refuses(server, () => claim(nonce), 410, 'voucher-expired')
    await refuses(server, () => refresh(nonce), 410, 'voucher-expired')
    await refuses(server, () => mint({ couponId }), 410, 'coupon-expired')
    // An expired voucher counts as open until it is voided.
    expect(await overview(couponId)).toMatchObject({ minted: 2, claimed: 0 })
    const voided = await voidOne(couponId, handleOf(nonce))
    expect(voided.json.mint.status).toBe('voided')
    expect((await voidAll(couponId)).json).toEqual({ voided: 1 })
    expect((await preview(spare.nonce)).status).toBe('voided')
  })
})

describe('DELETE /api/coupons/{id}/mints/{handle or nonce}', () => {
  test('voids by handle and by nonce, and answers with the row', async () => {
    const couponId = await createDefinition(server.url, token)
    for (const nameOf of [handleOf, (nonce: string) => nonce]) {
      const { nonce } = await mintOne(server.url, token, couponId)
      const { status, json } = await voidOne(couponId, nameOf(nonce))
      expect(status).toBe(200)
      expect(json).toEqual({
        mint: {
          handle: handleOf(nonce),
          nonce: handleOf(nonce),
          status: 'voided',
          expired: false,
          mintedBy: signer.pubkey,
          mintedByNpub: npubEncode(signer.pubkey),
          mintedAt: expect.any(Number),
          claimedAt: null,
          voidedAt: expect.any(Number),
          refreshedAt: null,
          chain: handleOf(nonce),
        },
      })
      expect((await mints(couponId))[0]).toEqual(json.mint)
      expect(await preview(nonce)).toMatchObject({ status: 'voided', claimedAt: null })
      await refuses(server, () => claim(nonce), 410, 'voucher-cancelled')
      await refuses(server, () => refresh(nonce), 410, 'voucher-cancelled')
      await refuses(server, () => voidOne(couponId, nameOf(nonce)), 409, 'voucher-voided')
    }
  })

  test('refuses a voucher that is unknown, of another definition, or closed', async () => {
    const couponId = await createDefinition(server.url, token)
    const other = await createDefinition(server.url, token)
    const [claimed, moved] = [
      await mintOne(server.url, token, couponId),
      await mintOne(server.url, token, couponId),
    ]
    await claim(claimed.nonce)
    await refresh(moved.nonce)
    for (const name of [
      'A'.repeat(22),
      'x',
      'A'.repeat(23),
      '%00',
      `${handleOf(claimed.nonce)}=`,
    ]) {
      await refuses(server, () => voidOne(couponId, name), 404, 'voucher-unknown')
    }
    await refuses(server, () => voidOne(other, handleOf(moved.nonce)), 404, 'voucher-unknown')
    await refuses(server, () => voidOne(other, moved.nonce, '?chain=1'), 404, 'voucher-unknown')
    await refuses(server, () => voidOne(couponId, handleOf(claimed.nonce)), 409, 'voucher-claimed')
    await refuses(server, () => voidOne(couponId, handleOf(moved.nonce)), 409, 'voucher-refreshed')
    await refuses(server, () => voidOne('x', handleOf(moved.nonce)), 404, 'coupon-unknown')
    await refuses(server, () => voidOne(couponId, moved.nonce, '?chain=2'), 400, 'field-invalid', {
      field: 'chain',
    })
  })

  test('with chain=1 voids the voucher at the end of the chain of refreshes', async () => {
    const couponId = await createDefinition(server.url, token)
    const first = await mintOne(server.url, token, couponId)
    const second = (await refresh(first.nonce)).json
    const third = (await refresh(second.nonce)).json
    const { status, json } = await voidOne(couponId, handleOf(second.nonce), '?chain=1')
    expect(status).toBe(200)
    expect(json.mint).toMatchObject({
      handle: handleOf(third.nonce),
      status: 'voided',
      chain: handleOf(first.nonce),
    })
    expect((await preview(third.nonce)).status).toBe('voided')
    expect((await mints(couponId)).map((row) => [row.status, row.chain])).toEqual(
      ['voided', 'refreshed', 'refreshed'].map((phase) => [phase, handleOf(first.nonce)]),
    )
    expect(await overview(couponId)).toMatchObject({ minted: 0 })
    for (const { nonce } of [first, second, third]) {
      await refuses(server, () => voidOne(couponId, nonce, '?chain=1'), 409, 'voucher-voided')
    }
  })

  test('with chain=1 voids a voucher that was never refreshed, and refuses one claimed at the end', async () => {
    const couponId = await createDefinition(server.url, token)
    const alone = await mintOne(server.url, token, couponId)
    expect((await voidOne(couponId, alone.nonce, '?chain=1')).json.mint.handle).toBe(
      handleOf(alone.nonce),
    )
    const first = await mintOne(server.url, token, couponId)
    await claim((await refresh(first.nonce)).json.nonce)
    await refuses(server, () => voidOne(couponId, first.nonce, '?chain=1'), 409, 'voucher-claimed')
  })
})

describe('GET /api/coupons/{id}/mints', () => {
  test('lists each phase with its time, newest first; a successor keeps its minter', async () => {
    const couponId = await createDefinition(server.url, token)
    const [claimed, moved, open] = [
      await mintOne(server.url, token, couponId),
      await mintOne(server.url, token, couponId),
      await mintOne(server.url, token, couponId),
    ]
    const { claimedAt } = (await claim(claimed.nonce)).json
    const next = (await refresh(moved.nonce)).json
    const { json } = await call(server.url, `/api/coupons/${couponId}/mints`, { token })
    expect(json.next).toBeNull()
    const row = (nonce: string, status: string, ended: Json = {}) => ({
      handle: handleOf(nonce),
      nonce: handleOf(nonce),
      status,
      expired: false,
      mintedBy: signer.pubkey,
      mintedByNpub: npubEncode(signer.pubkey),
      mintedAt: expect.any(Number),
      claimedAt: null,
      voidedAt: null,
      refreshedAt: null,
      chain: handleOf(nonce),
      ...ended,
    })
    expect(json.mints).toEqual([
      row(next.nonce, 'minted', { chain: handleOf(moved.nonce) }),
      row(open.nonce, 'minted'),
      row(moved.nonce, 'refreshed', { refreshedAt: expect.any(Number) }),
      row(claimed.nonce, 'claimed', { claimedAt }),
    ])
    expect(JSON.stringify(json)).not.toContain(open.nonce)
  })
})

describe('DELETE /api/coupons/{id}/mints, the kill switch', () => {
  const rowsMarked = ({ dataDir } = server) =>
    until('the rows are marked', async () => ((await readRows(dataDir)).kills ?? []).length === 0)
  /** Keeps the rows from being marked: the cut-off alone decides every request meanwhile. */
  const holdSweep = (hold: boolean) => {
    const database = databaseOf(server.dataDir)
    return hold ? database.forbid('vouchers', 'phase', 'voided') : database.allow('vouchers')
  }

  test('voids every open voucher at once, with the same answers before and after the rows are marked', async () => {
    const couponId = await createDefinition(server.url, token)
    const nonces: string[] = []
    for (let batch = 0; batch < 3; batch++) {
      const { json } = await mint({ couponId, count: 500 })
      nonces.push(...json.vouchers.map((one: Json) => one.nonce))
    }
    const [claimed, moved, ...open] = nonces as [string, string, ...string[]]
    await claim(claimed)
    const key = newKey()
    const next = await refresh(moved, key)

    await holdSweep(true)
    const killed = await voidAll(couponId)
    expect({ status: killed.status, json: killed.json }).toEqual({
      status: 200,
      json: { voided: 1499 },
    })
    // Vouchers minted after the cut-off are fine, before and after the sweep.
    const fresh = await mintOne(server.url, token, couponId)
    const checkAll = async () => {
      const rows = await mints(couponId)
      expect(rows[0]).toMatchObject({ handle: handleOf(fresh.nonce), status: 'minted' })
      expect(await overview(couponId)).toMatchObject({ minted: 2, claimed: 1 })
      expect((await preview(fresh.nonce)).status).toBe('minted')
      expect((await preview(claimed)).status).toBe('claimed')
      expect((await preview(moved)).status).toBe('refreshed')
      for (const nonce of [next.json.nonce, open[0] as string, open.at(-1) as string]) {
        expect(await preview(nonce)).toMatchObject({ status: 'voided', claimedAt: null })
        await refuses(server, () => claim(nonce), 410, 'voucher-cancelled')
        await refuses(server, () => refresh(nonce), 410, 'voucher-cancelled')
        await refuses(server, () => voidOne(couponId, nonce), 409, 'voucher-voided')
      }
      const replay = await refresh(moved, key)
      expect({ status: replay.status, text: replay.text }).toEqual({ status: 200, text: next.text })
      return rows
    }
    const before = await checkAll()
    expect((await readRows(server.dataDir)).kills).toHaveLength(1)
    await holdSweep(false)
    // Any use of the kill switch wakes the sweep.
    await voidAll(await createDefinition(server.url, token))
    await rowsMarked()
    expect(await checkAll()).toEqual(before)
    const times = new Set(before.slice(1).map((row) => row.voidedAt))
    expect(times.size).toBe(1)

    expect((await voidAll(couponId)).json).toEqual({ voided: 1 })
    expect((await voidAll(couponId)).json).toEqual({ voided: 0 })
    expect((await preview(fresh.nonce)).status).toBe('voided')
    await rowsMarked()
    expect((await mints(couponId)).filter(({ voidedAt }) => voidedAt !== null).length).toBe(500)
  })

  test('keeps, when used twice, the time of the first use for each voucher', async () => {
    const couponId = await createDefinition(server.url, token)
    const first = (await mint({ couponId, count: 500 })).json.vouchers
    expect((await voidAll(couponId)).json).toEqual({ voided: 500 })
    await untilSecond(secondsNow() + 1)
    const second = (await mint({ couponId, count: 300 })).json.vouchers
    expect((await voidAll(couponId)).json).toEqual({ voided: 300 })
    await rowsMarked()
    const times = new Map((await mints(couponId)).map((row) => [row.handle, row.voidedAt]))
    const newer = new Set(second.map((one: Json) => times.get(handleOf(one.nonce))))
    const older = new Set(first.slice(-100).map((one: Json) => times.get(handleOf(one.nonce))))
    expect([newer.size, older.size]).toEqual([1, 1])
    expect([...older][0]).toBeLessThan([...newer][0] as number)
    expect(await overview(couponId)).toMatchObject({ minted: 0, claimed: 0 })
  })

  test('frees every slot, and voids the end of a chain', async () => {
    const couponId = await createDefinition(server.url, token, { maxUses: 2 })
    const a = await mintOne(server.url, token, couponId)
    await mintOne(server.url, token, couponId)
    const moved = (await refresh(a.nonce)).json
    expect((await voidAll(couponId)).json).toEqual({ voided: 2 })
    await rowsMarked()
    await refuses(
      server,
      () => voidOne(couponId, handleOf(a.nonce), '?chain=1'),
      409,
      'voucher-voided',
    )
    await refuses(server, () => voidOne(couponId, handleOf(moved.nonce)), 409, 'voucher-voided')
    expect((await mint({ couponId, count: 2 })).status).toBe(200)
  })

  test('voids nothing for a definition without vouchers, and is 404 for an unknown one', async () => {
    expect((await voidAll(await createDefinition(server.url, token))).json).toEqual({ voided: 0 })
    for (const id of [randomUUID(), 'x']) {
      await refuses(server, () => voidAll(id), 404, 'coupon-unknown')
    }
  })

  test('stays in effect after a crash before the rows were marked', async () => {
    const own = await startServer({ env: { RATE_LIMIT: 'off' } })
    const by = await openSession(own.url, signer)
    const couponId = await createDefinition(own.url, by)
    const vouchers: Json[] = []
    for (let batch = 0; batch < 4; batch++) {
      const body = { couponId, count: 500 }
      vouchers.push(
        ...(await call(own.url, '/api/coupons/mint', { body, token: by })).json.vouchers,
      )
    }
    await call(own.url, `/api/coupons/${couponId}/mints`, { method: 'DELETE', token: by })
    await own.kill()
    const again = await startServer({ env: { RATE_LIMIT: 'off' }, dataDir: own.dataDir })
    const { nonce } = vouchers[1999]
    const { status, json } = await call(again.url, '/api/coupons/claim', { body: { nonce } })
    expect({ status, code: json.code }).toEqual({ status: 410, code: 'voucher-cancelled' })
    await rowsMarked(again)
    const phases = ((await readRows(again.dataDir)).vouchers as Json[]).map(({ phase }) => phase)
    expect(new Set(phases)).toEqual(new Set(['voided']))
  })
})
