import { OutboundError } from './fetch-public.ts'

/** Bounds of calls that run and of calls that wait. */
type Share = { takenMax: number; waitingMax: number }

/** Bounds in all, and per owner of each type. `waitMs` bounds the waiting time. */
export type SlotRule<Of extends string> = Share & { waitMs: number; of: Record<Of, Share> }

/** The owners of a call by type, such as the host that it goes to and the account that causes it. */
type Owners<Of extends string> = Record<Of, string>

type Room = Share & { taken: number; waiting: number }

type Waiter = { rooms: readonly Room[]; proceed: () => void }

/**
 * Create a concurrency limit with a short queue, in all and per owner. Calls of a slow host wait for each other
 * and let other calls pass. Throws OutboundError `busy` if the queue is full or the wait too long.
 */
export function createSlots<Of extends string>(rule: SlotRule<Of>) {
  const all: Room = { ...rule, taken: 0, waiting: 0 }
  const rooms = new Map<string, Room>()
  const line = new Set<Waiter>()
  const names = Object.keys(rule.of) as Of[]

  const roomsOf = (owners: Owners<Of>) => {
    const own = names.map((name) => {
      const key = `${name} ${owners[name]}`
      const room = rooms.get(key) ?? { ...rule.of[name], taken: 0, waiting: 0 }
      rooms.set(key, room)
      return room
    })
    return [all, ...own]
  }
  const forgetIdle = (owners: Owners<Of>) => {
    for (const name of names) {
      const key = `${name} ${owners[name]}`
      const room = rooms.get(key)
      if (room && room.taken + room.waiting === 0) rooms.delete(key)
    }
  }
  const free = (of: readonly Room[]) => of.every(({ taken, takenMax }) => taken < takenMax)
  const count = (of: readonly Room[], which: 'taken' | 'waiting', change: 1 | -1) => {
    for (const room of of) room[which] += change
  }

  const take = (own: readonly Room[]): Promise<void> => {
    if (free(own)) {
      count(own, 'taken', 1)
      return Promise.resolve()
    }
    if (own.some(({ waiting, waitingMax }) => waiting >= waitingMax)) {
      return Promise.reject(new OutboundError('busy'))
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        line.delete(waiter)
        count(own, 'waiting', -1)
      }
      const timer = setTimeout(() => {
        leave()
        reject(new OutboundError('busy'))
      }, rule.waitMs)
      const waiter: Waiter = {
        rooms: own,
        proceed() {
          clearTimeout(timer)
          leave()
          count(own, 'taken', 1)
          resolve()
        },
      }
      count(own, 'waiting', 1)
      line.add(waiter)
    })
  }
  /** Free the slots of a call, and start the calls that have waited longest and have all their slots free. */
  const give = (own: readonly Room[]) => {
    count(own, 'taken', -1)
    for (const waiter of line) {
      if (all.taken >= all.takenMax) return
      if (free(waiter.rooms)) waiter.proceed()
    }
  }

  return async <T>(owners: Owners<Of>, work: () => Promise<T>): Promise<T> => {
    const own = roomsOf(owners)
    try {
      await take(own)
      try {
        return await work()
      } finally {
        give(own)
      }
    } finally {
      forgetIdle(owners)
    }
  }
}
