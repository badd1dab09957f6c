/** Verification of a voucher without the service (docs/api/events.md, verifying offline). */
import { verifyEvent } from 'nostr-tools/pure'
import { systemClock } from '../base/clock.ts'
import { asObject } from '../base/json.ts'
import { Refusal } from '../base/refusal.ts'
import { isBenefitType, parseBenefit } from '../coupons/benefit.ts'
import { contentObject, parseEvent } from '../nostr/event.ts'
import { kinds } from '../nostr/kinds.ts'
import type { Benefit, NostrEvent } from './described/vouchers.ts'
import { isPublicKey } from './public-key.ts'
import { rulesIn, type ShownRules } from './voucher-rules.ts'

/** The promise of a signed voucher. */
type VoucherPromise = {
  nonce: string
  couponId: string
  owner: string
  name: string
  description: string
  /** Null for a type of benefit that this version of the client does not know. Only the service can judge it. */
  coupon: Benefit | null
  expiresAt: number | null
  rules?: ShownRules
}

export type Verdict =
  /**
   * The pinned manager signed this promise, which holds until it is `expired`. Whether the voucher was spent since, only
   * the service knows.
   */
  | { genuine: true; promise: VoucherPromise; expired: boolean }
  | {
      genuine: false
      why: 'shape' | 'signature' | 'other-manager' | 'other-merchant' | 'phase' | 'nonce'
    }

type Expected = {
  /** The manager's key, pinned when the service could be reached. */
  manager: string
  /** The nonce that came beside the voucher, to be compared with the signed one. */
  nonce?: string
  /** The merchant whose coupons are taken (hex). */
  owner?: string
  /** Unix seconds; the clock of this device by default. */
  now?: number
}

/**
 * Judge a signed voucher by its manager's key alone. A text or an object of any form may be given. Throws RangeError for
 * an expected key that is none: every voucher would pass for a forgery.
 */
export function verifyVoucher(value: unknown, expected: Expected): Verdict {
  const { manager, nonce, owner, now = systemClock() } = expected
  if (![manager, owner ?? manager].every(isPublicKey))
    throw new RangeError('manager and owner are public keys in hex')
  const event = parseEvent(value)
  if (!event || event.kind !== kinds.voucher) return { genuine: false, why: 'shape' }
  const promise = promiseOf(event)
  if (!promise) return { genuine: false, why: 'shape' }
  if (event.pubkey !== manager) return { genuine: false, why: 'other-manager' }
  // A copy, since the library trusts a mark that it leaves on an object it has verified.
  if (!verifyEvent({ ...event })) return { genuine: false, why: 'signature' }
  if (owner !== undefined && owner !== promise.owner)
    return { genuine: false, why: 'other-merchant' }
  if (tagOf(event, 'phase') !== 'minted') return { genuine: false, why: 'phase' }
  if (nonce !== undefined && nonce !== promise.nonce) return { genuine: false, why: 'nonce' }
  return {
    genuine: true,
    promise,
    expired: promise.expiresAt !== null && promise.expiresAt <= now,
  }
}

/** The promise in an event; null where its tags and its content disagree. */
function promiseOf(event: NostrEvent): VoucherPromise | null {
  const content = contentObject(event.content)
  if (!content) return null
  const { nonce, owner, name, description, phase } = content
  const expiresAt = typeof content.expiresAt === 'number' ? content.expiresAt : null
  const agrees =
    tagOf(event, 'nonce') === nonce &&
    tagOf(event, 'p') === owner &&
    tagOf(event, 'phase') === phase &&
    tagOf(event, 'expiration') === (expiresAt === null ? undefined : String(expiresAt))
  const couponId = tagOf(event, 'coupon')
  const coupon = benefitIn(content.coupon)
  if (!agrees || couponId === undefined || coupon === undefined) return null
  if (typeof nonce !== 'string' || typeof owner !== 'string') return null
  if (typeof name !== 'string' || typeof description !== 'string') return null
  const promise = { nonce, couponId, owner, name, description, coupon, expiresAt }
  return { ...promise, ...rulesIn(content) }
}

function tagOf(event: NostrEvent, name: string): string | undefined {
  return event.tags.find(([key]) => key === name)?.[1]
}

/** The benefit, null for one of a type that a later service may have; undefined for anything else. */
function benefitIn(value: unknown): Benefit | null | undefined {
  const type = asObject(value)?.type
  if (typeof type === 'string' && !isBenefitType(type)) return null
  try {
    return parseBenefit(value)
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}
