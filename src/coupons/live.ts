import type { Clock } from '../base/clock.ts'
import { FairShares } from '../base/fair-shares.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { Jobs } from '../db/jobs.ts'
import { handleText } from './nonce.ts'

/** A committed change of a coupon. Vouchers are named by handle, never by nonce. `at` is Unix seconds. */
export type Change = { owner: string; couponId: string; at: number } & (
  | { type: 'minted'; handle: Uint8Array | null; count: number; mintedBy: string }
  | { type: 'claimed'; handle: Uint8Array; amountMsat: number | null }
  | { type: 'refreshed'; handle: Uint8Array; successor: Uint8Array }
  | { type: 'voided'; handle: Uint8Array | null; count: number }
  | { type: 'coupon' }
)

/** A server-sent event: its name, and its data as JSON. */
type LiveEvent = { name: string; data: string }

type Listener = {
  /** Public key in hex. */
  owner: string
  /** Client address. */
  address: string
  /** End of its credentials, in Unix seconds. */
  until: number
  /** Send events. False if the listener does not keep up; its stream is ended then. */
  send(events: readonly LiveEvent[]): boolean
  /** Called once, when the stream ends for any reason. */
  ended(): void
}

/** The live stream: changes of coupons for the windows of their merchants. */
export type Live = {
  /** Tell the owner's listeners about a change. Call it after the commit only. */
  changed(change: Change): void
  /** Add a listener. The returned function removes it. Refuses `live-full`, `shutting-down`. */
  listen(listener: Listener): () => void
  /** End the streams of a key, or all streams. Clients that are still allowed connect again. */
  hangUp(owner?: string): void
  /** End all streams and refuse new ones. */
  close(): void
}

type LiveParts = { now: Clock; jobs: Jobs; failed: (cause: unknown) => void }

/** Create the live stream of changes. Changes within `liveBatchMs` are sent together: a burst is one write. */
export function createLive({ now, jobs, failed }: LiveParts): Live {
  const byOwner = new Map<string, Map<Listener, () => void>>()
  const shares = new FairShares<Listener>()
  const waiting = new Map<string, Change[]>()
  let closed = false

  const deliver = (owner: string, events: readonly LiveEvent[]) => {
    for (const [listener, end] of byOwner.get(owner) ?? []) if (!listener.send(events)) end()
  }
  /**
   * Make room for a new listener. If its address is over its share, or all together are over the maximum,
   * the fullest address loses the oldest stream of its busiest key. Refusing the newcomer in place of that
   * would let one client keep everybody out.
   */
  const makeRoom = (newcomer: Listener) => {
    const { livePerAddressMax: shareMax, liveMax: max } = limits
    const address = shares.overfull(newcomer.address, shareMax, max)
    if (address === null) return
    const others = shares.itemsOf(address).filter((listener) => listener !== newcomer)
    const keys = Map.groupBy(others, ({ owner }) => owner)
    const [most] = [...keys.values()].sort((one, other) => other.length - one.length)
    const oldest = most?.[0]
    if (oldest) byOwner.get(oldest.owner)?.get(oldest)?.()
  }
  const flush = () => {
    for (const [owner, changes] of waiting) {
      const shown = changes.slice(0, limits.liveBatchMax).map(eventOf)
      if (changes.length > limits.liveBatchMax) shown.push({ name: 'more', data: '{}' })
      deliver(owner, shown)
    }
    waiting.clear()
  }
  const batches = jobs.start({
    async run() {
      flush()
      return undefined
    },
    wakeSeconds: limits.liveBatchMs / 1000,
    failed,
  })
  const beat = jobs.start({
    async run() {
      for (const owner of [...byOwner.keys()]) deliver(owner, [])
      return undefined
    },
    everySeconds: limits.liveBeatSeconds,
    failed,
  })

  return {
    changed(change) {
      if (!byOwner.has(change.owner)) return
      const changes = waiting.get(change.owner)
      if (!changes) waiting.set(change.owner, [change])
      // One change more than a batch shows is kept. It makes `flush` send `more`.
      else if (changes.length <= limits.liveBatchMax) changes.push(change)
      batches.wake()
    },

    listen(listener) {
      if (closed) throw new Refusal('shutting-down', { retryAfter: 5 })
      // The limit of a key refuses. A merchant with eight windows must not lose the oldest one unasked.
      const { owner, until } = listener
      const listeners = byOwner.get(owner) ?? new Map<Listener, () => void>()
      if (listeners.size >= limits.livePerKeyMax) throw new Refusal('live-full', { retryAfter: 30 })
      const end = () => {
        if (!listeners.delete(listener)) return
        shares.remove(listener.address, listener)
        clearTimeout(expiry)
        if (listeners.size === 0) byOwner.delete(owner)
        listener.ended()
      }
      const expiry = setTimeout(end, Math.max(0, until - now()) * 1000)
      listeners.set(listener, end)
      byOwner.set(owner, listeners)
      shares.add(listener.address, listener)
      makeRoom(listener)
      return end
    },

    hangUp(owner) {
      for (const one of owner === undefined ? [...byOwner.keys()] : [owner]) {
        for (const end of [...(byOwner.get(one)?.values() ?? [])]) end()
      }
    },

    close() {
      // Collected changes are still sent, because they are committed already.
      closed = true
      void Promise.all([beat.stop(), batches.stop()])
      flush()
      for (const listeners of [...byOwner.values()]) for (const end of listeners.values()) end()
    },
  }
}

function eventOf({ owner: _, type, ...change }: Change): LiveEvent {
  const named = Object.entries(change).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? handleText(value) : value,
  ])
  return { name: type, data: JSON.stringify(Object.fromEntries(named)) }
}
