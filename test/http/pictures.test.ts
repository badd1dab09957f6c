import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { limits } from '../../src/base/limits.ts'
import {
  call,
  createProof,
  newSigner,
  nostrHeader,
  openSession,
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

  test('names the address under an https PUBLIC_URL', async () => {
    const env = { PUBLIC_URL: 'http://pi.local:3000,https://cupones.example', MERCHANTS: 'open' }
    const { url } = await startServer({ env })
    const by = newSigner()
    const headers = { Host: 'cupones.example', 'X-Forwarded-Proto': 'https' }
    const path = '/api/auth/session'
    const proof = createProof(by, `https://cupones.example${path}`, { method: 'POST' })
    const opened = await call(url, path, {
      method: 'POST',
      headers: { ...headers, Authorization: nostrHeader(proof) },
    })
    const { json } = await call(url, '/api/pictures', {
      body: samples.webp,
      token: opened.json.token,
    })
    const hash = sha256Hex(samples.webp)
    expect(json.picture.url).toBe(`https://cupones.example/api/pictures/${hash}`)
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

  test('refuses other bytes, great sizes and strangers, in their order', async () => {
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

  test('has room for so many bytes of one merchant, and none is taken from another', async () => {
    const by = await openSession(server.url, newSigner())
    const large = () =>
      Buffer.concat([
        samples.jpeg.subarray(0, -2),
        randomBytes(200_000).map((byte) => byte & 0x7f),
        samples.jpeg.subarray(-2),
      ])
    const most = Math.floor(limits.pictureBytesPerOwnerMax / large().length)
    for (let at = 0; at < most; at++) expect((await upload(large(), by)).status).toBe(201)
    await refuses(server, () => upload(large(), by), 409, 'pictures-full')
    expect((await upload(samples.png, by)).status).toBe(201)
    expect((await upload(large())).status).toBe(201)
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
