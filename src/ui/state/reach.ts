/** Whether the service can be reached, and requests that tell it apart from a no. */
import { signal } from '@preact/signals'
import { request } from '../../client/api.ts'
import { ApiError } from '../../client/api-error.ts'
import { createAsk } from '../../client/ask.ts'
import { device } from '../browser/storage.ts'
import { errorText } from '../words/errors.ts'

/** False from the first request without an answer until the next one with. */
export const reachable = signal(true)

const lookMs = 10_000
const managerPlace = 'manager'

/** Requests that no failure of the network throws; each tells whether the service is there. */
export const ask = createAsk({
  describe: errorText,
  onReached(reached) {
    reachable.value = reached
  },
})

/** The key that signs vouchers here, kept from when the service could be asked. */
export function managerKey(): string | null {
  return device.read(managerPlace)
}

/** Ask for the manager's key: keeps it, and shows whether anybody answers. */
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

/** Look now, when the network comes back, and every few seconds while nobody answers. */
export function watchService(): void {
  const look = () => void lookForService()
  window.addEventListener('online', look)
  window.addEventListener('offline', look)
  setInterval(() => {
    if (!reachable.peek() && !document.hidden) look()
  }, lookMs)
  look()
}
