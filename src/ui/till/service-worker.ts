/**
 * Opens the till and the coupon page without a connection. It caches their files, never an answer of the
 * service. Browsers allow it on https and localhost.
 */

/** The list that the server puts above this script. It changes with every build, so browsers update. */
type Shell = { version: string; pages: string[]; files: string[] }

type LifeEvent = Event & { waitUntil(done: Promise<unknown>): void }
type AskEvent = LifeEvent & { request: Request; respondWith(answer: Promise<Response>): void }
type Scope = {
  SHELL: Shell
  location: Location
  skipWaiting(): Promise<void>
  clients: { claim(): Promise<void> }
  addEventListener(name: 'install' | 'activate', listener: (event: LifeEvent) => void): void
  addEventListener(name: 'fetch', listener: (event: AskEvent) => void): void
}

const scope = globalThis as unknown as Scope
const { SHELL } = scope
const prefix = 'cuponera-'
const cacheName = `${prefix}${SHELL.version}`
/** After this, a page on a slow line comes from the cache. */
const patienceMs = 4000
/** The build before is kept, too: an open page may still load a chunk of it. */
const buildsKept = 2

scope.addEventListener('install', (event) => {
  const keep = async () => {
    const cache = await caches.open(cacheName)
    const wanted = [...SHELL.pages, ...SHELL.files]
    await cache.addAll(wanted.map((path) => new Request(path, { credentials: 'omit' })))
    await scope.skipWaiting()
  }
  event.waitUntil(keep())
})

scope.addEventListener('activate', (event) => {
  const tidy = async () => {
    const names = (await caches.keys()).filter((name) => name.startsWith(prefix))
    const old = names.filter((name) => name !== cacheName).slice(0, -(buildsKept - 1))
    await Promise.all(old.map((name) => caches.delete(name)))
    await scope.clients.claim()
  }
  event.waitUntil(tidy())
})

scope.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== scope.location.origin) return
  const plain = pathname.replace(/\/$/, '')
  // A poster stands on the page of coupons.
  const path = plain.startsWith('/c/p/') ? '/c' : plain
  if (request.mode === 'navigate' && SHELL.pages.includes(path)) {
    event.respondWith(page(request, path))
  } else if (pathname.startsWith('/ui/')) {
    event.respondWith(file(request))
  }
})

/** Network first, so that a new build shows at once; else the cache. */
async function page(request: Request, path: string): Promise<Response> {
  try {
    // A navigation request takes no abort signal, so a slow one is left running.
    const answer = await Promise.race([fetch(request), tooLong()])
    if (answer?.ok) return answer
  } catch {
    // Any failure of the network leads to the cache below.
  }
  return (await caches.match(path, { cacheName })) ?? fetch(request)
}

function tooLong(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), patienceMs))
}

/** Cache first: a name has a hash of the content, so a cached file cannot be stale. */
async function file(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request)
}
