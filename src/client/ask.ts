import { asObject } from '../base/json.ts'
import { request } from './api.ts'
import { ApiError } from './api-error.ts'
import type { Ask } from './persist.ts'

type Wiring = {
  /** The sentence for a person about a failure. */
  describe: (cause: ApiError) => string
  /** Called after every request: whether the service answered. */
  onReached: (reached: boolean) => void
}

/** Requests that never throw ApiError: a failure is an answer with the code of the failure. */
export function createAsk({ describe, onReached }: Wiring): Ask {
  return async (path, body, key, { authorization, ...patience } = {}) => {
    try {
      const headers: Record<string, string> = {
        ...(key !== undefined && { 'Idempotency-Key': key }),
        ...(authorization !== undefined && { Authorization: authorization }),
      }
      const answer = await request<unknown>(path, { method: 'POST', body, headers, ...patience })
      onReached(true)
      return { status: 200, body: asObject(answer) ?? {}, retryAfter: null }
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause
      onReached(cause.code !== 'unreachable')
      const { status, code, retryAfter, reason } = cause
      // The login page of a Wi-Fi is no answer of the service, so it has no sentence.
      const ours = code !== 'unreachable' && code !== 'answer-invalid'
      const error = ours ? describe(cause) : ''
      return { status, body: { code, error, ...(reason !== null && { reason }) }, retryAfter }
    }
  }
}
