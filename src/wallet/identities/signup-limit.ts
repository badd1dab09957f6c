import { Buckets } from '../../base/buckets.ts'
import { limits } from '../../base/limits.ts'
import { requireNoWait } from '../../base/refusal.ts'

const { rateEntriesMax: entriesMax } = limits
/** The Wi-Fi of a workshop is one address with many newcomers. */
const signupRule = { burst: 20, perSecond: 0.02, entriesMax }
/** Names are given for good, so all addresses together take at most some thousand a day. */
const signupsRule = { burst: 300, perSecond: 0.1, entriesMax: 1 }

/** Build the rate limit of open sign-up, by client address. `seconds` reads a monotonic clock. */
export function createSignupLimit(seconds: () => number): (address: string) => void {
  const own = new Buckets(signupRule)
  const all = new Buckets(signupsRule)
  return (address) => {
    requireNoWait(own.take(address, seconds()))
    requireNoWait(all.take('', seconds()))
  }
}
