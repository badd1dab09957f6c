import { computed, signal } from '@preact/signals'
import { parseJsonObject } from '../../base/json.ts'
import { clientLimits } from '../../base/limits-client.ts'
import { openStream } from '../../client/api.ts'
import { ApiError } from '../../client/api-error.ts'
import { reachable } from '../state/reach.ts'
import { changes, listening } from './changes.ts'
import { keepEvent, type LiveEvent } from './live-events.ts'
import { loadOverview, overview, session } from './state.ts'

/** Backoff of reconnects. */
const retryMs = 2000
const retryMsMax = 30_000
/** Debounce: a batch of events is one reload, and a busy shop causes at most two a second. */
const debounceMs = 150
const debounceMsBusy = 500

/** Whether the service answers with a fault. */
const failing = signal(false)
/** Whether no changes arrive, so that the page may be outdated. */
export const outOfReach = computed(() => failing.value || !reachable.value)

/** Follow the live stream until `stop`, and reconnect with backoff. */
export async function follow(stop: AbortSignal): Promise<void> {
  let wait = retryMs
  while (!stop.aborted) {
    try {
      for await (const { name, data } of openStream(session, '/api/coupons/live', stop)) {
        if (name === 'open') {
          // The stream does not repeat missed events, so everything loads again.
          if (listening.peek() === false) changed()
          listening.value = true
          reachable.value = true
          failing.value = false
          wait = retryMs
        } else heard(name, data)
      }
    } catch (cause) {
      if (stop.aborted) break
      if (!(cause instanceof ApiError)) throw cause
      // The person signed out: only a new sign-in starts another stream.
      if (cause.code === 'signed-out') break
      if (cause.status === 403) {
        // This key may not manage (yet), so there is no hurry. A merchant who was removed learns it by the overview.
        wait = retryMsMax
        if (overview.peek()) void loadOverview()
      }
      // Another refusal, such as too many streams, is no reason to call the page outdated.
      failing.value = cause.code !== 'unreachable' && cause.status >= 500
      if (!cause.reached) reachable.value = false
    }
    listening.value = false
    await paused(wait, stop)
    wait = Math.min(wait * 2, retryMsMax)
  }
  listening.value = false
  failing.value = false
}

function heard(name: string, data: string): void {
  const told = parseJsonObject(data, clientLimits.liveUnreadBytesMax) as LiveEvent | null
  // `more` says only that events were left out: the reload below shows their result.
  if (name !== 'more' && told) {
    keepEvent({ ...told, type: name as LiveEvent['type'] })
  }
  changed()
}

let debouncing = false
let loadedMs = Number.NEGATIVE_INFINITY

function changed(): void {
  if (debouncing) return
  debouncing = true
  const busy = performance.now() - loadedMs < debounceMsBusy
  const wait = busy ? debounceMsBusy : debounceMs
  setTimeout(() => {
    debouncing = false
    loadedMs = performance.now()
    void loadOverview()
    changes.value++
  }, wait)
}

/** Resolves after so long, or as soon as the service is back in reach. */
function paused(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let before = reachable.peek()
    const forget = reachable.subscribe((now) => {
      if (now && !before) end()
      before = now
    })
    const timer = setTimeout(end, ms)
    stop.addEventListener('abort', end, { once: true })
    function end() {
      clearTimeout(timer)
      forget()
      stop.removeEventListener('abort', end)
      resolve()
    }
  })
}
