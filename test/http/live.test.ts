import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { SignJWT } from 'jose'
import { limits } from '../../src/base/limits.ts'
import { Refusal } from '../../src/base/refusal.ts'
import { createLive } from '../../src/coupons/live.ts'
import { liveRoutes } from '../../src/coupons/live-routes.ts'
import type { CouponService } from '../../src/coupons/service.ts'
import { openEventStream } from '../../src/http/event-stream.ts'
import { keepContext, type RequestContext } from '../../src/http/request-context.ts'
import type { Signer } from '../../src/nostr/event.ts'
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
import { briefSeconds, secondsNow } from '../support/clock.ts'
import { aloneJobs, neverFails } from '../support/jobs.ts'
import { cleanUp, startServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const secret = 's'.repeat(32)
let server: TestServer

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT: 'off', SESSION_JWT_SECRET: secret } })
})
afterAll(cleanUp)

type Heard = { name: string; data: Json }

/** A stream as a page reads it: `next` waits for the next event, null at its end. */
async function listen(token: string, at: TestServer = server) {
  const response = await fetch(`${at.url}/api/coupons/live`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    response,
    async next(): Promise<Heard | null> {
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end >= 0) {
          const block = text.slice(0, end)
          text = text.slice(end + 2)
          const [, name = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? []
          if (name !== '') return { name, data: JSON.parse(data) }
          continue
        }
        const { done, value } = (await reader?.read()) ?? { done: true, value: '' }
        if (done) return null
        text += value
      }
    },
    leave: () => reader?.cancel(),
  }
}

/** The same over a socket of its own: `fetch` opens 256 connections at most. */
function listenRaw(token: string, at: TestServer, localAddress: string) {
  const { hostname, port } = new URL(at.url)
  const socket = connect({ port: Number(port), host: hostname, localAddress })
  const opened = Promise.withResolvers<void>()
  const heard = Promise.withResolvers<void>()
  const finished = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<string>()
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString()
    if (/^HTTP\/1.1 200 /.test(text) && text.includes('retry:')) opened.resolve()
    if (text.includes('event: coupon')) heard.resolve()
    if (text.endsWith('\r\n0\r\n\r\n')) finished.resolve()
  })
  socket.on('error', (error) => opened.reject(error))
  socket.on('close', () => ended.resolve(text))
  const head = `GET /api/coupons/live HTTP/1.1\r\nHost: ${hostname}:${port}`
  socket.write(`${head}\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  return {
    opened: opened.promise,
    heard: heard.promise,
    /** The stream came to its end; its connection may stay. */
    finished: finished.promise,
    ended: ended.promise,
  }
}

async function merchant(signer: Signer = newSigner()) {
  return { signer, token: await openSession(server.url, signer) }
}

describe('GET /api/coupons/live', () => {
  test('reports redemptions at tills to the owner, by handle and never by nonce', async () => {
    const { token, signer } = await merchant()
    const stream = await listen(token)
    expect(stream.response.status).toBe(200)
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(stream.response.headers.get('access-control-allow-origin')).toBe('*')
    const couponId = await createDefinition(server.url, token)
    const at = expect.any(Number)
    expect(await stream.next()).toEqual({ name: 'coupon', data: { couponId, at } })

    const first = await mintOne(server.url, token, couponId)
    const [{ handle }] = (await call(server.url, `/api/coupons/${couponId}/mints`, { token })).json
      .mints
    const minted = { couponId, at, handle, count: 1, mintedBy: signer.pubkey }
    expect(await stream.next()).toEqual({ name: 'minted', data: minted })

    const headers = { 'Idempotency-Key': newKey() }
    const moving = { body: { nonce: first.nonce }, headers }
    const { nonce } = (await call(server.url, '/api/coupons/refresh', moving)).json
    await call(server.url, '/api/coupons/refresh', moving)
    const rows = (await call(server.url, `/api/coupons/${couponId}/mints`, { token })).json.mints
    const successor = rows[0].handle
    expect(await stream.next()).toEqual({
      name: 'refreshed',
      data: { couponId, at, handle, successor },
    })

    const claiming = { body: { nonce, amountMsat: 5 } }
    for (const _ of [1, 2]) await call(server.url, '/api/coupons/claim', claiming)
    expect(await stream.next()).toEqual({
      name: 'claimed',
      data: { couponId, at, handle: successor, amountMsat: 5 },
    })

    const many = { body: { couponId, count: 3 }, token, headers: { 'Idempotency-Key': newKey() } }
    const { vouchers } = (await call(server.url, '/api/coupons/mint', many)).json
    await call(server.url, '/api/coupons/mint', many)
    expect((await stream.next())?.data).toMatchObject({ handle: null, count: 3 })
    const remove = { method: 'DELETE', token }
    const path = `/api/coupons/${couponId}/mints`
    await call(server.url, `${path}/${vouchers[0].nonce}`, remove)
    expect((await stream.next())?.data).toMatchObject({ handle: expect.any(String), count: 1 })
    // A refused one in between causes no event.
    await call(server.url, `${path}/${vouchers[0].nonce}`, remove)
    await call(server.url, path, remove)
    expect(await stream.next()).toMatchObject({ name: 'voided', data: { handle: null, count: 2 } })
    await call(server.url, path, remove)
    await call(server.url, `/api/coupons/${couponId}`, {
      method: 'PATCH',
      body: { name: 'T' },
      token,
    })
    expect((await stream.next())?.name).toBe('coupon')
    await call(server.url, `/api/coupons/${couponId}`, { method: 'DELETE', token })
    expect((await stream.next())?.name).toBe('coupon')
    await stream.leave()
  })

  test('reports mints of its minters to the owner, and to nobody else', async () => {
    const { token } = await merchant()
    const stranger = await merchant()
    const minter = await merchant()
    const couponId = await createDefinition(server.url, token)
    const body = { pubkey: minter.signer.pubkey }
    await call(server.url, '/api/coupons/minters', { body, token })
    const streams = [await listen(token), await listen(stranger.token), await listen(minter.token)]
    await mintOne(server.url, minter.token, couponId)
    expect(await streams[0]?.next()).toMatchObject({
      name: 'minted',
      data: { couponId, mintedBy: minter.signer.pubkey },
    })
    // The first event of the others is their own.
    for (const [index, { token: own }] of [stranger, minter].entries()) {
      const theirs = await createDefinition(server.url, own)
      expect((await streams[index + 1]?.next())?.data.couponId).toBe(theirs)
    }
    for (const stream of streams) await stream.leave()
  })

  test('a signature opens one stream, and a repetition takes no place', async () => {
    const { signer, token } = await merchant()
    const url = `${server.url}/api/coupons/live`
    const headers = { Authorization: nostrHeader(createProof(signer, url)) }
    const first = await fetch(url, { headers })
    expect(first.status).toBe(200)
    for (let asked = 0; asked < limits.livePerKeyMax; asked++) {
      const again = await call(server.url, '/api/coupons/live', { headers })
      expect([again.status, again.json.reason]).toEqual([401, 'replay'])
    }
    const another = await listen(token)
    expect(another.response.status).toBe(200)
    await another.leave()
    await first.body?.cancel()
  })

  test('a HEAD is answered without taking a place', async () => {
    const { token } = await merchant()
    const headers = { Authorization: `Bearer ${token}` }
    for (let asked = 0; asked < limits.livePerKeyMax + 2; asked++) {
      const url = `${server.url}/api/coupons/live`
      const { status } = await fetch(url, { method: 'HEAD', headers })
      expect(status).toBe(200)
    }
  })

  test('a key that may not manage may not listen', async () => {
    const closed = await startServer({ env: { MERCHANTS: newSigner().pubkey } })
    const token = await openSession(closed.url, newSigner())
    const answer = await call(closed.url, '/api/coupons/live', { token })
    expect([answer.status, answer.json.code]).toEqual([403, 'merchant-not-allowed'])
    await closed.stop()
  })

  test('does not open for a session that ends during the request', async () => {
    const caller = { pubkey: newSigner().pubkey, beganAt: 0, until: 1, spend: undefined }
    const ended = () => {
      throw new Refusal('auth-session-expired')
    }
    let listeners = 0
    const live = {
      ...createLive({ now: () => 0, jobs: aloneJobs, failed: neverFails }),
      listen: () => {
        listeners++
        return () => undefined
      },
    }
    const ask = async (requireOpen: () => void) => {
      const answered = async () => caller
      const auth = { any: answered, signed: answered, optional: answered, requireOpen }
      const database = { snapshot: async (query: (tx: object) => unknown) => query({}) }
      const service = {
        database,
        requireMerchant: async () => undefined,
      } as unknown as CouponService
      const route = liveRoutes(service, auth, live)
      const request = new Request('http://localhost/api/coupons/live')
      keepContext(request, { address: '127.0.0.1' } as RequestContext)
      return (await route.handle(request)).ok
    }
    expect([await ask(ended), listeners]).toEqual([false, 0])
    expect([await ask(() => undefined), listeners]).toEqual([true, 1])
    live.close()
  })

  test('ends with the session', async () => {
    const token = await new SignJWT()
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(newSigner().pubkey)
      .setExpirationTime(secondsNow() + briefSeconds)
      .sign(new TextEncoder().encode(secret))
    const stream = await listen(token)
    expect(stream.response.status).toBe(200)
    expect(await stream.next()).toBeNull()
    const answer = await call(server.url, '/api/coupons/live', { token })
    expect([answer.status, answer.json.reason]).toEqual([401, 'session-expired'])
  })

  test('has eight places for a key; a closed one is free again', async () => {
    const { token } = await merchant()
    const streams = await Promise.all(
      Array.from({ length: limits.livePerKeyMax }, () => listen(token)),
    )
    expect(streams.map(({ response }) => response.status)).toEqual(streams.map(() => 200))
    const answer = await call(server.url, '/api/coupons/live', { token })
    expect([answer.status, answer.json.code, answer.json.retryAfter]).toEqual([
      429,
      'live-full',
      30,
    ])
    await streams.pop()?.leave()
    // The server hears of it when the connection is closed.
    let next = await listen(token)
    while (next.response.status === 429) next = await listen(token)
    expect(next.response.status).toBe(200)
    for (const stream of [...streams, next]) await stream.leave()
  })

  test('has five hundred places in all; one more takes a place of the key with the most', async () => {
    const full = await startServer({ env: { RATE_LIMIT: 'off' } })
    const keys = Array.from({ length: Math.ceil(limits.liveMax / limits.livePerKeyMax) + 1 }, () =>
      newSigner(),
    )
    const tokens = await Promise.all(keys.map((key) => openSession(full.url, key)))
    const places = tokens.flatMap((token) => Array<string>(limits.livePerKeyMax).fill(token))
    const from = (at: number) => `127.0.0.${2 + Math.floor(at / limits.livePerAddressMax)}`
    const open = (token: string, at: number) => listenRaw(token, full, from(at))
    // The oldest stream of the first key is the one that goes: the others must come behind it.
    const oldest = open(places[0] as string, 0)
    await oldest.opened
    const others = places.slice(1, limits.liveMax).map((token, at) => open(token, at + 1))
    const streams = [oldest, ...others]
    await Promise.all(streams.map(({ opened }) => opened))
    const gone: number[] = []
    for (const [at, { finished }] of streams.entries()) void finished.then(() => gone.push(at))
    const last = listenRaw(tokens.at(-1) as string, full, '127.0.0.9')
    await last.opened
    await until('one stream is ended', () => gone.length > 0)
    expect(gone).toEqual([0])
    const [first] = tokens as [string]
    await createDefinition(full.url, first)
    await Promise.all(streams.slice(1, 8).map(({ heard }) => heard))
    expect(await full.stop()).toBe(0)
    // Ended in good order, not cut off: the last chunk is the empty one.
    const texts = await Promise.all([...streams, last].map(({ ended }) => ended))
    expect(texts.filter((text) => !text.endsWith('\r\n0\r\n\r\n'))).toEqual([])
  })

  test('an address that opens all it can leaves room for its neighbours and for others', async () => {
    const full = await startServer({ env: { RATE_LIMIT: 'off' } })
    const shop = await openSession(full.url, newSigner())
    const ours = listenRaw(shop, full, '127.0.0.2')
    await ours.opened
    for (const from of ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']) {
      const keys = Array.from({ length: Math.ceil(limits.liveMax / limits.livePerKeyMax / 4) + 1 })
      const tokens = await Promise.all(keys.map(() => openSession(full.url, newSigner())))
      const greedy = tokens.flatMap((token) =>
        Array.from({ length: limits.livePerKeyMax }, () => listenRaw(token, full, from)),
      )
      await Promise.all(greedy.map(({ opened }) => opened))
    }
    const more = ['127.0.0.2', '127.0.0.9'].map((from) => listenRaw(shop, full, from))
    await Promise.all(more.map(({ opened }) => opened))
    await createDefinition(full.url, shop)
    await Promise.all([ours, ...more].map(({ heard }) => heard))
    await full.stop()
  })
})

describe('the hub', () => {
  const owner = 'a'.repeat(64)
  const change = (at: number) => ({ type: 'coupon' as const, owner, couponId: 'c', at })

  test('sends a hundred events of a burst, then tells that there were more', async () => {
    const live = createLive({ now: () => 0, jobs: aloneJobs, failed: neverFails })
    const heard: string[] = []
    const all = Promise.withResolvers<void>()
    live.listen({
      owner,
      address: 'a',
      until: 1000,
      send(events) {
        heard.push(...events.map(({ name }) => name))
        if (heard.includes('more')) all.resolve()
        return true
      },
      ended: () => undefined,
    })
    for (let at = 0; at < 5000; at++) live.changed(change(at))
    await all.promise
    expect(heard).toEqual([...Array(limits.liveBatchMax).fill('coupon'), 'more'])
    live.close()
  })

  test('disconnects a slow listener, and the others go on', async () => {
    const live = createLive({ now: () => 0, jobs: aloneJobs, failed: neverFails })
    const ended: string[] = []
    const heard = Promise.withResolvers<void>()
    const join = (name: string, send: () => boolean) =>
      live.listen({ owner, address: 'a', until: 1000, send, ended: () => ended.push(name) })
    join('slow', () => false)
    join('quick', () => {
      heard.resolve()
      return true
    })
    live.changed(change(1))
    await heard.promise
    expect(ended).toEqual(['slow'])
    live.close()
    expect(ended).toEqual(['slow', 'quick'])
    expect(() => join('late', () => true)).toThrow('shutting-down')
  })
})

describe('a client that does not read', () => {
  test('is disconnected after a bounded number of bytes, and uses no more memory than that', async () => {
    const stream = openEventStream()
    const served = Bun.serve({ port: 0, fetch: () => stream.response })
    const socket = connect(served.port as number, '127.0.0.1')
    socket.on('error', () => undefined)
    await new Promise<void>((resolve) => socket.once('connect', resolve))
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    socket.pause()
    const event = { name: 'coupon', data: 'x'.repeat(10_000) }
    let sent = 0
    while (stream.send([event])) {
      sent += event.data.length
      if (sent % 50_000 === 0) await Bun.sleep(1)
    }
    // The buffers of the kernel on both sides, and ours.
    expect(sent).toBeLessThan(64 * 1024 * 1024)
    expect(stream.send([event])).toBe(false)
    socket.destroy()
    await served.stop(true)
  })
})
