import { type FetchPublic, OutboundError } from './fetch-public.ts'

type SlotRule = { takenMax: number; waitingMax: number; waitMs: number }

/**
 * The same way out for so many requests at once, with a short line behind them; whoever comes or
 * waits beyond that is told `busy`, and nothing was sent.
 */
export function limitRequests(fetchPublic: FetchPublic, rule: SlotRule): FetchPublic {
  const inTurn = createSlots(rule)
  return (url, request) => inTurn(() => fetchPublic(url, request))
}

/** The same for each host apart, so that none waits for another. */
export function limitRequestsByHost(fetchPublic: FetchPublic, rule: SlotRule): FetchPublic {
  const inTurn = createSlotsByKey(rule)
  return (url, request) => inTurn(url.host, () => fetchPublic(url, request))
}

/** So much work at once for each key, a short line behind it, and `busy` beyond that; idle keys are forgotten. */
export function createSlotsByKey(rule: SlotRule) {
  const entries = new Map<string, { inTurn: ReturnType<typeof createSlots>; users: number }>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const entry = entries.get(key) ?? { inTurn: createSlots(rule), users: 0 }
    entries.set(key, entry)
    entry.users += 1
    try {
      return await entry.inTurn(work)
    } finally {
      entry.users -= 1
      if (entry.users === 0) entries.delete(key)
    }
  }
}

/** So much work at once, a short line behind it, and `busy` for whoever comes or waits beyond that. */
export function createSlots({ takenMax, waitingMax, waitMs }: SlotRule) {
  let taken = 0
  const waiting = new Set<() => void>()

  const take = (): Promise<void> => {
    if (taken < takenMax) {
      taken += 1
      return Promise.resolve()
    }
    if (waiting.size >= waitingMax) return Promise.reject(new OutboundError('busy'))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(proceed)
        reject(new OutboundError('busy'))
      }, waitMs)
      const proceed = () => {
        clearTimeout(timer)
        resolve()
      }
      waiting.add(proceed)
    })
  }
  /** Hand the slot to whoever waits longest, or free it. */
  const give = () => {
    const [next] = waiting
    if (next === undefined) {
      taken -= 1
      return
    }
    waiting.delete(next)
    next()
  }

  return async <T>(work: () => Promise<T>): Promise<T> => {
    await take()
    try {
      return await work()
    } finally {
      give()
    }
  }
}
