import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { NostrEvent } from '../nostr/event.ts'
import { type Filter, parseFilter } from '../nostr/filter.ts'
import { addressOf, expirationOf, newer } from '../nostr/kind-class.ts'
import { kinds } from '../nostr/kinds.ts'
import type { QueryAnswer } from './relays-conversation.ts'
import type { Gateway } from './service.ts'

type Fetched = { events: NostrEvent[]; answered: number; silent: number }

/**
 * Find events that match, in the embedded relay and every relay outside, newest first. `address` is the
 * client's, `gone` is aborted when it has left. Refuses `filter-invalid`, `rate-limited`, `relays-silent`
 * (no relay answered), `relays-refused` (all that answered refused), `overloaded`.
 */
export async function fetchEvents(
  gateway: Gateway,
  value: unknown,
  { address, gone }: { address: string; gone: AbortSignal },
): Promise<Fetched> {
  const filter = parseFilter(value)
  if (!filter) throw new Refusal('filter-invalid')
  const most = Math.min(filter.limit ?? limits.fetchDefault, limits.fetchMax)
  if (most === 0) return { events: [], answered: 0, silent: 0 }
  const asked: Filter = { ...filter, limit: most }
  const end = new AbortController()
  const stop = () => end.abort()
  const timer = setTimeout(stop, limits.fetchSeconds * 1000)
  gone.addEventListener('abort', stop)
  try {
    const outside = gateway.askOutside([asked], { signal: end.signal, most })
    const [local, ...answers] = await Promise.all([
      gateway.local ? within(gateway.local(asked, address), end.signal, outside.length > 0) : [],
      ...outside,
    ])
    requireAnswer(local !== null && gateway.local !== null, answers)
    const silent = answers.filter(({ ended }) => ended === 'silent').length
    const found = [...(local ?? []), ...answers.flatMap(({ events }) => events)]
    // Without the embedded relay, only the relays outside can answer.
    const heard = gateway.local !== null && local !== null && outside.length > 0
    const known = heard ? await withoutSuperseded(gateway, found) : found
    return {
      events: select(known, gateway.now()).slice(0, most),
      answered: answers.length - silent,
      silent,
    }
  } finally {
    clearTimeout(timer)
    gone.removeEventListener('abort', stop)
    // Queries that still run are cancelled.
    stop()
  }
}

/** The value, or null when the signal came first. With `spared` a refusal is null, too. */
function within<T>(promise: Promise<T>, signal: AbortSignal, spared: boolean): Promise<T | null> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve(null)
    signal.addEventListener('abort', () => resolve(null), { once: true })
    promise.then(resolve, (cause: unknown) => {
      // The relay's thread is restarted: the other relays can answer alone.
      if (spared && cause instanceof Refusal) resolve(null)
      else reject(cause)
    })
  })
}

/**
 * Remove events that the embedded relay knows to be deleted or replaced: a relay outside may not know.
 * A few hundred at a time, so that the thread serves others between. Refuses `overloaded`.
 */
async function withoutSuperseded(gateway: Gateway, events: NostrEvent[]): Promise<NostrEvent[]> {
  const once = [...new Map(events.map((event) => [event.id, event])).values()]
  const kept: NostrEvent[] = []
  const end = AbortSignal.timeout(limits.fetchCheckSeconds * 1000)
  for (let at = 0; at < once.length; at += limits.fetchMax) {
    const page = once.slice(at, at + limits.fetchMax)
    const versions = page.map((event) => {
      const { id, pubkey, kind, created_at } = event
      return { id, pubkey, kind, created_at, d: addressOf(event) }
    })
    const superseded = await within(gateway.superseded(versions), end, false)
    if (superseded === null) throw new Refusal('overloaded', { retryAfter: 1 })
    kept.push(...page.filter((_, index) => !superseded[index]))
  }
  return kept
}

function requireAnswer(local: boolean, answers: readonly QueryAnswer[]): void {
  if (local) return
  if (answers.some(({ ended, events }) => ended === 'eose' || events.length > 0)) return
  const refused = answers.some(({ ended }) => typeof ended === 'object')
  throw new Refusal(refused ? 'relays-refused' : 'relays-silent')
}

/** Each event once, without expired and replaced ones, newest first. */
export function select(events: readonly NostrEvent[], now: number): NostrEvent[] {
  const kept = new Map<string, NostrEvent>()
  for (const event of events) {
    const expiration = expirationOf(event)
    if (event.kind === kinds.voucher || (expiration !== null && expiration <= now)) continue
    const d = addressOf(event)
    const place = d === null ? event.id : `${event.kind}:${event.pubkey}:${d}`
    const other = kept.get(place)
    if (!other || newer(event, other)) kept.set(place, event)
  }
  return [...kept.values()].sort((a, b) => (newer(a, b) ? -1 : 1))
}
