/** Installation of the till as an application, and its service worker. */
import { signal } from '@preact/signals'
import { fetchPage } from '../../client/api.ts'

/** The event of Chromium that can show its install dialog later. */
type InstallEvent = Event & { prompt(): Promise<void> }

/** Not null while the browser offers to install the till. */
export const installer = signal<InstallEvent | null>(null)
/** True when a new build waits for a reload. */
export const updated = signal(false)

/** Prefix of both pages, `/caja` and `/c`. */
const scope = '/c'

export function canServeOffline(): boolean {
  return window.isSecureContext && 'serviceWorker' in navigator
}

/** Register the service worker, by which the pages open without a connection. Plain http has none. */
export async function keepOffline(): Promise<void> {
  if (!canServeOffline()) return
  const { serviceWorker } = navigator
  // Only a worker that replaces another means a new build.
  const before = serviceWorker.controller
  serviceWorker.addEventListener('controllerchange', async () => {
    if (before) updated.value = await isOld()
  })
  try {
    await serviceWorker.register('/sw.js', { scope, updateViaCache: 'none' })
  } catch (cause) {
    // The certificate is not trusted, or storage is switched off.
    if (!(cause instanceof DOMException || cause instanceof TypeError)) throw cause
  }
}

/**
 * Whether the service has another build of this page. A page that was loaded after the upgrade is the new one
 * already, though its worker comes a moment later.
 */
async function isOld(): Promise<boolean> {
  const files = [...document.querySelectorAll('script[src], link[rel=stylesheet]')].flatMap(
    (one) => one.getAttribute('src') ?? one.getAttribute('href') ?? [],
  )
  const page = await fetchPage(location.pathname)
  // Without a connection a reload would show nothing new.
  return page !== null && files.some((path) => !page.includes(path))
}

export function waitForInstaller(): void {
  window.addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault()
    installer.value = event as InstallEvent
  })
  window.addEventListener('appinstalled', () => {
    installer.value = null
  })
}

export async function install(): Promise<void> {
  await installer.peek()?.prompt()
  installer.value = null
}

/** Whether this page runs as an installed application. */
export function installed(): boolean {
  return window.matchMedia('(display-mode: standalone)').matches
}
