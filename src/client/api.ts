import { asObject } from '../base/json.ts'
import { clientLimits } from '../base/limits-client.ts'
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

/** Every answer of the service takes less time. A cashier does not wait longer. */
export const answerMs = 20_000

/** Send one request; the JSON of its answer, its status and its headers. Throws ApiError, or the reason of `signal`. */
export async function exchange(
  url: string,
  options: SendOptions,
): Promise<{ value: unknown; status: number; headers: Headers }> {
  const response = await send(url, options)
  const value = await bodyOf(response, options.signal)
  if (response.ok) return { value, status: response.status, headers: response.headers }
  throw refusalOf(value, response)
}

/** Send one request whose answer is a file of any size. Throws ApiError, also for a file that breaks off. */
export async function requestFile(path: string, options: SendOptions = {}): Promise<Blob> {
  const response = await send(path, options)
  if (!response.ok) throw refusalOf(await bodyOf(response), response)
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
    const response = await attempt(() =>
      fetch(path, { headers, signal, cache: 'no-store', redirect: 'manual' }),
    )
    if (!response.ok) throw refusalOf(await bodyOf(response), response)
    return response
  }
  const token = await session.token()
  const response = await open(token).catch(async (cause: unknown) => {
    if (!(cause instanceof ApiError) || !cause.asksForSession) throw cause
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
async function attempt<T>(action: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await action()
  } catch (cause) {
    if (signal?.aborted || cause instanceof ApiError) throw cause
    throw new ApiError('unreachable')
  }
}

function refusalOf(value: unknown, { status, headers }: Response): ApiError {
  const { code, error, reason, field, retryAfter, setup } = asObject(value) ?? {}
  // The gateway calls its sentence `reason`. A proxy may answer with JSON of its own.
  const sentence = textIn(error ?? reason)
  const ours = typeof code === 'string' && /^[a-z0-9-]+$/.test(code) && sentence !== undefined
  const [fieldText, reasonText] = [textIn(field), textIn(reason)]
  const wait = secondsIn(retryAfter) ?? secondsIn(headers.get('retry-after'))
  return new ApiError(ours ? (code as FailureCode) : 'answer-invalid', status, {
    ...(sentence !== undefined && { error: sentence }),
    ...(reasonText !== undefined && { reason: reasonText }),
    ...(fieldText !== undefined && { field: fieldText }),
    ...(wait !== undefined && { retryAfter: wait }),
    setup: setup === true,
  })
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Seconds above zero; a proxy may also name a date. */
function secondsIn(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? Number(value) : value
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0
    ? seconds
    : undefined
}

async function send(url: string, options: SendOptions): Promise<Response> {
  const { method = 'GET', body, headers = {}, signal, timeoutMs = answerMs } = options
  const type = body instanceof Blob ? body.type : 'application/json'
  const timeout = AbortSignal.timeout(timeoutMs)
  const response = await attempt(
    () =>
      fetch(url, {
        method,
        headers: { ...(body !== undefined && { 'Content-Type': type }), ...headers },
        body: body ?? null,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        cache: 'no-store',
        credentials: 'omit',
        // A nonce and a key must not go to another host, whose answer would count.
        redirect: 'manual',
      }),
    signal,
  )
  if (isRedirect(response)) throw redirectOf(response, url)
  return response
}

function isRedirect({ type, status, headers }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400 && headers.has('location'))
}

/** No operation redirects: the client was given another address, or a Wi-Fi wants a login first. */
function redirectOf({ status, headers }: Response, url: string): ApiError {
  const location = headers.get('location')
  // A page is not told where to, and its address is the right one.
  if (location === null || !URL.canParse(location, url))
    return new ApiError('answer-invalid', status)
  const [from, to] = [new URL(url), new URL(location, url)]
  const permanent = status === 301 || status === 308 || from.hostname === to.hostname
  if (!permanent || from.origin === to.origin) return new ApiError('answer-invalid', status)
  // Only origins are told: the rest of an address may have a nonce.
  const message = `${from.origin} redirects to ${to.origin}: give createClient that as its url`
  return new ApiError('redirected', status, { message })
}

async function bodyOf(response: Response, signal?: AbortSignal): Promise<unknown> {
  const text = await attempt(() => textOf(response), signal)
  // An accepted event is answered without a body.
  if (text === '' && (response.status === 202 || response.status === 204)) return null
  try {
    return JSON.parse(text)
  } catch {
    // Whole text that is not JSON comes from another server; the text of a fault may stand for a success.
    if (response.status >= 500) throw new ApiError('unreachable')
    throw new ApiError('answer-invalid', response.status)
  }
}

/** Throws for a text that never ends, too. */
async function textOf({ body, status }: Response): Promise<string> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; reader; ) {
    const part = await reader.read()
    if (part.done) break
    bytes += part.value.length
    if (bytes > clientLimits.answerBytesMax) {
      await reader.cancel()
      throw new ApiError('answer-invalid', status)
    }
    text += decoder.decode(part.value, { stream: true })
  }
  return text + decoder.decode()
}
