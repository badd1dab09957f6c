/** Redemption at a till, whose sale decides which coupon is its own. */
import { ApiError } from './api-error.ts'
import type { CallOptions } from './caller.ts'
import type { Client } from './client.ts'
import type { Claim, ClaimAnswer } from './described/vouchers.ts'
import { inOrder } from './json.ts'
import { nameOf } from './once.ts'
import { type Failed, failureOf } from './outcome.ts'
import { isPublicKey } from './public-key.ts'
import { inTurn } from './turns.ts'

type Sale = Omit<Claim, 'owner'> & {
  /** Public key of the merchant whose coupons this till takes (hex). */
  owner: string
  /** The till's number of the sale. */
  sale: string
}

/**
 * `granted`: this sale redeemed it. `used`: it was redeemed before. `other-body`: this sale redeemed it before, with
 * another amount, say. `once` names the key, for `forget` when the sale is over.
 */
export type Redeemed =
  | { outcome: 'granted'; coupon: ClaimAnswer; once: string }
  | { outcome: 'used'; coupon: ClaimAnswer }
  | Failed<'other-body' | 'refused' | 'unknown'>

/**
 * Redeem a coupon for a sale. The same sale gets the same outcome, also after a crash if the client has a storage
 * that outlives it. Throws RangeError for an owner that is no key and an empty sale, the reason of a signal, and errors
 * of the storage.
 */
export async function redeem(
  client: Client,
  { sale, headers, signal, timeoutMs, ...claim }: Sale & CallOptions,
): Promise<Redeemed> {
  // Without an owner a till would take the coupons of any shop, and without a sale one key would serve them all.
  if (!isPublicKey(claim.owner)) throw new RangeError('owner is a public key in hex')
  if (typeof sale !== 'string' || sale === '') throw new RangeError('sale is a text')
  const options = {
    ...(headers && { headers }),
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    // A sale of yesterday is `used` at worst, as it would be under a new key.
    anyAge: true,
  }
  // Numbers of sales begin anew each day.
  const once = nameOf('redeem', { sale, nonce: claim.nonce })
  // The service binds a key to the bytes of its body.
  const body = inOrder(claim) as Claim
  const work = () => redeemNow(client, { ...options, body, once })
  return inTurn(client.storage ?? client, once, { work, signal })
}

async function redeemNow(
  { call, forget }: Client,
  input: CallOptions & { body: Claim; once: string },
): Promise<Redeemed> {
  const { once } = input
  try {
    const coupon = await call('POST /api/coupons/claim', input)
    if (coupon.status === 'success') return { outcome: 'granted', coupon, once }
    // The key of the redemption would have repeated its success.
    await forget(once)
    return { outcome: 'used', coupon }
  } catch (cause) {
    const failure = refusalOf(cause)
    if (failure.outcome === 'refused') await forget(once)
    return failure
  }
}

/** The name has the nonce, but not the rest of the body, so of its form only the nonce is refused for all attempts. */
function refusalOf(cause: unknown): Failed<'other-body' | 'refused' | 'unknown'> {
  const failure = failureOf(cause)
  if (!(cause instanceof ApiError) || cause.lost) return failure
  if (cause.code === 'idempotency-key-reused') return { ...failure, outcome: 'other-body' }
  const open = cause.mayHaveSucceeded && !(cause.ofForm && cause.code === 'nonce-invalid')
  return open ? { ...failure, outcome: 'unknown' } : failure
}
