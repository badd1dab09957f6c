import { Buckets } from '../base/buckets.ts'
import { GuessCounter } from '../base/guesses.ts'
import { limits } from '../base/limits.ts'
import { requireNoWait } from '../base/refusal.ts'

/** A person copies twelve symbols from a screen. A guesser needs 2^59 tries. */
const setupRule = { burst: 10, perSecond: 0.05, entriesMax: limits.rateEntriesMax }

/** Build the counter of tries of a setup code, right or wrong, by client address. `seconds` reads a monotonic clock. */
export function createSetupTries(seconds: () => number): (address: string) => void {
  const tries = new GuessCounter([new Buckets(setupRule)], seconds)
  return (address) => requireNoWait(tries.take(address).wait)
}
