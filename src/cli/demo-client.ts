import { asObject, parseJson } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { createPauses } from '../client/pause.ts'
import { type Answer, codeOf, type Pause, persist } from '../client/persist.ts'
import { proofHeader, proofTemplate } from '../client/proof.ts'
import type { Signer } from '../nostr/event.ts'
import { DemoFailure, expectEqual, type Json, type Reply } from './demo-checks.ts'

type Call = {
  body?: unknown
  /** Key that signs each attempt (NIP-98). */
  signer?: Signer
  /** Complete Authorization header. */
  authorization?: string
  idempotencyKey?: string
  /** True for a POST without an Idempotency-Key that changes nothing when it is executed again. */
  harmless?: boolean
}

/** The last request of a step, for its line of output. */
export type Exchange = { method: string; path: string; status: number }

/** How long a client waits for an answer, and before it asks again. */
export type Patience = { answerSeconds: number; pause: Pause; stopwatch: () => number }

type Reading = Omit<Answer, 'failure'>

type Attempt = Reading & {
  text: string
  json: unknown
  cors: string | null
  authorization: string | undefined
  /** Cause of a missing answer, in words; null if the server answered. */
  lost: string | null
  /** True if nothing listens at the address. */
  nobody: boolean
}

const usual: Patience = {
  answerSeconds: limits.demoAnswerSeconds,
  pause: createPauses().pause,
  stopwatch: () => performance.now() / 1000,
}

/**
 * Create a client of the server at `base`. Signatures name `origin`, which may differ behind a proxy. A request without
 * a certain answer is repeated if that is safe; `call` throws OperatorError `no-answer` in the end.
 */
export function createDemoClient(base: string, origin: string, patience = usual) {
  const { answerSeconds, pause, stopwatch } = patience
  const client = { last: null as Exchange | null, call }
  let answered = false
  return client

  async function call(method: string, path: string, options: Call = {}): Promise<Reply> {
    const name = `${method} ${shorten(path)}`
    // RFC 9110, 9.2.2: the other methods are idempotent.
    const safe = method !== 'POST' || options.idempotencyKey !== undefined || options.harmless
    const began = stopwatch()
    let tries = 0
    client.last = { method, path: shorten(path), status: 0 }
    const found = await persist(() => attempt(method, path, options), {
      pause,
      onLost: (_, { lost }) => console.log(`… ${name}: ${lost}, asking again`),
      goOn: () => true,
      settled({ lost, nobody }) {
        tries++
        const late =
          tries >= limits.demoTriesMax || stopwatch() - began >= limits.demoPatienceSeconds
        return lost === null || !safe || late || (nobody && !answered)
      },
    })
    const { status, text, json, cors, authorization, lost } = found
    client.last.status = status
    if (lost !== null) {
      const again = tries > 1 ? `, asked ${tries} times` : ''
      const said = status > 0 ? `${base} answered ${lost}` : `no answer from ${base} (${lost})`
      const hint = !safe ? unsafeHint : answered || status > 0 ? brokenHint : absentHint
      throw new OperatorError(`${said} to ${name}${again}: ${hint}`, 'no-answer')
    }
    answered = true
    if (json === undefined) throw new DemoFailure(`the answer is not JSON: ${text.slice(0, 80)}`)
    // Pages of other origins use the API, so each answer needs the CORS header.
    expectEqual('the header Access-Control-Allow-Origin', cors, '*')
    return { status, text, json: json as Json, repeated: tries > 1, authorization }
  }

  /** Send a request once. Each attempt is signed anew, because a signature counts once. */
  async function attempt(method: string, path: string, options: Call): Promise<Attempt> {
    const { body, signer, idempotencyKey } = options
    const text = body === undefined ? null : JSON.stringify(body)
    const authorization = signer ? proofOf(signer, method, path, text) : options.authorization
    const headers = {
      ...(text !== null && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      ...(authorization !== undefined && { Authorization: authorization }),
    }
    try {
      // A redirect is shown as its status. Following it would send the signature to another server.
      const response = await fetch(`${base}${path}`, {
        method,
        headers,
        body: text,
        redirect: 'manual',
        // On a connection that was used before, Bun repeats GET, PUT and DELETE itself, with the same signature.
        keepalive: false,
        signal: AbortSignal.timeout(answerSeconds * 1000),
      })
      return { ...(await readAnswer(response)), authorization }
    } catch (cause) {
      // `fetch` throws for failed connections only, with codes that no list names.
      if (!(cause instanceof Error)) throw cause
      return { ...silenceOf(cause, answerSeconds), authorization }
    }
  }

  /** The Authorization header (NIP-98) of one request. */
  function proofOf(signer: Signer, method: string, path: string, body: string | null): string {
    return proofHeader(signer.sign(proofTemplate({ url: `${origin}${path}`, method, body })))
  }
}

const absentHint =
  'start it with "cuponera serve" or "npm start", or name another address with --url'
const brokenHint =
  'see the log of the server; behind a balancer, see "cuponera nodes" and GET /readyz of each node'
const unsafeHint =
  'it may have been executed, and a repetition might execute it twice: run the demo again'

type Found = Omit<Attempt, 'authorization'>

async function readAnswer(response: Response): Promise<Found> {
  const { status, headers } = response
  const text = await response.text()
  const json = parseJson(text, limits.demoAnswerBytesMax)
  const body = asObject(json) ?? {}
  const retryAfter = typeof body.retryAfter === 'number' ? body.retryAfter : null
  const answer = { status, body, retryAfter }
  const cors = headers.get('access-control-allow-origin')
  return { ...answer, text, json, cors, lost: lossOf(answer), nobody: false }
}

/** In words, the answer of a proxy without a server, or of a server without its database. Null for any other. */
function lossOf(answer: Reading): string | null {
  const code = codeOf(answer)
  // Another code, such as `moved`, says a state that lasts.
  const passes = [502, 503, 504].includes(answer.status) && /^(unavailable|overloaded)?$/.test(code)
  return passes ? [answer.status, code].join(' ').trim() : null
}

function silenceOf(cause: Error, answerSeconds: number): Found {
  const code = 'code' in cause ? String(cause.code) : cause.message
  const lost = cause.name === 'TimeoutError' ? `nothing within ${answerSeconds} s` : code
  const nobody = cause.name !== 'TimeoutError' && code !== 'ECONNRESET'
  const answer = { status: 0, body: {}, retryAfter: null }
  return { ...answer, text: '', json: undefined, cors: null, lost, nobody }
}

/** The start of a credential, enough to tell two apart. */
export function abbreviate(text: string): string {
  return text.length > 12 ? `${text.slice(0, 6)}…` : text
}

/** The address of a server, without trailing slashes; null if the text is none. */
export function parseServerAddress(text: string): string | null {
  const address = URL.parse(text)
  if (!address || !/^https?:$/.test(address.protocol)) return null
  return address.search + address.hash === '' ? withoutSlashes(address.href) : null
}

function withoutSlashes(address: string): string {
  let end = address.length
  while (address[end - 1] === '/') end--
  return address.slice(0, end)
}

/** A path with its ids and nonces shortened, because a terminal is no place for credentials. */
function shorten(path: string): string {
  return path
    .split('/')
    .map((segment) => (segment.length > 20 ? abbreviate(segment) : segment))
    .join('/')
}
