/** Issuing a coupon for an order of the merchant's own system. */
import { ApiError } from './api-error.ts'
import type { CallOptions } from './caller.ts'
import type { Client } from './client.ts'
import { mintNamed } from './mint.ts'
import { type Failed, failureOf, type Named, type Stored, storeOnce } from './outcome.ts'

export type Issued = ({ outcome: 'issued' } & Stored) | Failed

type Order = {
  /** The definition to issue from. */
  couponId: string
  /** The merchant's number of the order. */
  order: string
}

/**
 * Issue a coupon for an order, and store it. The same order gets the same coupon, on any day. Throws RangeError for an
 * empty order, TypeError for a client without a storage, the reason of a signal, and errors of the storage.
 */
export async function issue(
  client: Client,
  { couponId, order, ...options }: Order & CallOptions,
): Promise<Issued> {
  if (typeof order !== 'string' || order === '') throw new RangeError('order is a text')
  const definition = couponId.toLowerCase()
  const ask = async (named: Named) => {
    // Its answer of yesterday may still be there, and a new key would surely issue another coupon.
    const coupon = await mintNamed(client, definition, { ...options, ...named, anyAge: true })
    if (coupon.couponId === definition) return coupon
    throw new ApiError('answer-invalid', 0, { message: 'a coupon of another definition' })
  }
  const asked = { operation: 'issue', request: { couponId: definition, order } } as const
  const asking = { ask, signal: options.signal }
  try {
    return { outcome: 'issued', ...(await storeOnce(client, asked, asking)) }
  } catch (cause) {
    return failureOf(cause)
  }
}
