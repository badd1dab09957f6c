import { ApiError, type FailureCode } from './api-error.ts'
import type { Session } from './session.ts'

type RequestOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Sent as JSON; a string as it stands. */
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

type Refused = {
  code?: FailureCode
  error?: string
  reason?: string
  field?: string
  retryAfter?: number
}

/** Longer than the service takes for anything, short enough for somebody who waits at a counter. */
const answerMs = 20_000

/** One request to this service; its answer parsed. Throws ApiError and nothing else. */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(path, options)
  const value = await bodyOf(response)
  if (response.ok) return value as T
  // The gateway calls its sentence `reason`.
  const { code, error, reason, ...rest } = value as Refused
  throw new ApiError(code ?? 'answer-invalid', response.status, { error: error ?? reason, ...rest })
}

/** The same as whoever is signed in; a session that ended is opened again, once. */
export async function requestAs<T>(
  session: Session,
  path: string,
  options: RequestOptions = {},
): Promise<T> {
  const token = await session.token()
  const withToken = (one: string) => ({
    ...options,
    headers: { ...options.headers, Authorization: `Bearer ${one}` },
  })
  try {
    return await request<T>(path, withToken(token))
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 401) throw cause
    return request<T>(path, withToken(await session.renew(token)))
  }
}

async function send(path: string, options: RequestOptions): Promise<Response> {
  const { body, headers = {}, signal } = options
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const timeout = AbortSignal.timeout(answerMs)
  try {
    return await fetch(path, {
      method: options.method ?? (text === undefined ? 'GET' : 'POST'),
      headers: { ...(text !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      body: text ?? null,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      cache: 'no-store',
      credentials: 'omit',
    })
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new ApiError('unreachable')
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch (cause) {
    // An answer that broke off may have been the good one; anything else is not from our service.
    if (cause instanceof SyntaxError && response.status < 500) {
      throw new ApiError('answer-invalid', response.status)
    }
    throw new ApiError('unreachable')
  }
}
