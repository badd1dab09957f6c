import { asObject } from '../base/json.ts'
import { ApiError, type FailureCode } from './api-error.ts'
import type { Session } from './session.ts'

type SendOptions = {
  method?: string
  /** Sent as it stands; a text is JSON. */
  body?: string | Blob | undefined
  headers?: Record<string, string>
  signal?: AbortSignal
  /** Timeout of the answer; longer for a request whose service has to ask others. */
  timeoutMs?: number
}

type Refused = {
  code?: FailureCode
  error?: string
  reason?: string
  field?: string
  retryAfter?: number
  setup?: boolean
}

/** Every answer of the service takes less time. A cashier does not wait longer. */
const answerMs = 20_000

/** Send one request; the JSON of its answer, its status and its headers. Throws ApiError, or the reason of `signal`. */
export async function exchange(
  url: string,
  options: SendOptions,
): Promise<{ value: unknown; status: number; headers: Headers }> {
  const response = await send(url, options)
  const value = await bodyOf(response, options.signal)
  if (response.ok) return { value, status: response.status, headers: response.headers }
  throw refusalOf(value, response.status)
}

/** Send one request whose answer is a file of any size. Throws ApiError, also for a file that breaks off. */
export async function requestFile(path: string, options: SendOptions = {}): Promise<Blob> {
  const response = await send(path, options)
  if (!response.ok) throw refusalOf(await bodyOf(response), response.status)
  return attempt(() => response.blob())
}

/** The text of one page of this service; null without an answer. */
export async function fetchPage(path: string): Promise<string | null> {
  try {
    const answer = await fetch(path, { cache: 'no-store', credentials: 'omit' })
    return answer.ok ? await answer.text() : null
  } catch {
    // The network fails in many ways, and each means the same.
    return null
  }
}

type StreamEvent = { name: string; data: string }

/**
 * Read server-sent events with a session. The browser's own reader cannot: it sends no Authorization
 * header. The first event is `open`; the generator ends when the service closes the stream.
 */
export async function* openStream(
  session: Session,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const open = async (token: string) => {
    const headers = { Authorization: `Bearer ${token}` }
    const response = await attempt(() => fetch(path, { headers, signal, cache: 'no-store' }))
    if (!response.ok) throw refusalOf(await bodyOf(response), response.status)
    return response
  }
  const token = await session.token()
  const response = await open(token).catch(async (cause: unknown) => {
    if (!(cause instanceof ApiError) || cause.status !== 401) throw cause
    return open(await session.renew(token))
  })
  yield { name: 'open', data: '' }
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const part = reader && (await attempt(() => reader.read()))
    if (!part || part.done) return
    const blocks = `${text}${part.value}`.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n')
      const field = (name: string) =>
        lines.find((line) => line.startsWith(name))?.slice(name.length) ?? ''
      const name = field('event: ')
      if (name !== '') yield { name, data: field('data: ') || '{}' }
    }
  }
}

/** The network fails in many ways, and each means the same: no answer. */
async function attempt<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch {
    throw new ApiError('unreachable')
  }
}

function refusalOf(value: unknown, status: number): ApiError {
  const { code, error, reason, ...rest } = (asObject(value) ?? {}) as Refused
  // The gateway calls its sentence `reason`. A proxy may answer with JSON of its own.
  const ours =
    typeof code === 'string' && /^[a-z0-9-]+$/.test(code) && (error ?? reason) !== undefined
  return new ApiError(ours ? code : 'answer-invalid', status, {
    error: error ?? reason,
    reason,
    ...rest,
  })
}

async function send(url: string, options: SendOptions): Promise<Response> {
  const { method = 'GET', body, headers = {}, signal, timeoutMs = answerMs } = options
  const type = body instanceof Blob ? body.type : 'application/json'
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    return await fetch(url, {
      method,
      headers: { ...(body !== undefined && { 'Content-Type': type }), ...headers },
      body: body ?? null,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      cache: 'no-store',
      credentials: 'omit',
    })
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new ApiError('unreachable')
  }
}

async function bodyOf(response: Response, signal?: AbortSignal): Promise<unknown> {
  try {
    const text = await response.text()
    // An accepted event is answered without a body.
    if (text === '' && (response.status === 202 || response.status === 204)) return null
    return JSON.parse(text)
  } catch (cause) {
    if (signal?.aborted) throw cause
    // Whole text that is not JSON comes from another server; a text that broke off may have been a success.
    if (cause instanceof SyntaxError && response.status < 500) {
      throw new ApiError('answer-invalid', response.status)
    }
    throw new ApiError('unreachable')
  }
}
