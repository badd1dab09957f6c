/** One page of the till at a time works on a coupon. */
import type { Alone } from './redeem.ts'

/** By the locks of the browser. It gives none to a page on plain http, and old ones have none: there, work runs at once. */
export const alone: Alone = async (nonce, when, work) => {
  if (!('locks' in navigator)) {
    await work()
    return true
  }
  let ran: Promise<void> | null = null
  const run = () => {
    ran = work()
    return ran
  }
  try {
    await navigator.locks.request(
      `till:${nonce}`,
      { ifAvailable: when === 'now-or-never' },
      async (lock) => {
        if (lock) await run()
      },
    )
    return ran !== null
  } catch (cause) {
    // The browser gives this page no lock (SecurityError, InvalidStateError).
    if (!(cause instanceof DOMException)) throw cause
    await (ran ?? run())
    return true
  }
}
