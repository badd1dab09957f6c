/** The coupons that a person keeps on this device. */

import { parseJson } from '../../client/json.ts'
import type { TextStore } from '../../client/texts.ts'
import type { VoucherTerms } from '../../client/voucher-terms.ts'
import type { NostrEvent } from '../../nostr/event.ts'
import { parseEvent } from '../../nostr/event.ts'

export type Status = 'minted' | 'claimed' | 'refreshed' | 'voided' | 'expired'

export type Held = VoucherTerms & {
  status: Status
  claimedAt: number | null
  /** When the service last said so. */
  checkedAt: number
  addedAt: number
  /** The signed event, where it came along: a till can check it without a connection. */
  voucher: NostrEvent | null
  /** True once it was made this person's by a refresh: nobody else knows its code. */
  own: boolean
  /** Where it was last sent to, and what became of it. */
  sent: { to: string; at: number; outcome: 'trying' | 'sent' | 'unknown' } | null
}

export type Holdings = {
  /** Newest first. */
  all(): Held[]
  find(nonce: string): Held | null
  /** Add it, or change what is known of it. False when this device keeps nothing, or has no room left. */
  put(held: Held): boolean
  remove(nonce: string): void
}

/** About 2 KB each with its event; a browser keeps 5 MB. */
const holdingsMax = 300

const statuses: string[] = ['minted', 'claimed', 'refreshed', 'voided', 'expired']

export function openHoldings(store: TextStore, name: string): Holdings {
  const all = () => parseHoldings(store.read(name))
  const keep = (list: Held[]) => store.write(name, JSON.stringify(list))
  return {
    all,
    find: (nonce) => all().find((held) => held.nonce === nonce) ?? null,
    put(held) {
      const others = all().filter(({ nonce }) => nonce !== held.nonce)
      const before = all().find(({ nonce }) => nonce === held.nonce)
      const list = bounded([{ ...held, addedAt: before?.addedAt ?? held.addedAt }, ...others])
      return list !== null && keep(list.toSorted((one, other) => other.addedAt - one.addedAt))
    },
    remove(nonce) {
      keep(all().filter((held) => held.nonce !== nonce))
    },
  }
}

/**
 * The status of a coupon now: an expiry that came since it was asked for counts. A clock that had it over
 * when the service said otherwise is wrong, and is not believed.
 */
export function statusNow(
  { status, expiresAt, checkedAt }: Pick<Held, 'status' | 'expiresAt' | 'checkedAt'>,
  now: number,
): Status {
  const over = expiresAt !== null && expiresAt <= now && checkedAt < expiresAt
  return status === 'minted' && over ? 'expired' : status
}

/** The oldest that cannot be used gives way; null when all can be: none of them is dropped unseen. */
function bounded(list: Held[]): Held[] | null {
  if (list.length <= holdingsMax) return list
  const spent = list.findLastIndex(({ status }) => status !== 'minted')
  return spent >= 0 ? list.toSpliced(spent, 1) : null
}

function parseHoldings(text: string | null): Held[] {
  const list = parseJson(text)
  return Array.isArray(list) ? list.filter(isHeld).map(withEvent) : []
}

function isHeld(value: unknown): value is Held {
  if (typeof value !== 'object' || value === null) return false
  const { nonce, name, npub, coupon, status } = value as Record<string, unknown>
  const texts = [nonce, name, npub].every((one) => typeof one === 'string')
  return (
    texts && typeof coupon === 'object' && coupon !== null && statuses.includes(status as string)
  )
}

function withEvent(held: Held): Held {
  return { ...held, voucher: parseEvent(held.voucher) }
}
