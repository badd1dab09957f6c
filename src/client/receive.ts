/** Receiving a coupon: it is refreshed, because whoever sent it knows its nonce, too. */
import { ApiError } from './api-error.ts'
import type { CallOptions } from './caller.ts'
import type { Client } from './client.ts'
import { type Failed, failureOf, type Named, type Stored, storageOf, storeOnce } from './outcome.ts'
import { isPublicKey } from './public-key.ts'
import type { KeyStorage } from './storage.ts'
import { verifyVoucher } from './voucher-proof.ts'

export type Received = ({ outcome: 'received' } & Stored) | Failed

type Gift = {
  /** As it was sent. */
  nonce: string
  /** Public key of the manager (hex). By default the storage keeps the one that the service named first. */
  manager?: string
}

/**
 * Swap the nonce of a coupon for one that only this wallet knows, and store the coupon. The same nonce gets the same
 * coupon, also after a crash. Throws RangeError for a manager that is no key, TypeError for a client without a storage, the
 * reason of a signal, and errors of the storage.
 */
export async function receive(
  client: Client,
  { nonce, manager: given, ...options }: Gift & CallOptions,
): Promise<Received> {
  const storage = storageOf(client)
  let manager: string
  try {
    manager = given ?? (await pinnedManager(client, storage, options))
  } catch (cause) {
    // It says nothing of an earlier refresh.
    return { ...failureOf(cause), outcome: 'unknown' }
  }
  if (!isPublicKey(manager)) throw new RangeError('manager is a public key in hex')
  const ask = async (named: Named) => {
    const input = { ...options, ...named, body: { nonce } }
    const coupon = await client.call('POST /api/coupons/refresh', input)
    const verdict = verifyVoucher(coupon.voucher, { manager, nonce: coupon.nonce })
    const why = verdict.genuine ? coupon.nonce === nonce && 'same nonce' : verdict.why
    if (why) throw new ApiError('answer-invalid', 0, { message: `not a new coupon: ${why}` })
    return coupon
  }
  const asked = { operation: 'receive', request: { nonce } } as const
  const asking = { ask, signal: options.signal }
  try {
    return { outcome: 'received', ...(await storeOnce(client, asked, asking)) }
  } catch (cause) {
    return failureOf(cause)
  }
}

/** The key that the service named first. Whoever holds the line later cannot swap it. */
async function pinnedManager(
  { call, url }: Client,
  storage: KeyStorage,
  options: CallOptions,
): Promise<string> {
  const place = `manager ${url}`
  const known = await storage.get(place)
  if (known && !isPublicKey(known)) throw new Error(`the storage has no key as "${place}"`)
  if (known) return known
  const { pubkey } = await call('GET /api/coupons/manager', options)
  if (!isPublicKey(pubkey)) throw new ApiError('answer-invalid')
  await storage.set(place, pubkey)
  return pubkey
}
