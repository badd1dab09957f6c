/** Outcomes of the operations that look after their own key. */
import { ApiError } from './api-error.ts'
import type { Client } from './client.ts'
import type { VoucherResult } from './described/vouchers.ts'
import { parseRecord } from './json.ts'
import { isOpen, nameOf, once } from './once.ts'
import { SignerError } from './signer.ts'

/** `refused`: for good, so the key is forgotten. `unknown`: the same call, made again, gets the answer of this one. */
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

/**
 * The coupon that the storage has for a request, or the one that `ask` gets. It is stored before its key is forgotten, so
 * a crash in between loses nothing. Throws what `ask` throws, and TypeError for a client without a storage.
 */
export async function storeOnce(
  client: Client,
  operation: 'receive' | 'issue',
  request: object,
  ask: (once: string) => Promise<VoucherResult>,
): Promise<Stored> {
  const { storage } = client
  if (!storage) throw new TypeError('give createClient a storage: coupons are kept in it')
  const storedAs = nameOf(operation, request)
  const known = parseRecord((await storage.get(storedAs)) ?? null, 'nonce')
  if (known) {
    await client.forget(storedAs)
    // This function wrote it.
    return { coupon: known as VoucherResult, storedAs }
  }
  const coupon = await once(client, operation, request, async (name) => {
    const asked = await ask(name)
    await storage.set(storedAs, JSON.stringify(asked))
    return asked
  })
  return { coupon, storedAs }
}
