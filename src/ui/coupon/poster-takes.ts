/** The takes of this browser. Each is stored before its request leaves, so that a closed tab asks again with the same key. */
import { asObject } from '../../base/json.ts'
import { parseStored } from '../../client/json.ts'
import type { TextStore } from '../../client/texts.ts'

export type PosterTake = {
  /** The id of the poster. */
  poster: string
  /** The Idempotency-Key, which gets the same coupon for ever. */
  key: string
  /** The coupon; null until its answer came. */
  nonce: string | null
}

export type PosterTakes = {
  /** Takes without an answer. */
  waiting(): PosterTake[]
  /** The newest take from a poster, or null. */
  find(poster: string): PosterTake | null
  /** The take without an answer, else the newest one, else a new one; `another`: a new one after the newest. */
  open(poster: string, another: boolean): PosterTake
  settle(take: PosterTake, nonce: string): void
  /** The coupon of a take has another code since. */
  follow(old: string, nonce: string): void
  /** Forget a take that was refused. */
  close(take: PosterTake): void
}

/** Bounds the list. The oldest take gives way, and one without an answer last. */
const takesMax = 100

export function openPosterTakes(store: TextStore, name: string, newKey: () => string): PosterTakes {
  const all = () => parseTakes(store.read(name))
  const isWaiting = ({ nonce }: PosterTake) => nonce === null
  /** Newest first. */
  const keep = (list: PosterTake[]) => {
    const answered = list.filter((one) => !isWaiting(one))
    const room = Math.max(0, takesMax - (list.length - answered.length))
    const kept = new Set([...list.filter(isWaiting), ...answered.slice(0, room)])
    store.write(name, JSON.stringify(list.filter((one) => kept.has(one)).slice(0, takesMax)))
  }
  const find = (poster: string) => all().find((one) => one.poster === poster) ?? null
  const others = ({ key }: PosterTake) => all().filter((one) => one.key !== key)
  return {
    waiting: () => all().filter(isWaiting),
    find,
    open(poster, another) {
      const known = find(poster)
      if (known && (isWaiting(known) || !another)) return known
      const take = { poster, key: newKey(), nonce: null }
      keep([take, ...all()])
      return take
    },
    settle(take, nonce) {
      keep([{ ...take, nonce }, ...others(take)])
    },
    follow(old, nonce) {
      const take = all().find((one) => one.nonce === old)
      if (take) keep(all().map((one) => (one.key === take.key ? { ...one, nonce } : one)))
    },
    close(take) {
      keep(others(take))
    },
  }
}

function parseTakes(text: string | null): PosterTake[] {
  const list = parseStored(text)
  return Array.isArray(list) ? list.filter(isTake) : []
}

function isTake(value: unknown): value is PosterTake {
  const { poster, key, nonce } = asObject(value) ?? {}
  const named = typeof poster === 'string' && typeof key === 'string'
  return named && (nonce === null || typeof nonce === 'string')
}
