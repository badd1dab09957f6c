import type { Clock } from '../base/clock.ts'
import { Crowd } from '../base/crowd.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { handleText } from './nonce.ts'

/** Something that happened to a coupon and is on disk. It names vouchers by handle, never by nonce. */
export type Change = { owner: string; couponId: string; at: number } & (
  | { type: 'minted'; handle: Uint8Array | null; count: number; mintedBy: string }
  | { type: 'claimed'; handle: Uint8Array; amountMsat: number | null }
  | { type: 'refreshed'; handle: Uint8Array; successor: Uint8Array }
  | { type: 'voided'; handle: Uint8Array | null; count: number }
  | { type: 'coupon' }
)

/** What a listener is sent: a name, and JSON. */
type LiveEvent = { name: string; data: string }

type Listener = {
  /** Hex. */
  owner: string
  /** The client's. */
  address: string
  /** Unix seconds: its credentials end here. */
  until: number
  /** False when the listener does not keep up, and is let go. */
  send(events: readonly LiveEvent[]): boolean
  /** Called once, whoever ends it. */
  ended(): void
}

export type Live = {
  /** Tell the owner's listeners; costs next to nothing when nobody listens. After the commit. */
  changed(change: Change): void
  /** Listen, until the function that comes back is called. Refuses `live-full`. */
  listen(listener: Listener): () => void
  /** End the streams of a key, or all: whoever still may listens again. */
  hangUp(owner?: string): void
  /** End all, and take no more. */
  close(): void
}

/** Hands what was committed to who listens: at once for a person, in batches for a burst. */
export function createLive(now: Clock): Live {
  const byOwner = new Map<string, Map<Listener, () => void>>()
  const crowd = new Crowd<Listener>()
  const waiting = new Map<string, Change[]>()
  let closed = false
  let flushing: ReturnType<typeof setTimeout> | null = null

  const deliver = (owner: string, events: readonly LiveEvent[]) => {
    for (const [listener, end] of byOwner.get(owner) ?? []) if (!listener.send(events)) end()
  }
  /**
   * A newcomer is served: where an address holds its share, or the most of all, the key with the most
   * streams there loses its oldest.
   */
  const makeRoom = (newcomer: Listener) => {
    const { livePerAddressMax: shareMax, liveMax: max } = limits
    const address = crowd.overfull(newcomer.address, shareMax, max)
    if (address === null) return
    const others = crowd.itemsOf(address).filter((listener) => listener !== newcomer)
    const keys = Map.groupBy(others, ({ owner }) => owner)
    const [most] = [...keys.values()].sort((one, other) => other.length - one.length)
    const oldest = most?.[0]
    if (oldest) byOwner.get(oldest.owner)?.get(oldest)?.()
  }
  const flush = () => {
    flushing = null
    for (const [owner, changes] of waiting) {
      const shown = changes.slice(0, limits.liveBatchMax).map(eventOf)
      if (changes.length > limits.liveBatchMax) shown.push({ name: 'more', data: '{}' })
      deliver(owner, shown)
    }
    waiting.clear()
  }
  const beat = setInterval(() => {
    for (const owner of [...byOwner.keys()]) deliver(owner, [])
  }, limits.liveBeatSeconds * 1000)
  // A start that fails must not wait for it.
  beat.unref()

  return {
    changed(change) {
      if (!byOwner.has(change.owner)) return
      const changes = waiting.get(change.owner)
      if (!changes) waiting.set(change.owner, [change])
      // One beyond what is shown: that there was more.
      else if (changes.length <= limits.liveBatchMax) changes.push(change)
      flushing ??= setTimeout(flush, limits.liveBatchMs)
    },

    listen(listener) {
      if (closed) throw new Refusal('shutting-down', { retryAfter: 5 })
      const { owner, until } = listener
      const listeners = byOwner.get(owner) ?? new Map<Listener, () => void>()
      if (listeners.size >= limits.livePerKeyMax) throw new Refusal('live-full', { retryAfter: 30 })
      const end = () => {
        if (!listeners.delete(listener)) return
        crowd.remove(listener.address, listener)
        clearTimeout(expiry)
        if (listeners.size === 0) byOwner.delete(owner)
        listener.ended()
      }
      const expiry = setTimeout(end, Math.max(0, until - now()) * 1000)
      listeners.set(listener, end)
      byOwner.set(owner, listeners)
      crowd.add(listener.address, listener)
      makeRoom(listener)
      return end
    },

    hangUp(owner) {
      for (const one of owner === undefined ? [...byOwner.keys()] : [owner]) {
        for (const end of [...(byOwner.get(one)?.values() ?? [])]) end()
      }
    },

    close() {
      closed = true
      clearInterval(beat)
      if (flushing) clearTimeout(flushing)
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
