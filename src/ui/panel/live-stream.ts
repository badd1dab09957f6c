import { signal } from '@preact/signals'
import { parseJsonObject } from '../../base/json.ts'
import { limits } from '../../base/limits.ts'
import { openStream } from '../../client/api.ts'
import { ApiError } from '../../client/api-error.ts'
import { loadOverview, overview, session } from './state.ts'

/** What happened to a coupon of ours, as the service tells it. */
type Happening = {
  type: 'minted' | 'claimed' | 'refreshed' | 'voided' | 'coupon'
  couponId: string
  at: number
  handle?: string | null
  count?: number
  mintedBy?: string
}

const keptMax = 30
const retryMs = 2000
const retryMsMax = 30_000
/** Many at once are one reload, and a busy shop is two reloads a second. */
const gatherMs = 150
const gatherMsBusy = 500

/** The latest first. */
export const happenings = signal<readonly Happening[]>([])

/** Counts up with every change: what shows a list loads it again. */
export const changes = signal(0)

/** Whether we hear the service now. */
export const listening = signal(false)

/** Whether the service is out of reach: what shows may be old. */
export const lost = signal(false)

/** Listen until `stop`; whatever breaks is tried again. */
export async function follow(stop: AbortSignal): Promise<void> {
  let wait = retryMs
  while (!stop.aborted) {
    try {
      for await (const { name, data } of openStream(session, '/api/coupons/live', stop)) {
        if (name === 'open') {
          // Nothing was kept for us while we were away.
          if (listening.peek() === false) changed()
          listening.value = true
          lost.value = false
          wait = retryMs
        } else heard(name, data)
      }
    } catch (cause) {
      if (stop.aborted) break
      if (!(cause instanceof ApiError)) throw cause
      if (cause.code === 'signed-out') break
      if (cause.status === 403) {
        // Somebody may enable this key; nothing to hurry for. A merchant who was taken off is told so.
        wait = retryMsMax
        if (overview.peek()) void loadOverview()
      }
      if (cause.code === 'unreachable' || cause.status >= 500) lost.value = true
    }
    listening.value = false
    await paused(wait, stop)
    wait = Math.min(wait * 2, retryMsMax)
  }
  listening.value = false
  lost.value = false
}

function heard(name: string, data: string): void {
  const told = parseJsonObject(data, limits.liveUnreadBytesMax) as Happening | null
  if (name !== 'more' && told) {
    const happening = { ...told, type: name as Happening['type'] }
    happenings.value = [happening, ...happenings.value].slice(0, keptMax)
  }
  changed()
}

let gathering = false
let loadedMs = Number.NEGATIVE_INFINITY

function changed(): void {
  if (gathering) return
  gathering = true
  const busy = performance.now() - loadedMs < gatherMsBusy
  const wait = busy ? gatherMsBusy : gatherMs
  setTimeout(() => {
    gathering = false
    loadedMs = performance.now()
    void loadOverview()
    changes.value++
  }, wait)
}

function paused(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    stop.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
