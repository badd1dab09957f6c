import { parseJson } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { proofHeader, proofTemplate } from '../client/proof.ts'
import type { Signer } from '../nostr/event.ts'
import { DemoFailure, expectEqual, type Json, type Reply } from './demo-checks.ts'

type Call = {
  body?: unknown
  /** Key that signs the request (NIP-98). */
  signer?: Signer
  /** Complete Authorization header. */
  authorization?: string
  idempotencyKey?: string
}

/** The last request of a step, for its line of output. */
export type Exchange = { method: string; path: string; status: number }

const answerMs = 15_000

/** Create a client of the server at `base`. Signatures name `origin`, which may differ behind a proxy. */
export function createDemoClient(base: string, origin: string) {
  const client = { last: null as Exchange | null, call, authorization }
  return client

  async function call(method: string, path: string, options: Call = {}): Promise<Reply> {
    const { body, signer, idempotencyKey } = options
    const text = body === undefined ? null : JSON.stringify(body)
    const headers: Record<string, string> = {}
    if (text !== null) headers['Content-Type'] = 'application/json'
    if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey
    if (options.authorization) headers.Authorization = options.authorization
    if (signer) headers.Authorization = authorization(signer, method, path, text)
    client.last = { method, path: shorten(path), status: 0 }
    const { status, origin, answer } = await send(`${base}${path}`, { method, headers, body: text })
    client.last = { method, path: shorten(path), status }
    const json = readAnswer(answer)
    // Pages of other origins use the API, so each answer needs the CORS header.
    expectEqual('the header Access-Control-Allow-Origin', origin, '*')
    return { status, text: answer, json }
  }

  /** The Authorization header (NIP-98) for one request. */
  function authorization(
    signer: Signer,
    method: string,
    path: string,
    body: string | null = null,
  ): string {
    return proofHeader(signer.sign(proofTemplate({ url: `${origin}${path}`, method, body })))
  }
}

async function send(url: string, request: RequestInit) {
  try {
    const signal = AbortSignal.timeout(answerMs)
    // A redirect is shown as its status. Following it would send the signature to another server.
    const response = await fetch(url, { ...request, redirect: 'manual', signal })
    const origin = response.headers.get('access-control-allow-origin')
    return { status: response.status, origin, answer: await response.text() }
  } catch (cause) {
    // `fetch` throws for failed connections only, with codes that no list names.
    if (!(cause instanceof Error)) throw cause
    throw new OperatorError('code' in cause ? String(cause.code) : cause.message, 'no-answer')
  }
}

function readAnswer(text: string): Json {
  const json = parseJson(text, limits.demoAnswerBytesMax)
  if (json === undefined) throw new DemoFailure(`the answer is not JSON: ${text.slice(0, 80)}`)
  return json
}

/** The start of a credential, enough to tell two apart. */
export function abbreviate(text: string): string {
  return text.length > 12 ? `${text.slice(0, 6)}…` : text
}

/** A URL without trailing slashes. */
export function withoutSlashes(address: string): string {
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
