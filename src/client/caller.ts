/** Calls of the HTTP API by operation: credentials, Idempotency-Keys, and repetition of what is safe to repeat. */
import { systemClock } from '../base/clock.ts'
import { asObject } from '../base/json.ts'
import { exchange } from './api.ts'
import { ApiError } from './api-error.ts'
import { facts } from './described/facts.ts'
import type { Asked, OperationName, Operations } from './described/operations.ts'
import { type Answer, createRuns, type Pause, persist } from './persist.ts'
import { signRequest } from './proof.ts'
import { randomText } from './random.ts'
import type { EventSigner } from './signer.ts'

/** Keeps the Idempotency-Keys of unfinished operations. A `Map` will do where they need not survive the program. */
export type KeyStorage = {
  get(name: string): MayWait<string | null | undefined>
  /** A promise resolves when the text is stored: the request waits for it. */
  set(name: string, text: string): MayWait<unknown>
  delete(name: string): MayWait<unknown>
}

type MayWait<T> = T | Promise<T>

export type CallOptions = {
  /** Sent beside the client's own. An Authorization here takes the place of the client's. */
  headers?: Record<string, string>
  /** Ends the call, repetitions included. It throws the reason of the signal. */
  signal?: AbortSignal
  /** Timeout of one attempt, in milliseconds. */
  timeoutMs?: number
}

/** `Input` of an operation, which may be left out where all of it may. */
type Given<Input> =
  Record<never, never> extends Input ? [input?: Input & CallOptions] : [input: Input & CallOptions]

export type Caller = {
  /**
   * Call an operation, such as `POST /api/coupons/claim`. Reads, and operations with an Idempotency-Key, are
   * repeated until their answer is there or patience ends. Throws ApiError and SignerError.
   */
  call<Name extends OperationName>(
    name: Name,
    ...given: Given<Operations[Name]['input']>
  ): Promise<Operations[Name]['answer']>
  /** Forget the key of an operation whose outcome you have stored: its name is then free for another one. */
  forget(once: string): Promise<void>
}

/** A session: one signature for many calls. */
type Credentials = {
  token(): Promise<string>
  /** Another token, after the service refused this one. */
  renew(refused: string): Promise<string>
  needSigner(): Promise<EventSigner>
}

type Wiring = {
  /** Origin of the service; empty in a page of its own. A signature names it. */
  url: string
  credentials: Credentials | null
  storage: KeyStorage
  /** Null: one attempt. */
  patience: {
    /** No attempt begins later than so many seconds after the first. */
    seconds: number
    pause: Pause
  } | null
  timeoutMs?: number
}

/** The parts of an input, whatever the operation. */
type AnyInput = CallOptions & {
  path?: Record<string, string>
  query?: Record<string, Asked>
  body?: unknown
  once?: string
  key?: string
}

type Tried = Answer & ({ value: unknown } | { failure: ApiError })

export function createCaller(wiring: Wiring): Caller {
  const { storage, patience } = wiring
  const runs = createRuns<string>()

  /** The key under a name of the caller. A new one is stored before the request leaves. */
  const keyOf = (once: string) =>
    runs(once, async () => {
      const known = await storage.get(placeOf(once))
      if (known) return known
      const key = randomText()
      await storage.set(placeOf(once), key)
      return key
    })

  const call = async (name: OperationName, input: AnyInput = {}): Promise<unknown> => {
    const { once, key = once === undefined ? undefined : await keyOf(once), signal } = input
    const send = () => sendOnce(wiring, name, input, key)
    if (!patience || (key === undefined && !reads(name))) return send()
    const began = systemClock()
    const aborted = new Promise<void>((resolve) =>
      signal?.addEventListener('abort', () => resolve(), { once: true }),
    )
    const tried = await persist(() => attempt(send), {
      pause: (seconds) => Promise.race([patience.pause(seconds), aborted]),
      onLost: () => undefined,
      goOn: () => {
        signal?.throwIfAborted()
        return systemClock() - began < patience.seconds
      },
      settled: (one) => 'value' in one || !one.failure.mayHaveSucceeded,
    })
    if ('failure' in tried) throw tried.failure
    return tried.value
  }

  return {
    // The types of the operations are those of the document; here they are all alike.
    call: call as Caller['call'],
    async forget(once) {
      await storage.delete(placeOf(once))
    },
  }
}

function placeOf(once: string): string {
  return `once:${once}`
}

/** Whether an operation has no effect. Two of LNURL have one although they are a GET. */
export function reads(name: OperationName): boolean {
  if (name === 'POST /api/coupons/preview' || name === 'POST /nostr/fetch') return true
  return name.startsWith('GET ') && name !== 'GET /card/scan' && name !== 'GET /card/pay'
}

async function attempt(send: () => Promise<unknown>): Promise<Tried> {
  try {
    return { status: 200, body: {}, retryAfter: null, value: await send() }
  } catch (failure) {
    if (!(failure instanceof ApiError)) throw failure
    return { status: failure.status, body: {}, retryAfter: failure.retryAfter, failure }
  }
}

/** One attempt; a session that ended is opened again, once. */
async function sendOnce(
  { url, credentials, ...wiring }: Wiring,
  name: OperationName,
  input: AnyInput,
  key: string | undefined,
): Promise<unknown> {
  const { body, headers = {}, signal, timeoutMs = wiring.timeoutMs } = input
  const [method = 'GET', template = ''] = name.split(' ')
  const address = `${url}${addressOf(template, input)}`
  const sent = body === undefined || body instanceof Blob ? body : JSON.stringify(body)
  const [access, ...keys] = facts[name]

  const send = async (authorization: string | null) => {
    const { value } = await exchange(address, {
      method,
      body: sent,
      headers: {
        ...(key !== undefined && { 'Idempotency-Key': key }),
        ...(authorization !== null && { Authorization: authorization }),
        ...headers,
      },
      ...(signal && { signal }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    })
    const answer = asObject(value) ?? {}
    const ours = keys.length === 0 || keys.some((one) => answer[one] !== undefined)
    // The JSON of another server, such as the portal of a Wi-Fi.
    if (!ours) throw new ApiError('answer-invalid', 200)
    return value
  }

  if (!credentials || access === 'none' || 'Authorization' in headers) return send(null)
  if (access === 'signature') {
    const signer = await credentials.needSigner()
    const text = typeof sent === 'string' ? sent : null
    return send(await signRequest(signer, { url: address, method, body: text }))
  }
  const token = await credentials.token()
  try {
    return await send(`Bearer ${token}`)
  } catch (cause) {
    if (!(cause instanceof ApiError) || !cause.asksForSession) throw cause
    return send(`Bearer ${await credentials.renew(token)}`)
  }
}

/** A part of a path. Throws RangeError for one that would lead to another route: to its parent, which may delete more. */
function partOf(name: string, value = ''): string {
  if (['', '.', '..'].includes(value))
    throw new RangeError(`${name} is no part of a path: "${value}"`)
  return encodeURIComponent(value)
}

function addressOf(template: string, { path = {}, query = {} }: AnyInput): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name) => partOf(name, path[name]))
  const asked = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)]],
  )
  return asked.length === 0 ? filled : `${filled}?${new URLSearchParams(asked)}`
}
