import { OutboundError } from './fetch-public.ts'

/** Work under way, and in line behind it. */
type Share = { takenMax: number; waitingMax: number }

/** What there is room for in all, and of it for each whom the work is for. */
export type SlotRule<Of extends string> = Share & { waitMs: number; of: Record<Of, Share> }

/** Whom work is for, such as the host that is asked and the account that has it asked. */
type Owners<Of extends string> = Record<Of, string>

type Room = Share & { taken: number; waiting: number }

type Waiter = { rooms: readonly Room[]; proceed: () => void }

/**
 * So much work at once and a short line behind it, in all and for each owner: slow hosts wait for
 * themselves, and others pass them. OutboundError `busy` for work beyond that and for work that
 * waited too long. Idle owners are forgotten.
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
  /** Free the place, for those who wait longest and have room for it. */
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
