import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { nprofileEncode, npubEncode } from 'nostr-tools/nip19'
import { limits } from '../../src/base/limits.ts'
import { call, createDefinition, type Json, newSigner, openSession } from '../support/client.ts'
import { secondsNow } from '../support/clock.ts'
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

const add = (body: unknown, by = token) =>
  call(server.url, '/api/coupons/minters', { body, token: by })
const remove = (key: string, by = token) =>
  call(server.url, `/api/coupons/minters/${key}`, { method: 'DELETE', token: by })
const list = async (by = token) =>
  (await call(server.url, '/api/coupons/minters', { token: by })).json

describe('POST /api/coupons/minters', () => {
  test('answers with exactly the fields of the minter', async () => {
    const { pubkey } = newSigner()
    const { status, json } = await add({ pubkey, label: 'Caja 1' })
    expect(status).toBe(201)
    expect(json).toEqual({
      minter: { pubkey, npub: npubEncode(pubkey), label: 'Caja 1', createdAt: expect.any(Number) },
    })
    expect((await list()).minters[0]).toEqual(json.minter)
  })

  test('accepts every notation of a key, and stores hex', async () => {
    const forms = (pubkey: string) => [
      pubkey,
      pubkey.toUpperCase(),
      npubEncode(pubkey),
      nprofileEncode({ pubkey, relays: ['wss://relay.example'] }),
      `nostr:${npubEncode(pubkey)}`,
      `nostr:${nprofileEncode({ pubkey })}`,
      ` ${npubEncode(pubkey)}\n`,
    ]
    for (const at of forms(signer.pubkey).keys()) {
      const { pubkey } = newSigner()
      const { status, json } = await add({ pubkey: forms(pubkey)[at] })
      expect({ at, status, pubkey: json.minter?.pubkey }).toEqual({ at, status: 201, pubkey })
    }
  })

  test('adding a minter again is 200: a label replaces the old one, none leaves it, null clears it', async () => {
    const { pubkey } = newSigner()
    const { createdAt } = (await add({ pubkey, label: 'uno' })).json.minter
    const steps: [Json, string | null][] = [
      [{ label: 'dos' }, 'dos'],
      [{}, 'dos'],
      [{ label: null }, null],
    ]
    for (const [fields, label] of steps) {
      const { status, json } = await add({ pubkey: npubEncode(pubkey), ...fields })
      expect({ status, ...json.minter }).toEqual({
        status: 200,
        pubkey,
        npub: npubEncode(pubkey),
        label,
        createdAt,
      })
    }
    expect((await list()).minters.filter((one: Json) => one.pubkey === pubkey)).toHaveLength(1)
  })

  const labels: [unknown, unknown][] = [
    ['🧉'.repeat(80), '🧉'.repeat(80)],
    [null, null],
    [undefined, null],
  ]
  test('returns every valid label', async () => {
    for (const [label, back] of labels) {
      const { json } = await add({ pubkey: newSigner().pubkey, label })
      expect(json.minter.label).toBe(back)
    }
  })

  const bad: [name: string, body: () => unknown, field: string][] = [
    ['no pubkey', () => ({}), 'pubkey'],
    ['a pubkey of null', () => ({ pubkey: null }), 'pubkey'],
    ['a number', () => ({ pubkey: 1 }), 'pubkey'],
    ['an empty pubkey', () => ({ pubkey: '' }), 'pubkey'],
    ['a short hex', () => ({ pubkey: signer.pubkey.slice(1) }), 'pubkey'],
    [
      'an npub with a wrong letter',
      () => ({ pubkey: `${npubEncode(newSigner().pubkey).slice(0, -1)}b` }),
      'pubkey',
    ],
    [
      'an nsec',
      () => ({ pubkey: 'nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5' }),
      'pubkey',
    ],
    [
      'a note',
      () => ({ pubkey: 'note1fntxtkcy9pjwucqwa9mddn7v03wwwsu9j330jj350nvhpky2tuaspk6nqc' }),
      'pubkey',
    ],
    ['words', () => ({ pubkey: 'la caja de al lado' }), 'pubkey'],
    ['an address with a path', () => ({ pubkey: 'caja@tienda.example/x' }), 'pubkey'],
    ['an address with a port', () => ({ pubkey: 'caja@tienda.example:8080' }), 'pubkey'],
    ['an IP address', () => ({ pubkey: 'caja@127.0.0.1' }), 'pubkey'],
    ['localhost', () => ({ pubkey: 'caja@localhost' }), 'pubkey'],
    ['two @', () => ({ pubkey: 'a@b@tienda.example' }), 'pubkey'],
    ['a long text', () => ({ pubkey: 'x'.repeat(5000) }), 'pubkey'],
    ['a label of 81', () => ({ pubkey: newSigner().pubkey, label: 'x'.repeat(81) }), 'label'],
    ['a label that nobody sees', () => ({ pubkey: newSigner().pubkey, label: '\u3164' }), 'label'],
    [
      'a label that turns text',
      () => ({ pubkey: newSigner().pubkey, label: 'Caja\u202e1' }),
      'label',
    ],
    ['a label with a newline', () => ({ pubkey: newSigner().pubkey, label: 'a\nb' }), 'label'],
    [
      'a label with half an emoji',
      () => ({ pubkey: newSigner().pubkey, label: '\ud83e' }),
      'label',
    ],
    ['a label that is a number', () => ({ pubkey: newSigner().pubkey, label: 1 }), 'label'],
  ]
  for (const [name, body, field] of bad) {
    test(`refuses ${name}`, async () => {
      await refuses(server, () => add(body()), 400, 'field-invalid', { field })
    })
  }

  test('refuses the owner itself, in any notation', async () => {
    for (const pubkey of [signer.pubkey, npubEncode(signer.pubkey)]) {
      await refuses(server, () => add({ pubkey }), 400, 'minter-is-owner', { field: 'pubkey' })
    }
  })

  test('a name that cannot be resolved is 404', async () => {
    for (const pubkey of ['caja@tienda.invalid', 'tienda.invalid']) {
      await refuses(server, () => add({ pubkey }), 404, 'minter-unknown')
    }
  })

  test('refuses the 1001st minter of one key, but changes the label of a listed one', async () => {
    const full = await openSession(server.url, newSigner())
    // Any 32 bytes name a key; nobody has to sign with these.
    const key = (at: number) => at.toString(16).padStart(64, '0')
    for (let batch = 0; batch < 20; batch++) {
      const keys = Array.from({ length: 50 }, (_, at) => key(1 + batch * 50 + at))
      const answers = await Promise.all(keys.map((pubkey) => add({ pubkey }, full)))
      expect(answers.every(({ status }) => status === 201)).toBe(true)
    }
    await refuses(server, () => add({ pubkey: key(5000) }, full), 409, 'minters-full')
    expect((await add({ pubkey: key(1), label: 'Caja' }, full)).status).toBe(200)
    expect((await remove(key(1), full)).status).toBe(200)
    expect((await add({ pubkey: key(5000) }, full)).status).toBe(201)
  })
})

describe('DELETE /api/coupons/minters/{key}', () => {
  test('accepts an npub, hex of any case and nostr: forms', async () => {
    const forms = (pubkey: string) => [
      pubkey,
      pubkey.toUpperCase(),
      npubEncode(pubkey),
      `nostr:${npubEncode(pubkey)}`,
      encodeURIComponent(`nostr:${npubEncode(pubkey)}`),
    ]
    for (const at of forms(signer.pubkey).keys()) {
      const { pubkey } = newSigner()
      await add({ pubkey })
      const { status, json } = await remove(forms(pubkey)[at] as string)
      expect({ at, status, json }).toEqual({ at, status: 200, json: { removed: true } })
      await refuses(server, () => remove(pubkey), 404, 'minter-unknown')
    }
  })

  test('an unlisted or invalid key is 404; another merchant’s minter stays', async () => {
    const { pubkey } = newSigner()
    await add({ pubkey })
    const other = await openSession(server.url, newSigner())
    await refuses(server, () => remove(pubkey, other), 404, 'minter-unknown')
    for (const key of ['x', 'caja@tienda.invalid', newSigner().pubkey, signer.pubkey]) {
      await refuses(server, () => remove(key), 404, 'minter-unknown')
    }
  })
})

describe('GET /api/coupons/mintable', () => {
  test('lists the definitions that the caller may mint: its own, and those of merchants that list it', async () => {
    const till = newSigner()
    const by = await openSession(server.url, till)
    const [a, b] = [newSigner(), newSigner()]
    const [tokenA, tokenB] = [await openSession(server.url, a), await openSession(server.url, b)]
    const couponA = await createDefinition(server.url, tokenA, {
      name: 'A',
      description: 'De A',
      image: 'https://fotos.example/a.png',
      maxUses: 2,
      expiresAt: secondsNow() + 1000,
    })
    const couponB = await createDefinition(server.url, tokenB, { name: 'B' })
    const own = await createDefinition(server.url, by, { name: 'Propio' })
    const ids = async () =>
      (await call(server.url, '/api/coupons/mintable', { token: by })).json.coupons.map(
        (coupon: Json) => coupon.id,
      )
    expect(await ids()).toEqual([own])
    await add({ pubkey: till.pubkey }, tokenA)
    await add({ pubkey: till.pubkey }, tokenB)
    expect(await ids()).toEqual([own, couponB, couponA])
    const { json } = await call(server.url, '/api/coupons/mintable', { token: by })
    expect(json.coupons[2]).toEqual({
      id: couponA,
      name: 'A',
      description: 'De A',
      image: 'https://fotos.example/a.png',
      coupon: { type: 'percent', percent: 10 },
      npub: npubEncode(a.pubkey),
      remaining: 2,
      expiresAt: expect.any(Number),
    })
    expect(json.coupons[1]).toMatchObject({ remaining: null, expiresAt: null, image: null })

    const mint = () =>
      call(server.url, '/api/coupons/mint', { body: { couponId: couponA }, token: by })
    await mint()
    const left = await call(server.url, '/api/coupons/mintable', { token: by })
    expect(left.json.coupons[2].remaining).toBe(1)
    await mint()
    expect(await ids()).toEqual([own, couponB])
    await call(server.url, `/api/coupons/${couponA}/mints`, { method: 'DELETE', token: tokenA })
    expect(await ids()).toEqual([own, couponB, couponA])

    const change = (fields: Json, id = couponB, as = tokenB) =>
      call(server.url, `/api/coupons/${id}`, { method: 'PATCH', body: fields, token: as })
    await change({ archived: true })
    expect(await ids()).toEqual([own, couponA])
    await change({ archived: false })
    await change({ expiresAt: secondsNow() - 1 }, couponA, tokenA)
    expect(await ids()).toEqual([own, couponB])
    await remove(till.pubkey, tokenB)
    expect(await ids()).toEqual([own])
  })

  test('strangers that list a key hide neither its own definitions nor those of its first merchants', async () => {
    const till = newSigner()
    const by = await openSession(server.url, till)
    const own = await createDefinition(server.url, by, { name: 'Propio' })
    const merchant = await openSession(server.url, newSigner())
    const trusted = await createDefinition(server.url, merchant, { name: 'De confianza' })
    await add({ pubkey: till.pubkey }, merchant)
    const crowds = await Promise.all(Array.from({ length: 11 }, () => crowd(till.pubkey)))

    const { json } = await call(server.url, '/api/coupons/mintable', { token: by })
    const shown = new Set<string>(json.coupons.map((coupon: Json) => coupon.id))
    expect([shown.has(own), shown.has(trusted)]).toEqual([true, true])
    expect([json.coupons.length, shown.size]).toEqual([limits.mintableMax, limits.mintableMax])
    // Each merchant fills its part at most, with its newest.
    for (const ids of crowds) {
      const part = ids.filter((id) => shown.has(id))
      const most = Math.min(part.length, limits.mintablePerMerchantMax)
      expect(part).toEqual(ids.slice(ids.length - most))
    }
  })

  /** A stranger lists a key and makes more definitions than are shown of one; their ids, oldest first. */
  async function crowd(pubkey: string): Promise<string[]> {
    const stranger = await openSession(server.url, newSigner())
    await add({ pubkey }, stranger)
    const ids: string[] = []
    for (let made = 0; made < 120; made++) ids.push(await createDefinition(server.url, stranger))
    return ids
  }
})
