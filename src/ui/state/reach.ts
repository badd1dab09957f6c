/** Whether the service can be reached. Requests here update it. */
import { signal } from '@preact/signals'
import { anyone } from '../../client/anyone.ts'
import { ApiError } from '../../client/api-error.ts'
import { createAsk } from '../../client/ask.ts'
import { type Ask, codeOf } from '../../client/persist.ts'
import { device } from '../browser/storage.ts'
import { errorText } from '../words/errors.ts'

/** False from a request without an answer until the next request with one. */
export const reachable = signal(true)

/** True where the service answers that it goes on at another computer. */
export const moved = signal(false)

/** The banner goes within two seconds of the connection's return. */
const lookMs = 1500
/** Bounds the looks at once: a browser opens six connections to a service, and one that hangs must not keep the others. */
const lookPatienceMs = 3 * lookMs
const managerPlace = 'manager'

const askService = createAsk({
  caller: anyone,
  describe: errorText,
  onReached(reached) {
    reachable.value = reached
  },
})

/** Requests of the till and the coupon page. A failure of the network is an answer with status 0. */
export const ask: Ask = async (...asked) => {
  const answer = await askService(...asked)
  if (answer.status !== 0) heard(codeOf(answer))
  return answer
}

/** The service answered; `code`: of its refusal, empty without one. */
export function heard(code: string): void {
  reachable.value = true
  moved.value = code === 'moved'
}

/** The manager's key, pinned at the last contact with the service. */
export function managerKey(): string | null {
  return device.read(managerPlace)
}

/** Fetch and pin the manager's key. Any answer also shows that the service is there. */
async function lookForService(): Promise<void> {
  const before = reachable.peek()
  // A slow network is no reason to report a service as out of reach, only to look again.
  const patience = before ? {} : { timeoutMs: lookPatienceMs }
  try {
    const { pubkey } = await anyone.call('GET /api/coupons/manager', patience)
    heard('')
    device.write(managerPlace, pubkey)
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause
    // Where it was out of reach before this look, a later look may have had its answer already.
    if (cause.reached) heard(cause.code)
    else if (before) reachable.value = false
  }
}

/**
 * Look for the service now, when the network or the page comes back, and every `lookMs` while there is no answer.
 * `asking`: another request of the page asks now.
 */
export function watchService({ asking = false } = {}): void {
  const look = () => void lookForService()
  window.addEventListener('online', look)
  window.addEventListener('offline', look)
  const lookAgain = () => {
    if (!reachable.peek() && !document.hidden) look()
  }
  document.addEventListener('visibilitychange', lookAgain)
  setInterval(lookAgain, lookMs)
  if (!asking) look()
}
