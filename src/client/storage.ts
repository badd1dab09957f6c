/** The storage of a client, and the Idempotency-Keys in it. */
import { systemClock } from '../base/clock.ts'
import { createRuns } from './persist.ts'
import { randomText } from './random.ts'

/** Keeps Idempotency-Keys and coupons under names. A `Map` will do where they need not survive the program. */
export type KeyStorage = {
  get(name: string): MayWait<string | null | undefined>
  /** A promise resolves when the text is stored: the request waits for it. */
  set(name: string, text: string): MayWait<unknown>
  /**
   * Store a text under a name that has none; false where it has one, which stays. Several programs can share a storage with
   * it: one key serves the same call of all.
   */
  add?(name: string, text: string): MayWait<boolean>
  delete(name: string): MayWait<unknown>
}

type MayWait<T> = T | Promise<T>

/** `used`: it was stored before this call, for an attempt whose answer may be lost. `age`: in seconds. */
export type StoredKey = { key: string; used: boolean; age: number }

type Keys = ReturnType<typeof createRuns<StoredKey>>

/** Keys that are just being read or stored, by the storage: clients may share one. */
const underway = new WeakMap<KeyStorage, Keys>()

/** A function that finds the key under a name. A new one is stored, with the time, before the request leaves. */
export function createKeys(storage: KeyStorage): (once: string) => Promise<StoredKey> {
  const runs = underway.get(storage) ?? createRuns<StoredKey>()
  underway.set(storage, runs)
  return async (once) => {
    let first = false
    const stored = await runs(once, () => {
      first = true
      return storedKey(storage, once)
    })
    // An overlapping call may have sent it.
    return first ? stored : { ...stored, used: true }
  }
}

async function storedKey(storage: KeyStorage, once: string): Promise<StoredKey> {
  const place = placeOf(once)
  const stored = (await storage.get(place)) ?? null
  if (stored !== null) {
    const [known = '', storedAt = '', ...more] = stored.split(' ')
    // The next key would not be the one that was sent. The name may have a nonce, so it is not told.
    if (!isKey(known) || !/^\d+$/.test(storedAt) || more.length > 0) {
      throw new Error('the storage has a damaged key under the name of this call')
    }
    // A clock that was ahead makes the age negative, and says as little.
    return { key: known, used: true, age: Math.abs(systemClock() - Number(storedAt)) }
  }
  const key = randomText()
  const text = `${key} ${systemClock()}`
  if (!storage.add) await storage.set(place, text)
  // Another program was faster: its key it is.
  else if (!(await storage.add(place, text))) return storedKey(storage, once)
  return { key, used: false, age: 0 }
}

/** Whether the service takes a text for a key. */
export function isKey(text: string): boolean {
  return /^[!-~]{8,255}$/.test(text)
}

/** The entry of a key. */
export function placeOf(once: string): string {
  return `once:${once}`
}
