import { parseRecord } from './json.ts'
import type { TextStore } from './texts.ts'

/** Wrong PINs without a wait: a slip of the finger costs nothing. */
const triesFree = 2
const waitSecondsFirst = 5
/** The wait doubles up to here, and never locks a person out for good. */
const waitSecondsMax = 300

type Tries = {
  /** Wrong PINs since the last right one. */
  wrong: number
  /** Unix milliseconds of the last one. */
  at: number
}

/**
 * Wrong PINs of one key, kept on the device, so that a reload does not end a wait. They slow down a person at
 * the page; a copy of the storage can be guessed without the page.
 */
export function createPinTries(place: string, store: TextStore, now: () => number) {
  const read = (): Tries => {
    const { wrong, at } = parseRecord(store.read(place)) ?? {}
    const whole = Number.isSafeInteger(wrong) && Number.isSafeInteger(at)
    return whole ? { wrong: wrong as number, at: at as number } : { wrong: 0, at: 0 }
  }
  return {
    /** Seconds until the next try; 0 when it may be now. */
    waitSeconds(): number {
      const { wrong, at } = read()
      if (wrong <= triesFree) return 0
      const whole = Math.min(waitSecondsFirst * 2 ** (wrong - triesFree - 1), waitSecondsMax)
      // A clock that was set back begins the wait anew, from its own time.
      if (at > now()) store.write(place, JSON.stringify({ wrong, at: now() }))
      const passed = Math.max(0, now() - at) / 1000
      return Math.max(0, Math.ceil(whole - passed))
    },
    /** Count a try before it is made: closing the page meanwhile does not undo it. */
    count(): void {
      store.write(place, JSON.stringify({ wrong: read().wrong + 1, at: now() }))
    },
    /** The PIN was right, or the key is another one. */
    forget: () => store.remove(place),
  }
}
