/** Outcomes of the operations that look after their own key. */
import { ApiError } from './api-error.ts'
import { type KeyStorage, unless } from './caller.ts'
import type { Client } from './client.ts'
import type { VoucherResult } from './described/vouchers.ts'
import { parseRecord } from './json.ts'
import { isOpen, nameOf, once } from './once.ts'
import { SignerError } from './signer.ts'

/**
 * `refused`: for good, so the key is forgotten. `unknown`: the same call, made again, gets the answer of this one, unless the
 * code is `key-expired`, or `field-invalid`: then an earlier call of this name sent another body, which gets it.
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

/** The last turn of each name. Clients may share a storage. */
const turns = new WeakMap<KeyStorage, Map<string, Promise<unknown>>>()

/** Run work after all earlier work of its name in a storage, however that ends. */
async function inTurn<T>(storage: KeyStorage, name: string, work: () => Promise<T>): Promise<T> {
  const last = turns.get(storage) ?? new Map<string, Promise<unknown>>()
  turns.set(storage, last)
  const turn = (last.get(name) ?? Promise.resolve()).then(work, work)
  last.set(name, turn)
  try {
    return await turn
  } finally {
    if (last.get(name) === turn) last.delete(name)
  }
}

type Asked = { operation: 'receive' | 'issue'; request: object }

type Asking = { ask: (once: string) => Promise<VoucherResult>; signal: AbortSignal | undefined }

/**
 * The coupon that the storage has for a request, or the one that `ask` gets. It is stored before its key is forgotten, so
 * a crash in between loses nothing. Throws what `ask` throws, the reason of `signal`, and TypeError for a client without a
 * storage.
 */
export async function storeOnce(client: Client, asked: Asked, asking: Asking): Promise<Stored> {
  const storedAs = nameOf(asked.operation, asked.request)
  // Overlapping calls would find no coupon, and then, as the first one ends, no key either.
  const turn = inTurn(storageOf(client), storedAs, () => storeAsked(client, asked, asking))
  return unless(asking.signal, turn)
}

async function storeAsked(
  client: Client,
  { operation, request }: Asked,
  { ask, signal }: Asking,
): Promise<Stored> {
  signal?.throwIfAborted()
  const storage = storageOf(client)
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
