/**
 * Keeps the till and the coupons of a device at hand without a connection: the pages' shell, never an
 * answer of the service. Where browsers allow it, which is https and localhost.
 */

/** What the server writes above this script: it changes with every build, and so the browser updates. */
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
/** A page on a bad line shows from what is kept rather than stay white. */
const patienceMs = 4000
/** A page that is open may still ask for a part of the build it came from. */
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
  const path = pathname.replace(/\/$/, '')
  if (request.mode === 'navigate' && SHELL.pages.includes(path)) {
    event.respondWith(page(request, path))
  } else if (pathname.startsWith('/ui/')) {
    event.respondWith(file(request))
  }
})

/** From the service while it answers, so that a new build shows at once; else as it was kept. */
async function page(request: Request, path: string): Promise<Response> {
  try {
    // A request for a page takes no signal: it is left alone when it takes too long.
    const answer = await Promise.race([fetch(request), tooLong()])
    if (answer?.ok) return answer
  } catch {
    // Out of reach or too slow: whatever a network can do ends here.
  }
  return (await caches.match(path, { cacheName })) ?? fetch(request)
}

function tooLong(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), patienceMs))
}

/** Names carry a hash of the content: what is kept cannot be stale. */
async function file(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request)
}
