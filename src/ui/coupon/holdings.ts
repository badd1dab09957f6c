/** The coupons that this device keeps for its holder. */

import { asObject } from '../../base/json.ts'
import { pictureIn } from '../../client/images.ts'
import { parseStored } from '../../client/json.ts'
import type { TextStore } from '../../client/texts.ts'
import { rulesIn } from '../../client/voucher-rules.ts'
import type { VoucherTerms } from '../../client/voucher-terms.ts'
import type { NostrEvent } from '../../nostr/event.ts'
import { parseEvent } from '../../nostr/event.ts'

export type Status = 'minted' | 'claimed' | 'refreshed' | 'voided' | 'expired'

export type Held = VoucherTerms & {
  status: Status
  claimedAt: number | null
  /** Time of the last answer of the service. */
  checkedAt: number
  addedAt: number
  /** The signed event, if the device has it. A till can verify it without a connection. */
  voucher: NostrEvent | null
  /** True after a refresh on this device, or a take from a poster: nobody else has its nonce. */
  own: boolean
  /** Codes of it that a swap on this device has ended, oldest first. */
  before?: readonly string[]
  /** The last transfer to an address. */
  sent: { to: string; at: number; outcome: 'trying' | 'sent' | 'unknown' } | null
}

export type Holdings = {
  /** Newest first. */
  all(): Held[]
  find(nonce: string): Held | null
  /** The coupon whose earlier code this is, or null. */
  successorOf(nonce: string): Held | null
  /**
   * Add or update a coupon, in place of the one with the nonce `instead`. False when the device stores nothing,
   * or the list is full of usable coupons.
   */
  put(held: Held, instead?: string): boolean
  remove(nonce: string): void
  /** True when the list has no room for another coupon, since all of its own are usable. */
  full(): boolean
}

/** An entry has about 2 KB with its event; a browser stores 5 MB. */
const holdingsMax = 300

/** Holders swap a code once or twice. */
const beforeMax = 5

const statuses: string[] = ['minted', 'claimed', 'refreshed', 'voided', 'expired']

export function openHoldings(store: TextStore, name: string, now: () => number): Holdings {
  const all = () => parseHoldings(store.read(name))
  const keep = (list: Held[]) => store.write(name, JSON.stringify(list))
  return {
    all,
    find: (nonce) => all().find((held) => held.nonce === nonce) ?? null,
    successorOf: (nonce) =>
      all().find((held) => held.nonce !== nonce && held.before?.includes(nonce)) ?? null,
    put(held, instead) {
      const list = all()
      const others = list.filter(({ nonce }) => nonce !== held.nonce && nonce !== instead)
      const known = list.find(({ nonce }) => nonce === held.nonce)
      const ended = list.find(({ nonce }) => nonce === instead)?.before ?? []
      const added = {
        ...held,
        addedAt: known?.addedAt ?? held.addedAt,
        ...(instead !== undefined && { before: [...ended, instead].slice(-beforeMax) }),
      }
      const fitting = bounded([added, ...others], now())
      return fitting !== null && keep(fitting.toSorted((one, other) => other.addedAt - one.addedAt))
    },
    remove(nonce) {
      keep(all().filter((held) => held.nonce !== nonce))
    },
    full() {
      const list = all()
      return list.length >= holdingsMax && spentAt(list, now()) < 0
    },
  }
}

/** `overdue`: expired by the clock of this device, which may be wrong; the service did not say so. */
export type StatusNow = Status | 'overdue'

/**
 * The status of a coupon now: it may have expired since the last answer. A clock that says the coupon was
 * expired at that answer already is wrong, so its word does not count.
 */
export function statusNow(
  { status, expiresAt, checkedAt }: Pick<Held, 'status' | 'expiresAt' | 'checkedAt'>,
  now: number,
): StatusNow {
  const over = expiresAt !== null && expiresAt <= now && checkedAt < expiresAt
  return status === 'minted' && over ? 'overdue' : status
}

/** A list that is too long, without its oldest spent coupon; null where all are usable, since each has worth. */
function bounded(list: Held[], now: number): Held[] | null {
  if (list.length <= holdingsMax) return list
  const spent = spentAt(list, now)
  return spent >= 0 ? list.toSpliced(spent, 1) : null
}

/** The place of the oldest spent coupon, or -1. The word of the service counts before the clock of the device. */
function spentAt(list: Held[], now: number): number {
  const told = list.findLastIndex(({ status }) => status !== 'minted')
  return told >= 0 ? told : list.findLastIndex((held) => statusNow(held, now) !== 'minted')
}

function parseHoldings(text: string | null): Held[] {
  const list = parseStored(text)
  return Array.isArray(list) ? list.filter(isHeld).map(parsed) : []
}

function isHeld(value: unknown): value is Held {
  const { nonce, name, npub, coupon, status } = asObject(value) ?? {}
  const texts = [nonce, name, npub].every((one) => typeof one === 'string')
  return (
    texts && typeof coupon === 'object' && coupon !== null && statuses.includes(status as string)
  )
}

function parsed({ rules, picture, before, ...held }: Held): Held {
  return {
    ...held,
    ...(Array.isArray(before) && { before }),
    ...rulesIn({ rules }),
    ...pictureIn({ picture }),
    voucher: parseEvent(held.voucher),
  }
}
