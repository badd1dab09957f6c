/** Calls of the HTTP API by operation: credentials, Idempotency-Keys, and repetition of what is safe to repeat. */
import { asObject } from '../base/json.ts'
import { clientLimits } from '../base/limits-client.ts'
import { fits } from './answer-form.ts'
import { answerMs, exchange } from './api.ts'
import { ApiError, type FailureCode } from './api-error.ts'
import type { RefusalCode } from './described/codes.ts'
import { facts, keyed } from './described/facts.ts'
import type { Asked, OperationName, Operations } from './described/operations.ts'
import { unkeyed } from './described/unkeyed.ts'
import { reads } from './effect.ts'
import { createPauses } from './pause.ts'
import { type Pause, persist } from './persist.ts'
import { signRequest } from './proof.ts'
import { type EventSigner, SignerError } from './signer.ts'
import { createKeys, isKey, type KeyStorage, placeOf, type StoredKey } from './storage.ts'

export type CallOptions = {
  /** Sent beside the client's own. An Authorization here takes the place of the client's. */
  headers?: Record<string, string>
  /** Ends the call, repetitions included. It throws the reason of the signal. */
  signal?: AbortSignal
  /** Timeout of one request, in milliseconds. Opening a session is a request of its own. */
  timeoutMs?: number
  /**
   * True: a key is sent however old it is, because a second execution does no more harm than a new key would.
   * @internal
   */
  anyAge?: boolean
  /**
   * The key, as `reserve` told it.
   * @internal
   */
  reserved?: StoredKey
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
  /**
   * The key under a name, for a call that takes it as `reserved`. A new one is stored.
   * @internal
   */
  reserve(once: string): Promise<StoredKey>
}

/** A session: one signature for many calls. */
type Credentials = {
  token(timeoutMs?: number): Promise<string>
  /** A token for a request that may go without; null where none comes soon. */
  soon(timeoutMs?: number): Promise<string | null>
  /** Another token, after the service refused this one, or needs one. */
  renew(refused: string | null, timeoutMs?: number): Promise<string>
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

type Tried = { retryAfter: number | null } & (
  | { value: unknown }
  | { failure: ApiError | SignerError }
)

export function createCaller(wiring: Wiring): Caller {
  const { storage, patience } = wiring
  const keyOf = createKeys(storage)

  const call = async (name: OperationName, input: AnyInput = {}): Promise<unknown> => {
    const { once, signal } = input
    if (!(name in facts)) throw new TypeError(`no operation ${name}`)
    const named = once !== undefined || input.key !== undefined
    if (named && !keyed[name]) throw new TypeError(`${name} takes no Idempotency-Key`)
    const stored = input.reserved ?? (once === undefined ? null : await keyOf(once))
    const aged = stored && stored.age >= clientLimits.keySeconds
    if (aged && !lasting.has(name) && !input.anyAge) throw new ApiError('key-expired')
    const key = input.key ?? stored?.key
    const send = (ended: Ended = null) => attempt(() => sendOnce(wiring, name, input, key, ended))
    // Nobody knows whether a key of the caller was sent before.
    const used = stored ? stored.used : input.key !== undefined
    let lost = used
    /** Whether a failure says that no attempt was executed, under this key if it has one. */
    const decides = (failure: ApiError | SignerError) => {
      if (reads(name)) return true
      if (failure instanceof SignerError || failure.beforeKey) return !lost
      if (!isOf(name, failure)) return false
      if (!isEarly(failure)) return true
      // This call sends one body, whose form is refused each time, if it is refused at all.
      return !used && (!lost || canEarn(input.body, key, failure.code))
    }
    /** Whether this body is refused, for good, before its key is looked up. */
    const isEarly = (failure: ApiError) =>
      beforeLookup.has(failure.code) && isOf(name, failure) && !failure.lost
    const settled = (one: Tried) => {
      if ('value' in one || one.failure instanceof SignerError) return true
      const { failure } = one
      const told = failure.beforeKey || reads(name) || isOf(name, failure)
      if (failure.mayHaveSucceeded || !told) lost = true
      return !failure.lost && told
    }
    const repeated = key !== undefined || reads(name) ? patience : null
    const tried = await (repeated ? repeat(send, { ...repeated, signal, settled }) : send())
    if ('value' in tried) return tried.value
    const { failure } = tried
    failure.afterLost = !decides(failure)
    if (failure instanceof ApiError) {
      failure.foreign = !isOf(name, failure)
      failure.ofForm = isEarly(failure) && canEarn(input.body, key, failure.code)
    }
    throw failure
  }

  return {
    // The types of the operations are those of the document; here they are all alike.
    call: call as Caller['call'],
    async forget(once) {
      await storage.delete(placeOf(once))
    },
    reserve: keyOf,
  }
}

/** Whether a refusal is one of the operation. A gateway may refuse what the service has executed. */
function isOf(name: OperationName, { code }: ApiError): boolean {
  const codes = keyed[name] ?? unkeyed[name]
  return codes?.some((one) => one === code) ?? true
}

/** Refusals of a body before its key is looked up: another body may have succeeded under the key in an earlier call. */
const beforeLookup = new Set<string>([
  ...(['body-invalid', 'field-invalid', 'nonce-invalid'] as const),
  ...(['idempotency-key-invalid', 'too-large'] as const),
] satisfies RefusalCode[])

/** Whether the form of a body or key can be the reason for a refusal. A gateway has codes, too, and refuses what was executed. */
function canEarn(body: unknown, key: string | undefined, code: FailureCode): boolean {
  if (code === 'idempotency-key-invalid') return !isKey(key ?? '')
  if (code !== 'nonce-invalid' && code !== 'field-invalid') return false
  const { nonce, ...rest } = asObject(body) ?? {}
  const ofNonce = code === 'nonce-invalid' || Object.keys(rest).length === 0
  return !ofNonce || typeof nonce !== 'string' || !/^[\w-]{22}$/.test(nonce)
}

/** Operations whose answers the service keeps for ever. Those of the others end, and their keys before them. */
const lasting = new Set<OperationName>(['POST /api/coupons/refresh', 'POST /api/posters/{id}/take'])

/** Resolves when patience ends; null where no timer ends it, as with one attempt. */
type Ended = Promise<void> | null

type Repetition = {
  seconds: number
  pause: Pause
  signal: AbortSignal | undefined
  settled: (tried: Tried) => boolean
}

/** Attempts until the answer is certain, or patience ends. An aborted signal ends the next attempt. */
async function repeat(
  send: (ended: Ended) => Promise<Tried>,
  { seconds, pause, signal, settled }: Repetition,
): Promise<Tried> {
  let onAbort = (): void => undefined
  const aborted = new Promise<void>((resolve) => {
    onAbort = resolve
  })
  signal?.addEventListener('abort', onAbort)
  // A timer, because the wall clock of a device may be set meanwhile. A longer one would end at once.
  const patience = createPauses()
  let over = false
  const end = () => {
    over = true
  }
  const ended = seconds < timerSecondsMax ? patience.pause(seconds).then(end) : null
  try {
    return await persist(() => send(ended), {
      pause: (wait) => Promise.race([pause(wait), aborted]),
      onLost: () => undefined,
      goOn: () => !over,
      settled,
    })
  } finally {
    patience.wake()
    // A program may have one signal for all of its calls.
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Timers count milliseconds in 31 bits. */
const timerSecondsMax = 2 ** 31 / 1000

async function attempt(send: () => Promise<unknown>): Promise<Tried> {
  try {
    return { retryAfter: null, value: await send() }
  } catch (failure) {
    if (failure instanceof SignerError) return { retryAfter: null, failure }
    if (!(failure instanceof ApiError)) throw failure
    return { retryAfter: failure.retryAfter, failure }
  }
}

/** One attempt; a session that ended is opened again, once. */
async function sendOnce(
  { url, credentials, ...wiring }: Wiring,
  name: OperationName,
  input: AnyInput,
  key: string | undefined,
  ended: Ended,
): Promise<unknown> {
  const { body, headers = {}, signal, timeoutMs = wiring.timeoutMs } = input
  const [method = 'GET', template = ''] = name.split(' ')
  const address = `${url}${addressOf(template, input)}`
  const sent = body === undefined || body instanceof Blob ? body : JSON.stringify(body)
  const [access, ...forms] = facts[name]

  const send = async (authorization: string | null) => {
    const answer = await exchange(address, {
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
    // The JSON of another server, such as the portal of a Wi-Fi.
    const foreign = name === 'POST /api/coupons/claim' && nonceIn(answer.value) !== nonceIn(body)
    if (foreign || !fits(forms, answer)) throw new ApiError('answer-invalid', answer.status)
    return answer.value
  }

  if (!credentials || access === 'none' || 'Authorization' in headers) return send(null)
  if (access === 'signature') {
    const signer = await unless(signal, credentials.needSigner())
    const text = typeof sent === 'string' ? sent : null
    return send(await unless(signal, signRequest(signer, { url: address, method, body: text })))
  }
  const token =
    access === 'optional'
      ? await unless(signal, credentials.soon(timeoutMs))
      : await unless(signal, unsent(credentials.token(timeoutMs)))
  try {
    return await send(token === null ? null : `Bearer ${token}`)
  } catch (cause) {
    if (!(cause instanceof ApiError) || !cause.asksForSession) throw cause
    const renewed = unless(signal, unsent(credentials.renew(token, timeoutMs)))
    // A claim goes without a name otherwise, so a signer that never answers must not hold its customer for ever.
    const next = access === 'optional' ? await within(renewed, ended, timeoutMs) : await renewed
    if (next === null) throw cause
    return send(`Bearer ${next}`)
  }
}

/** An answer to a claim names the coupon that was sent: that of another one is no reason to hand anything over. */
function nonceIn(value: unknown): unknown {
  return asObject(value)?.nonce
}

/** Credentials for a request, which does not leave without them. Each of those who wait gets a failure of its own. */
async function unsent<T>(credentials: Promise<T>): Promise<T> {
  try {
    return await credentials
  } catch (cause) {
    if (cause instanceof SignerError) {
      throw new SignerError(cause.code, cause.waitSeconds, { cause: cause.cause })
    }
    throw cause instanceof ApiError ? cause.forUnsent() : cause
  }
}

/** The result of `work`, or the reason of a signal that comes first. Others may wait for the same work. */
export async function unless<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work
  const over = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    const end = () => reject(signal.reason)
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true, signal: over.signal })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    over.abort()
  }
}

/** The result of `work`; null where patience ends first, or the time of one request where there is none. */
async function within<T>(work: Promise<T>, ended: Ended, timeoutMs = answerMs): Promise<T | null> {
  const { pause, wake } = createPauses()
  try {
    return await Promise.race([work, (ended ?? pause(timeoutMs / 1000)).then(() => null)])
  } finally {
    wake()
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
