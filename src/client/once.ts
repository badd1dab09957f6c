import { ApiError } from './api-error.ts'
import type { Caller } from './caller.ts'

/**
 * Send a request once, although answers get lost: its key is stored before the request leaves, and stays until the
 * answer is certain. Equal requests share a key. `work` gets the name of the key.
 */
export async function once<T>(
  caller: Caller,
  operation: string,
  body: object,
  work: (name: string) => Promise<T>,
): Promise<T> {
  const name = nameOf(operation, body)
  try {
    const answer = await withName(caller, name, work)
    await caller.forget(name)
    return answer
  } catch (cause) {
    // The service may have executed it: the next attempt must carry the same key.
    if (!isOpen(cause)) await caller.forget(name)
    throw cause
  }
}

/**
 * Do `work` under the key of a name. A key that is too old fetches no answer any more, so the person who asks now gets
 * a new one.
 */
export async function withName<T>(
  caller: Caller,
  name: string,
  work: (name: string) => Promise<T>,
): Promise<T> {
  try {
    return await work(name)
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.code !== 'key-expired') throw cause
    await caller.forget(name)
    return work(name)
  }
}

/** The name of a request. Another body is another request. */
export function nameOf(operation: string, body: object): string {
  return `${operation}:${JSON.stringify(body)}`
}

/**
 * True for a failure after which the service may have executed the request, whose body is in its name. A caller who may not
 * ask, or does not sign, learns nothing of an earlier attempt under the same key. A refused form answers for all attempts.
 */
export function isOpen(cause: unknown): boolean {
  if (!(cause instanceof ApiError)) return true
  return (cause.mayHaveSucceeded && !cause.ofForm) || cause.beforeKey
}

/**
 * True for a failure that every repetition with this body and key would get: a refusal of the service. The 404 of a proxy or
 * the login page of a Wi-Fi is none, and a key that is dropped for it can never fetch its answer again.
 */
export function isFinal(cause: ApiError): boolean {
  if (cause.foreign) return false
  return !isOpen(cause) || cause.code === 'idempotency-key-reused'
}
