import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../src/base/limits.ts'
import { openImageFiles } from '../../src/coupons/image-files.ts'
import { imageKind } from '../../src/coupons/image-type.ts'
import { shopCertificate } from '../support/certificates.ts'
import {
  call,
  createDefinition,
  mintOne,
  newSigner,
  openSession,
  sha256Hex,
} from '../support/client.ts'
import { loopbackProgram } from '../support/program.ts'
import { callRaw } from '../support/raw.ts'
import { expectRefusal } from '../support/refusals.ts'
import { cleanUp, newDirectory, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const samples: Record<string, [type: string, bytes: Buffer<ArrayBuffer>]> = {
  '/a.png': ['image/png', png],
  '/a.jpg': ['image/jpeg', Buffer.from('ffd8ffe000104a464946', 'hex')],
  '/a.gif': ['image/gif', Buffer.from('GIF89a...')],
  '/a.webp': ['image/webp', Buffer.from('RIFF....WEBPVP8 ')],
  '/a.avif': ['image/avif', Buffer.from('....ftypavif....')],
}

/** The far side: the requests that it got, and its answers. */
const asked: string[] = []
let held: Promise<void> | null = null
let far: ReturnType<typeof Bun.serve>
let server: TestServer
let token: string
const command = loopbackProgram
const env = { RATE_LIMIT: 'off' }

beforeAll(async () => {
  far = Bun.serve({
    port: 0,
    tls: shopCertificate,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      asked.push(`${pathname} ${request.headers.get('accept')}`)
      await held
      const sample = samples[pathname]
      // The bytes decide, whatever type the far side declares.
      if (sample) return new Response(sample[1], { headers: { 'Content-Type': 'text/html' } })
      if (pathname === '/big.png') return new Response(Buffer.alloc(limits.imageBytesMax + 1, png))
      if (pathname === '/moved.png') return Response.redirect('https://shop.test/a.png')
      if (pathname === '/a.svg') return new Response('<svg xmlns="http://www.w3.org/2000/svg"/>')
      if (pathname === '/a.html') return new Response('<script>1</script>')
      return new Response('no', { status: 404 })
    },
  })
  server = await startServer({ command, env })
  token = await openSession(server.url, newSigner())
})
afterAll(async () => {
  await far.stop(true)
  await cleanUp()
})

const urlOf = (path: string) => `https://shop.test:${far.port}${path}`
const askedFor = (path: string) => asked.filter((one) => one.startsWith(`${path} `)).length
const define = (path: string) => createDefinition(server.url, token, { image: urlOf(path) })
const routeOf = (path: string) => `/api/coupons/images/${sha256Hex(urlOf(path))}`

async function get(path: string, base = server.url) {
  const response = await fetch(`${base}${routeOf(path)}`)
  return { response, bytes: await response.bytes() }
}

describe('GET /api/coupons/images/{hash}', () => {
  for (const [path, [type, bytes]] of Object.entries(samples)) {
    test(`serves ${type} with the type of its bytes, harmless and cacheable, fetched once`, async () => {
      await define(path)
      for (const _ of [1, 2, 3]) {
        const { response, bytes: got } = await get(path)
        expect([response.status, Buffer.from(got)]).toEqual([200, Buffer.from(bytes)])
        const header = (name: string) => response.headers.get(name)
        expect({
          type: header('content-type'),
          sniff: header('x-content-type-options'),
          policy: header('content-security-policy'),
          cache: header('cache-control'),
          origin: header('access-control-allow-origin'),
        }).toEqual({
          type,
          sniff: 'nosniff',
          policy: "default-src 'none'; sandbox",
          cache: 'public, max-age=86400',
          origin: '*',
        })
      }
      expect(asked.filter((one) => one.startsWith(`${path} `))).toEqual([
        `${path} image/avif,image/webp,image/png,image/jpeg,image/gif`,
      ])
    })
  }

  for (const path of ['/a.svg', '/a.html', '/big.png', '/moved.png', '/none.png']) {
    test(`refuses ${path}, and asks for it once a minute`, async () => {
      await define(path)
      for (const _ of [1, 2, 3]) {
        const answer = await call(server.url, routeOf(path))
        expectRefusal(answer, 502, 'image-unavailable', { retry: true })
        expect(answer.json.retryAfter).toBeLessThanOrEqual(limits.imageFailureSeconds)
      }
      expect(askedFor(path)).toBe(1)
    })
  }

  test('simultaneous requests fetch a picture once', async () => {
    samples['/crowd.png'] = ['image/png', png]
    await define('/crowd.png')
    const gate = Promise.withResolvers<void>()
    held = gate.promise
    const crowd = Array.from({ length: 50 }, () => get('/crowd.png'))
    await until('the far side is asked', () => askedFor('/crowd.png') > 0)
    gate.resolve()
    held = null
    const statuses = (await Promise.all(crowd)).map(({ response }) => response.status)
    expect([statuses, askedFor('/crowd.png')]).toEqual([Array(50).fill(200), 1])
  })

  test('four slow hosts delay their own pictures and no other', async () => {
    const gate = Promise.withResolvers<void>()
    let begun = 0
    const slow = [1, 2, 3, 4].map(() =>
      Bun.serve({
        port: 0,
        tls: shopCertificate,
        fetch() {
          begun += 1
          return gate.promise.then(() => new Response(png))
        },
      }),
    )
    const held = slow.flatMap(({ port }) =>
      Array.from({ length: 8 }, (_, at) => `https://shop.test:${port}/${at}.png`),
    )
    for (const image of held) await createDefinition(server.url, token, { image })
    const waiting = held.map((image) => call(server.url, `/api/coupons/images/${sha256Hex(image)}`))
    await until('all four hosts are asked', () => begun >= 4)
    samples['/quick.png'] = ['image/png', png]
    const other = await openSession(server.url, newSigner())
    await createDefinition(server.url, other, { image: urlOf('/quick.png') })
    const quick = await callRaw(server.url, { target: routeOf('/quick.png'), from: '127.0.0.7' })
    expect(quick.status).toBe(200)
    gate.resolve()
    const statuses = (await Promise.all(waiting)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200]))
    for (const one of slow) await one.stop(true)
  })

  test('fetches only pictures that a definition or a voucher names', async () => {
    const nobody = await call(server.url, routeOf('/unnamed.png'))
    expectRefusal(nobody, 404, 'image-unknown')
    for (const hash of ['x', 'a'.repeat(63), 'g'.repeat(64)]) {
      const answer = await call(server.url, `/api/coupons/images/${hash}`)
      expectRefusal(answer, 404, 'image-unknown')
    }
    expect(askedFor('/unnamed.png')).toBe(0)
  })

  test('a picture that no definition names any more is 404, one that a voucher names is not', async () => {
    for (const path of ['/1.png', '/2.png', '/3.png', '/4.png']) samples[path] = ['image/png', png]
    const known = async (path: string) => (await get(path)).response.status === 200
    const edit = (id: string, image: string | null) =>
      call(server.url, `/api/coupons/${id}`, { method: 'PATCH', body: { image }, token })
    const id = await define('/1.png')
    const twin = await define('/1.png')
    await edit(id, urlOf('/2.png'))
    expect([await known('/1.png'), await known('/2.png')]).toEqual([true, true])
    await call(server.url, `/api/coupons/${twin}`, { method: 'DELETE', token })
    expect([await known('/1.png'), await known('/2.png')]).toEqual([false, true])
    await mintOne(server.url, token, id)
    await edit(id, urlOf('/3.png'))
    await edit(id, null)
    expect([await known('/2.png'), await known('/3.png')]).toEqual([true, false])
  })

  test('a file deleted by hand while the service runs is fetched again', async () => {
    samples['/gone.png'] = ['image/png', png]
    await define('/gone.png')
    expect((await get('/gone.png')).response.status).toBe(200)
    rmSync(join(server.dataDir, 'images', `${sha256Hex(urlOf('/gone.png'))}.png`))
    const { response, bytes } = await get('/gone.png')
    expect([response.status, Buffer.from(bytes)]).toEqual([200, png])
    // The same when the directory is missing.
    rmSync(join(server.dataDir, 'images'), { recursive: true })
    expect((await get('/gone.png')).response.status).toBe(200)
    expect(askedFor('/gone.png')).toBe(3)
  })

  test('is stored over a restart, and in no backup', async () => {
    const dataDir = newDirectory()
    const first = await startServer({ command, env, dataDir })
    const own = await openSession(first.url, newSigner())
    samples['/kept.png'] = ['image/png', png]
    await createDefinition(first.url, own, { image: urlOf('/kept.png') })
    expect((await get('/kept.png', first.url)).response.status).toBe(200)
    await first.stop()
    const [file = ''] = readdirSync(join(dataDir, 'images'))
    expect(file).toBe(`${sha256Hex(urlOf('/kept.png'))}.png`)
    expect(statSync(join(dataDir, 'images', file)).mode & 0o777).toBe(0o600)
    const second = await startServer({ command, env, dataDir })
    expect((await get('/kept.png', second.url)).response.status).toBe(200)
    expect(askedFor('/kept.png')).toBe(1)
    await second.stop()
  })
})

describe('the store of pictures', () => {
  const kind = imageKind(png)
  if (!kind) throw new Error('a picture is none')
  const hash = (letter: string) => letter.repeat(64)

  test('never exceeds its size: the least recently used go first', async () => {
    const directory = join(newDirectory(), 'images')
    const files = openImageFiles(directory, 250)
    const bytes = Buffer.alloc(100, png)
    await files.put(hash('a'), kind, bytes)
    await files.put(hash('b'), kind, bytes)
    files.find(hash('a'))
    await files.put(hash('c'), kind, bytes)
    expect(new Set(readdirSync(directory))).toEqual(
      new Set([`${hash('a')}.png`, `${hash('c')}.png`]),
    )
    expect(files.find(hash('b'))).toBeNull()
    // A picture larger than the whole store is still served, and not stored.
    await files.put(hash('d'), kind, Buffer.alloc(300, png))
    expect(readdirSync(directory)).toEqual([`${hash('d')}.png`])
  })

  test('finds its files at the start, in the order of age, and removes half-written ones', async () => {
    const directory = join(newDirectory(), 'images')
    mkdirSync(directory)
    for (const [letter, age] of [
      ['a', 100],
      ['b', 300],
      ['c', 200],
    ] as const) {
      const path = join(directory, `${hash(letter)}.png`)
      writeFileSync(path, Buffer.alloc(100, png))
      utimesSync(path, age, age)
    }
    writeFileSync(join(directory, `${hash('d')}.png.new`), 'half')
    writeFileSync(join(directory, 'notes.txt'), 'not ours')
    const files = openImageFiles(directory, 300)
    await files.put(hash('e'), kind, Buffer.alloc(150, png))
    expect(new Set(readdirSync(directory))).toEqual(
      new Set([`${hash('b')}.png`, `${hash('e')}.png`, 'notes.txt']),
    )
  })

  test('accepts only bytes that begin like a picture', () => {
    for (const text of ['', '<svg', '%PDF-1.7', 'GIF88a', 'RIFF....WAVE', '....ftypmp42', 'BM....'])
      expect(imageKind(Buffer.from(text))).toBeNull()
  })
})
