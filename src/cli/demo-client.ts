import { parseJson } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { proofHeader, proofTemplate } from '../client/proof.ts'
import type { Signer } from '../nostr/event.ts'
import { DemoFailure, expectEqual, type Json, type Reply } from './demo-checks.ts'

type Call = {
  body?: unknown
  /** Signs the request (NIP-98). */
  signer?: Signer
  /** A ready Authorization header. */
  authorization?: string
  idempotencyKey?: string
}

/** What a step did last, for its line. */
export type Exchange = { method: string; path: string; status: number }

const answerMs = 15_000

/** A client for one server, which goes by `origin`; `last` is the exchange it had last. */
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
    expectEqual('the header Access-Control-Allow-Origin', origin, '*')
    return { status, text: answer, json }
  }

  /** The Authorization header of a NIP-98 event for one request. */
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
    const response = await fetch(url, { ...request, redirect: 'manual', signal })
    const origin = response.headers.get('access-control-allow-origin')
    return { status: response.status, origin, answer: await response.text() }
  } catch (cause) {
    // Whatever fetch throws is about the connection; there is no closed list of its codes.
    if (!(cause instanceof Error)) throw cause
    throw new OperatorError('code' in cause ? String(cause.code) : cause.message, 'no-answer')
  }
}

function readAnswer(text: string): Json {
  const json = parseJson(text, limits.demoAnswerBytesMax)
  if (json === undefined) throw new DemoFailure(`the answer is not JSON: ${text.slice(0, 80)}`)
  return json
}

/** Enough of a credential to tell two apart. */
export function short(text: string): string {
  return text.length > 12 ? `${text.slice(0, 6)}…` : text
}

/** An address without the slashes at its end. */
export function withoutSlashes(address: string): string {
  let end = address.length
  while (address[end - 1] === '/') end--
  return address.slice(0, end)
}

/** Ids and nonces in a path, shortened. */
function shorten(path: string): string {
  return path
    .split('/')
    .map((segment) => (segment.length > 20 ? short(segment) : segment))
    .join('/')
}
