/** The till as an application of the device, where the browser allows it. */
import { signal } from '@preact/signals'

/** Chromium's question, kept for when the person wants it. */
type InstallEvent = Event & { prompt(): Promise<void> }

/** Not null where the browser would install the till now. */
export const installer = signal<InstallEvent | null>(null)
/** True when a new build waits for a reload. */
export const updated = signal(false)

/** Both pages begin with it: the till and the coupons of a device. */
const scope = '/c'

export function canServeOffline(): boolean {
  return window.isSecureContext && 'serviceWorker' in navigator
}

/** Keep the pages' shell for a day without connection; plain http has to do without. */
export async function keepOffline(): Promise<void> {
  if (!canServeOffline()) return
  const { serviceWorker } = navigator
  // A first worker is no news; one that takes over from another is.
  const before = serviceWorker.controller
  serviceWorker.addEventListener('controllerchange', () => {
    if (before) updated.value = true
  })
  try {
    await serviceWorker.register('/sw.js', { scope, updateViaCache: 'none' })
  } catch (cause) {
    // A certificate that is not trusted, or storage that is switched off.
    if (!(cause instanceof DOMException || cause instanceof TypeError)) throw cause
  }
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

/** Whether it runs as an installed application now. */
export function installed(): boolean {
  return window.matchMedia('(display-mode: standalone)').matches
}
