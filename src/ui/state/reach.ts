/** Whether the service can be reached. Requests here update it. */
import { signal } from '@preact/signals'
import { request } from '../../client/api.ts'
import { ApiError } from '../../client/api-error.ts'
import { createAsk } from '../../client/ask.ts'
import { device } from '../browser/storage.ts'
import { errorText } from '../words/errors.ts'

/** False from a request without an answer until the next request with one. */
export const reachable = signal(true)

const lookMs = 10_000
const managerPlace = 'manager'

/** Requests of the till and the coupon page. A failure of the network is an answer with status 0. */
export const ask = createAsk({
  describe: errorText,
  onReached(reached) {
    reachable.value = reached
  },
})

/** The manager's key, pinned at the last contact with the service. */
export function managerKey(): string | null {
  return device.read(managerPlace)
}

/** Fetch and pin the manager's key. Any answer also shows that the service is there. */
async function lookForService(): Promise<void> {
  try {
    const { pubkey } = await request<{ pubkey: string }>('/api/coupons/manager')
    reachable.value = true
    device.write(managerPlace, pubkey)
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause
    reachable.value = cause.code !== 'unreachable'
  }
}

/** Look for the service now, when the network changes, and every `lookMs` while there is no answer. */
export function watchService(): void {
  const look = () => void lookForService()
  window.addEventListener('online', look)
  window.addEventListener('offline', look)
  setInterval(() => {
    if (!reachable.peek() && !document.hidden) look()
  }, lookMs)
  look()
}
