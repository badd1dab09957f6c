import { asObject } from '../base/json.ts'
import { ApiError } from './api-error.ts'
import type { Caller } from './caller.ts'
import type { Ask } from './persist.ts'

type Wiring = {
  /** Makes one attempt. A page repeats by itself, with its person before it. */
  caller: Caller
  /** The sentence for a person about a failure. */
  describe: (cause: ApiError) => string
  /** Called after every request: whether the service answered. */
  onReached: (reached: boolean) => void
}

/** Requests that never throw ApiError: a failure is an answer with the code of the failure. */
export function createAsk({ caller, describe, onReached }: Wiring): Ask {
  return async (name, body, key, { path, authorization, timeoutMs } = {}) => {
    try {
      const input = {
        body,
        ...(key !== undefined && { key }),
        ...(path && { path }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(authorization !== undefined && { headers: { Authorization: authorization } }),
      }
      // The body of each operation is typed where it is made.
      const answer: unknown = await caller.call(name, input as never)
      onReached(true)
      return { status: 200, body: asObject(answer) ?? {}, retryAfter: null, failure: null }
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause
      onReached(cause.reached)
      const { status, code, retryAfter, reason } = cause
      // The login page of a Wi-Fi is no answer of the service, so it has no sentence.
      const ours = code !== 'unreachable' && code !== 'answer-invalid'
      const error = ours ? describe(cause) : ''
      const body = { code, error, ...(reason !== null && { reason }) }
      return { status, body, retryAfter, failure: cause }
    }
  }
}
