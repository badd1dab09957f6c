/** Outcomes of the operations that look after their own key. */
import { ApiError } from './api-error.ts'
import type { Client } from './client.ts'
import type { VoucherResult } from './described/vouchers.ts'
import { parseRecord } from './json.ts'
import { isOpen, nameOf } from './once.ts'
import { SignerError } from './signer.ts'
import type { KeyStorage, StoredKey } from './storage.ts'
import { inTurn } from './turns.ts'

/**
 * `refused`: nothing was done, and asking again without a change will not help. `unknown`: the same call, made again, gets the answer of this one, unless the
 * code is `field-invalid`: then an earlier call of this name sent another body, which gets it.
 */
export type Failed<Outcome extends string = 'refused' | 'unknown'> = {
  outcome: Outcome
  code: ApiError['code'] | SignerError['code']
  /** The sentence of the service (es-AR); empty where it said none. */
  sentence: string
  error: ApiError | SignerError
}

/** The outcome of a failed call. Throws any other error again, such as that of a storage. */
export function failureOf(cause: unknown): Failed {
  if (!(cause instanceof ApiError || cause instanceof SignerError)) throw cause
  const sentence = cause instanceof ApiError ? cause.sentence : ''
  return {
    outcome: isOpen(cause) ? 'unknown' : 'refused',
    code: cause.code,
    sentence,
    error: cause,
  }
}

/** `storedAs`: the name under which the storage has the coupon as JSON. */
export type Stored = { coupon: VoucherResult; storedAs: string }

/** The storage of a client. Throws TypeError where it has none. */
export function storageOf({ storage }: Client): KeyStorage {
  if (!storage) throw new TypeError('give createClient a storage: coupons are kept in it')
  return storage
}

type Asked = { operation: 'receive' | 'issue'; request: object }

/** The key of a call, stored by now. */
export type Named = { once: string; reserved: StoredKey }

type Asking = { ask: (named: Named) => Promise<VoucherResult>; signal: AbortSignal | undefined }

/**
 * The coupon that the storage has for a request, or the one that `ask` gets. It is stored before its key is forgotten, so
 * a crash in between loses nothing. Throws what `ask` throws, the reason of `signal`, TypeError for a client without a
 * storage, and an error for a stored coupon that cannot be read.
 */
export async function storeOnce(
  client: Client,
  { operation, request }: Asked,
  { ask, signal }: Asking,
): Promise<Stored> {
  const storage = storageOf(client)
  const storedAs = nameOf(operation, request)
  const known = () => readCoupon(storage, storedAs)
  const fetched = async (reserved: StoredKey) => {
    try {
      const coupon = await ask({ once: storedAs, reserved })
      await storage.set(storedAs, JSON.stringify(coupon))
      return coupon
    } catch (cause) {
      // A refused order may be issued later, and another program may be sending its key. A coupon that this service does not
      // know may be one of another service with the same storage, whose answer was lost.
      const over = cause instanceof ApiError && cause.code !== 'voucher-unknown' && !isOpen(cause)
      if (operation === 'receive' && over) await client.forget(storedAs)
      throw cause
    }
  }
  const work = async () => {
    let coupon = await known()
    if (!coupon) {
      const reserved = await client.reserve(storedAs)
      // Another program that shares the storage may have stored it, and forgotten its key, in between. It stored its coupon
      // before that, so with this key nobody asks for another one.
      coupon = (await known()) ?? (await fetched(reserved))
    }
    await client.forget(storedAs)
    return { coupon, storedAs }
  }
  return inTurn(storage, storedAs, { work, signal })
}

async function readCoupon(storage: KeyStorage, name: string): Promise<VoucherResult | null> {
  const text = (await storage.get(name)) ?? null
  if (text === null) return null
  const coupon = parseRecord(text, 'nonce')
  // Without it, another coupon would take its place. The name may have a nonce, so it is not told.
  if (!coupon) throw new Error('the storage has a damaged coupon under the name of this call')
  // `storeOnce` wrote it.
  return coupon as VoucherResult
}
