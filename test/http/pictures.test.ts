import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { limits } from '../../src/base/limits.ts'
import {
  call,
  createDefinition,
  createProof,
  type Json,
  mintOne,
  newSigner,
  nostrHeader,
  openSession,
  percentBenefit,
  sha256Hex,
} from '../support/client.ts'
import { startClosed } from '../support/closed.ts'
import { dirty, jpegSegment, jpegWith, pngOf, samples } from '../support/pictures.ts'
import { expectRefusal, refuses } from '../support/refusals.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'

const signer = newSigner()
let server: TestServer
let token: string

beforeAll(async () => {
  server = await startServer({ checkRoots: true, env: { RATE_LIMIT: 'off' } })
  token = await openSession(server.url, signer)
})

afterAll(cleanUp)

/** A service with an https address, and sessions of merchants there. */
async function startPublic({ host = 'cupones.example', ...kept }: Partial<At> = {}) {
  const env = { PUBLIC_URL: `http://pi.local:3000,https://${host}`, MERCHANTS: 'open' }
  const started = await startServer({ ...kept, env: { ...env, RATE_LIMIT: 'off' } })
  const headers = { Host: host }
  const path = '/api/auth/session'
  const enter = async (merchant: typeof signer): Promise<string> => {
    const proof = createProof(merchant, `https://${host}${path}`, { method: 'POST' })
    const sent = { ...headers, Authorization: nostrHeader(proof) }
    return (await call(started.url, path, { method: 'POST', headers: sent })).json.token
  }
  return { ...started, by: await enter(signer), enter, headers }
}

type At = { host: string; dataDir: string }

const upload = (bytes: Uint8Array, by = token) =>
  call(server.url, '/api/pictures', { body: bytes, token: by })
const show = (hash: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/api/pictures/${hash}`, { headers })

describe('POST /api/pictures', () => {
  for (const [format, { sent, kept }] of Object.entries(dirty)) {
    test(`keeps a ${format} without metadata, whatever type is declared, and answers the same again`, async () => {
      const hash = sha256Hex(kept)
      const url = `/api/pictures/${hash}`
      const picture = { hash, url, type: `image/${format}`, bytes: kept.length }
      const first = await upload(sent)
      expect({ status: first.status, json: first.json }).toEqual({ status: 201, json: { picture } })
      for (const bytes of [sent, kept]) {
        const again = await upload(bytes)
        expect({ status: again.status, json: again.json }).toEqual({
          status: 200,
          json: { picture },
        })
      }
      const shown = await show(hash)
      expect(Buffer.from(await shown.bytes())).toEqual(kept)
      expect(shown.headers.get('content-type')).toBe(`image/${format}`)
    })
  }

  test('takes a signature as well as a session, over the bytes as they are', async () => {
    const { status } = await call(server.url, '/api/pictures', { body: pngOf(3, 3), signer })
    expect(status).toBe(201)
  })

  test('has a body limit of its own', async () => {
    const max = limits.pictureBytesMax
    const comment = (length: number) => Buffer.from(jpegSegment(0xfe, 'x'.repeat(length)))
    const filled = Array.from({ length: 3 }, () => comment(65_000))
    const rest = max - jpegWith(filled).length - 4
    const largest = jpegWith([...filled, comment(rest)])
    expect(largest.length).toBe(max)
    expect((await upload(largest)).json.picture.hash).toBe(sha256Hex(samples.jpeg))
    const options = { reason: 'too-large' }
    await refuses(
      server,
      () => upload(Buffer.concat([largest, Buffer.alloc(1)])),
      413,
      'too-large',
      options,
    )
  })

  test('refuses other bytes and great sizes, and a stranger after them, as every route does', async () => {
    const wide = pngOf(limits.pictureSideMax + 1, 1)
    await refuses(server, () => upload(Buffer.from('GIF89a')), 400, 'picture-invalid')
    await refuses(server, () => upload(new Uint8Array()), 400, 'picture-invalid')
    await refuses(server, () => upload(wide), 400, 'picture-too-wide')
    const none = await call(server.url, '/api/pictures', { body: wide })
    expectRefusal(none, 401, 'auth-missing', { reason: 'missing' })
    const closed = await startClosed()
    const by = await openSession(closed.url, newSigner())
    const ask = (body: Uint8Array) => call(closed.url, '/api/pictures', { body, token: by })
    await refuses(closed, () => ask(wide), 400, 'picture-too-wide')
    await refuses(closed, () => ask(samples.png), 403, 'merchant-not-allowed', { setup: true })
  })

  test('has room for so many bytes that one merchant uses, and none is taken from another', async () => {
    const by = await openSession(server.url, newSigner())
    const large = () =>
      Buffer.concat([
        samples.jpeg.subarray(0, -2),
        randomBytes(200_000).map((byte) => byte & 0x7f),
        samples.jpeg.subarray(-2),
      ])
    const most = Math.floor(limits.pictureBytesPerOwnerMax / large().length)
    const first = await upload(large(), by)
    const coupon = await createDefinition(server.url, by, { picture: first.json.picture.hash })
    for (let at = 1; at < most; at++) expect((await upload(large(), by)).status).toBe(201)
    await refuses(server, () => upload(large(), by), 409, 'pictures-full')
    const archived = { method: 'PATCH', body: { archived: true }, token: by }
    await call(server.url, `/api/coupons/${coupon}`, archived)
    expect((await upload(large(), by)).status).toBe(201)
    await refuses(server, () => upload(large(), by), 409, 'pictures-full')
    expect((await upload(samples.png, by)).status).toBe(201)
    expect((await upload(large())).status).toBe(201)
  })
})

describe('the picture of a coupon', () => {
  const hashOf = async (bytes: Uint8Array, by = token) =>
    (await upload(bytes, by)).json.picture.hash
  const patch = (id: string, body: Json, by = token) =>
    call(server.url, `/api/coupons/${id}`, { method: 'PATCH', body, token: by })

  test('is a key of its own, which is frozen at mint; the image stays null without https', async () => {
    const picture = await hashOf(pngOf(4, 4))
    const other = await hashOf(pngOf(5, 4))
    const id = await createDefinition(server.url, token, { picture })
    const minted = await mintOne(server.url, token, id)
    expect([minted.picture, minted.image]).toEqual([picture, null])
    expect(JSON.parse(minted.voucher.content)).not.toHaveProperty('image')
    expect(JSON.parse(minted.voucher.content)).not.toHaveProperty('picture')
    const { json } = await patch(id, { picture: other })
    expect([json.coupon.picture, json.coupon.image]).toEqual([other, null])
    const { nonce } = minted
    const preview = await call(server.url, '/api/coupons/preview', { body: { nonce } })
    expect(preview.json.picture).toBe(picture)
    const key = { 'Idempotency-Key': crypto.randomUUID() }
    const moved = await call(server.url, '/api/coupons/refresh', { body: { nonce }, headers: key })
    expect(moved.json.picture).toBe(picture)
    const claimed = await call(server.url, '/api/coupons/claim', {
      body: { nonce: moved.json.nonce },
    })
    expect(claimed.json.picture).toBe(picture)
    const listed = await call(server.url, '/api/coupons/mintable', { token })
    expect(listed.json.coupons.find((one: Json) => one.id === id).picture).toBe(other)
    const poster = await call(server.url, '/api/posters', { body: { couponId: id }, token })
    const shown = await call(server.url, `/api/posters/${poster.json.poster.id}`)
    expect(shown.json.picture).toBe(other)
  })

  test('adds nothing to the answers of coupons without one', async () => {
    const id = await createDefinition(server.url, token, { picture: null })
    expect(await mintOne(server.url, token, id)).not.toHaveProperty('picture')
    const { json } = await call(server.url, '/api/coupons', { token })
    expect(json.coupons.find((one: Json) => one.id === id)).not.toHaveProperty('picture')
  })

  test('is replaced by an address, and a null image that was null before takes nothing away', async () => {
    const picture = await hashOf(pngOf(4, 4))
    const id = await createDefinition(server.url, token, { picture })
    const shown = async (changes: Json) => {
      const { image, picture: left } = (await patch(id, changes)).json.coupon
      return { image, picture: left }
    }
    const image = 'https://example.com/a.png'
    expect(await shown({ image: null, name: 'Té' })).toEqual({ image: null, picture })
    expect(await shown({ image })).toEqual({ image, picture: undefined })
    expect(await shown({ picture: null })).toEqual({ image, picture: undefined })
    expect(await shown({ picture })).toEqual({ image: null, picture })
    expect(await shown({ picture: null })).toEqual({ image: null, picture: undefined })
  })

  test('is one that its merchant uploaded', async () => {
    const by = await openSession(server.url, newSigner())
    const picture = await hashOf(pngOf(6, 4), by)
    const terms = { name: 'x', benefit: percentBenefit }
    const make = (added: Json) =>
      call(server.url, '/api/coupons', { body: { ...terms, ...added }, token })
    const field = { field: 'picture' }
    await refuses(server, () => make({ picture }), 404, 'picture-unknown', field)
    await refuses(server, () => make({ picture: 'x' }), 400, 'field-invalid', field)
    const own = await hashOf(pngOf(7, 4))
    const both = { picture: own, image: 'https://example.com/a.png' }
    await refuses(server, () => make(both), 400, 'field-invalid', { field: 'image' })
    const id = await createDefinition(server.url, token)
    await refuses(server, () => patch(id, { picture }), 404, 'picture-unknown', field)
    const shop = { method: 'PATCH', body: { picture }, token }
    await refuses(server, () => call(server.url, '/api/shop', shop), 404, 'picture-unknown', field)
  })

  test('is the logo of a shop, for anyone to read', async () => {
    const picture = await hashOf(pngOf(4, 4))
    const changed = await call(server.url, '/api/shop', {
      method: 'PATCH',
      body: { picture },
      token,
    })
    expect(changed.json.picture).toBe(picture)
    expect((await call(server.url, `/api/shops/${signer.pubkey}`)).json.picture).toBe(picture)
  })

  test('has an https address under an https PUBLIC_URL, which is served without a connection', async () => {
    const { url, by, headers } = await startPublic()
    const { picture } = (await call(url, '/api/pictures', { body: samples.webp, token: by })).json
    const address = `https://cupones.example/api/pictures/${sha256Hex(samples.webp)}`
    expect(picture.url).toBe(address)
    const make = async (added: Json) => {
      const body = { name: 'x', benefit: percentBenefit, ...added }
      const {
        image,
        picture: hash,
        id,
      } = (await call(url, '/api/coupons', { body, token: by })).json.coupon
      expect([image, hash]).toEqual([address, picture.hash])
      return id
    }
    await make({ image: address })
    const id = await make({ picture: picture.hash })
    const minted = await mintOne(url, by, id)
    expect(JSON.parse(minted.voucher.content).image).toBe(address)
    const shown = await fetch(`${url}/api/coupons/images/${sha256Hex(address)}`, { headers })
    expect(Buffer.from(await shown.bytes())).toEqual(samples.webp)
    const away = { method: 'PATCH', body: { image: null }, token: by }
    const { coupon } = (await call(url, `/api/coupons/${id}`, away)).json
    expect([coupon.image, coupon.picture]).toEqual([null, undefined])
  })

  test('stays when its own image is sent back after a change of PUBLIC_URL', async () => {
    const before = await startPublic()
    const bytes = { body: samples.png, token: before.by }
    const { hash: picture, url: image } = (await call(before.url, '/api/pictures', bytes)).json
      .picture
    const id = await createDefinition(before.url, before.by, { picture })
    await before.stop()
    const { url, by } = await startPublic({ host: 'otros.example', dataDir: before.dataDir })
    const edit = async (body: Json) => {
      const sent = { method: 'PATCH', body, token: by }
      const { status, json } = await call(url, `/api/coupons/${id}`, sent)
      return [status, json.coupon?.image, json.coupon?.picture]
    }
    expect(await edit({ name: 'Té', image, picture })).toEqual([200, image, picture])
    expect(await edit({ name: 'Mate', image })).toEqual([200, image, picture])
    const address = `https://otros.example/api/pictures/${picture}`
    expect(await edit({ picture })).toEqual([200, address, picture])
  })

  test('is named by every spelling of its address that is answered', async () => {
    const { url, by, enter, headers } = await startPublic()
    const other = await enter(newSigner())
    const upload = { body: samples.png, token: by }
    const { picture } = (await call(url, '/api/pictures', upload)).json
    const origin = 'https://cupones.example'
    const encoded = `%${picture.hash.charCodeAt(0).toString(16)}${picture.hash.slice(1)}`
    const spellings = [picture.hash.toUpperCase(), encoded, `${picture.hash}/`, `./${picture.hash}`]
    for (const path of spellings.map((one) => `/api/pictures/${one}`)) {
      expect((await fetch(url + path, { headers })).status).toBe(200)
      const body = { name: 'x', benefit: percentBenefit, image: origin + path }
      const { coupon } = (await call(url, '/api/coupons', { body, token: by })).json
      expect([coupon.image, coupon.picture]).toEqual([picture.url, picture.hash])
      const refused = await call(url, '/api/coupons', { body, token: other })
      expect([refused.status, refused.json.code]).toEqual([404, 'picture-unknown'])
    }
  })
})

describe('GET /api/pictures/{hash}', () => {
  test('is harmless, public and kept for ever', async () => {
    const { json } = await upload(samples.png)
    const { hash } = json.picture
    const { status, headers } = await show(hash.toUpperCase())
    const header = (name: string) => headers.get(name)
    expect({
      status,
      type: header('content-type'),
      cache: header('cache-control'),
      sniff: header('x-content-type-options'),
      policy: header('content-security-policy'),
      resource: header('cross-origin-resource-policy'),
      origin: header('access-control-allow-origin'),
    }).toEqual({
      status: 200,
      type: 'image/png',
      cache: 'public, max-age=31536000, immutable',
      sniff: 'nosniff',
      policy: "default-src 'none'; sandbox",
      resource: 'cross-origin',
      origin: '*',
    })
    const known = await show(hash, { 'If-None-Match': header('etag') ?? '' })
    expect({ status: known.status, text: await known.text() }).toEqual({ status: 304, text: '' })
    const head = await fetch(`${server.url}/api/pictures/${hash}`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  test('is 404 for a hash that nobody uploaded, and for text that is none', async () => {
    for (const hash of ['0'.repeat(64), 'x']) {
      const ask = () => call(server.url, `/api/pictures/${hash}`)
      await refuses(server, ask, 404, 'picture-unknown')
    }
  })
})
