/** The pages that a device keeps for use without a connection, and the addresses in links of coupons. */
import { afterAll, expect, test } from 'bun:test'
import { createContext, runInContext } from 'node:vm'
import { createWorker } from '../../src/ui/app-files.ts'
import { bundlePages } from '../../src/ui/bundle.ts'
import { createPage } from '../../src/ui/page.ts'
import { call } from '../support/client.ts'
import { cleanUp, startServer } from '../support/server.ts'

afterAll(cleanUp)

const bundle = await bundlePages()
const worker = createWorker(bundle)
const origin = 'http://127.0.0.1:3000'

type Listener = (event: Record<string, unknown>) => void

/** The worker in a browser of our own: its caches, and a network that can be cut. */
function openWorker(script = worker, kept = new Map<string, Map<string, string>>()) {
  const listeners = new Map<string, Listener>()
  const network = { up: true, asked: [] as string[] }
  const answer = (request: Request | string) => {
    const { pathname } = new URL(typeof request === 'string' ? request : request.url, origin)
    network.asked.push(pathname)
    if (!network.up) return Promise.reject(new TypeError('no network'))
    return Promise.resolve(new Response(`fresh ${pathname}`))
  }
  const match = (request: Request | string, names: Iterable<string>) => {
    const { pathname } = new URL(typeof request === 'string' ? request : request.url, origin)
    for (const name of names) {
      const text = kept.get(name)?.get(pathname)
      if (text !== undefined) return Promise.resolve(new Response(text))
    }
    return Promise.resolve(undefined)
  }
  const caches = {
    open(name: string) {
      const cache = kept.get(name) ?? new Map<string, string>()
      kept.set(name, cache)
      const addAll = (requests: Request[]) => {
        for (const { url } of requests) cache.set(new URL(url).pathname, 'kept')
        return Promise.resolve()
      }
      return Promise.resolve({ addAll })
    },
    keys: () => Promise.resolve([...kept.keys()]),
    delete: (name: string) => Promise.resolve(kept.delete(name)),
    match: (request: Request | string, options: { cacheName?: string } = {}) =>
      match(request, options.cacheName ? [options.cacheName] : kept.keys()),
  }
  class Asked extends Request {
    constructor(path: string, init?: RequestInit) {
      super(new URL(path, origin), init)
    }
  }
  const scope: Record<string, unknown> = {
    ...{ caches, fetch: answer, Request: Asked, Response, URL, setTimeout, location: { origin } },
    addEventListener: (name: string, listener: Listener) => listeners.set(name, listener),
    skipWaiting: () => Promise.resolve(),
    clients: { claim: () => Promise.resolve() },
  }
  scope.self = scope
  runInContext(script, createContext(scope))
  const live = async (name: string) => {
    let done: unknown
    listeners.get(name)?.({ waitUntil: (promise: unknown) => (done = promise) })
    await done
  }
  /** The answer of the worker; null where it leaves the request to the browser. */
  const ask = async (path: string, init: { method?: string; navigate?: boolean } = {}) => {
    const { method = 'GET', navigate = false } = init
    let reply: Promise<Response> | null = null
    listeners.get('fetch')?.({
      request: { method, url: `${origin}${path}`, mode: navigate ? 'navigate' : 'cors' },
      respondWith: (promise: Promise<Response>) => (reply = promise),
    })
    return reply === null ? null : (await (reply as Promise<Response>)).text()
  }
  return { kept, network, live, ask }
}

test('pages come from the service while it answers, and from the device otherwise', async () => {
  const { live, ask, network } = openWorker()
  await live('install')
  expect(await ask('/caja', { navigate: true })).toBe('fresh /caja')
  network.up = false
  expect(await ask('/caja', { navigate: true })).toBe('kept')
  expect(await ask('/c/', { navigate: true })).toBe('kept')
  // A poster is on the page of coupons, which shows the one that was taken from it.
  expect(await ask('/c/p/01a1fe7c-3b10-7a52-9c1e-52d0a6f7e318', { navigate: true })).toBe('kept')
  expect(await ask('/c/q', { navigate: true })).toBeNull()
  expect(await ask(bundle.pages.caja.style)).toBe('kept')
})

test('the worker leaves answers of the API alone', async () => {
  const { live, ask } = openWorker()
  await live('install')
  for (const path of ['/api/coupons/manager', '/api/coupons/claim', '/nostr/fetch', '/metrics']) {
    expect(await ask(path)).toBeNull()
  }
  expect(await ask('/panel', { navigate: true })).toBeNull()
  expect(await ask('/caja', { method: 'POST', navigate: true })).toBeNull()
})

test('both pages are cached whole, with the parts that load later', () => {
  const { kept } = openWorker()
  expect(kept.size).toBe(0)
  const wanted = [bundle.pages.caja, bundle.pages.c].flatMap(({ scripts, parts }) => {
    return [...scripts, ...parts]
  })
  expect(wanted.filter((path) => !bundle.offline.includes(path))).toEqual([])
  // The reader of QR codes is a part of its own, loaded when a camera or a photo needs it.
  const reader = Object.entries(bundle.files).filter(([name, { gzip }]) => {
    const text = new TextDecoder().decode(Bun.gunzipSync(Uint8Array.fromBase64(gzip)))
    return name.endsWith('.js') && text.includes('finder')
  })
  expect(reader.some(([name]) => bundle.offline.includes(`/ui/${name}`))).toBe(true)
})

test('a new build replaces the old ones, except the one that an open page may use', async () => {
  const kept = new Map<string, Map<string, string>>()
  for (const build of ['one', 'two', 'three']) {
    const caja = { ...bundle.pages.caja, style: `/ui/style-${build}.css` }
    const script = createWorker({ ...bundle, pages: { ...bundle.pages, caja } })
    await openWorker(script, kept).live('install')
    await openWorker(script, kept).live('activate')
  }
  expect(kept.size).toBe(2)
  kept.set('of-somebody-else', new Map())
  await openWorker(worker, kept).live('activate')
  expect([...kept.keys()]).toContain('of-somebody-else')
})

test('links of coupons use the public address, signers a relay, and phones avoid an untrusted certificate', async () => {
  const nowhere = { couponOrigin: null, relay: null, httpPort: null, admission: null }
  const at = (httpPort: number | null) => createPage('caja', bundle, { ...nowhere, httpPort }).html
  const plain = at(null)
  expect(plain).toContain('<html lang="es-AR" data-page="caja"')
  expect(plain).not.toMatch(/data-(coupon-origin|http-port)/)
  expect(at(3000)).toContain('data-http-port="3000"')
  const panel = (relay: string | null) => createPage('panel', bundle, { ...nowhere, relay }).html
  expect(panel(null)).not.toContain('data-relay')
  expect(panel('wss://a.example/"x')).toContain('data-relay="wss://a.example/&quot;x"')
  const { url } = await startServer({ env: { PUBLIC_URL: 'https://cupones.example' } })
  const { text } = await call(url, '/c')
  expect(text).toContain('data-coupon-origin="https://cupones.example"')
})
