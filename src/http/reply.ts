import { httpStatusOf, type Refusal } from '../base/refusal.ts'
import type { Envelope } from './envelope.ts'

/** Headers of every answer: any page may read it, and nobody keeps it. */
const common = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Location, Retry-After, WWW-Authenticate, X-Nostr-Relays',
}

/** The same, ready to be copied: to read them from an object takes as long as the rest of an answer. */
const commonHeaders = new Headers(common)

/** An answer whose JSON text is ready. */
export function reply(status: number, body: string, headers?: Record<string, string>): Response {
  return new Response(body, {
    status,
    headers: headers ? { ...common, ...headers } : commonHeaders,
  })
}

/** An answer from a value. */
export function replyJson(status: number, value: unknown, headers?: Record<string, string>) {
  return reply(status, JSON.stringify(value), headers)
}

/** A refusal on the wire. `schemes` are the Authorization schemes of the route, null for none. */
export function replyRefusal(
  refusal: Refusal,
  envelope: Envelope,
  schemes: string | null,
): Response {
  const status = httpStatusOf(refusal)
  const headers = headersOf(refusal)
  if (status === 401 && schemes) headers['WWW-Authenticate'] = schemes
  return replyJson(status, envelope.bodyOf(refusal, schemes), headers)
}

function headersOf({ code, detail }: Refusal): Record<string, string> {
  const headers: Record<string, string> = {}
  if (detail.retryAfter !== undefined) headers['Retry-After'] = String(detail.retryAfter)
  // The rest of such a body is not worth reading.
  if (code === 'too-large' || code === 'request-timeout') headers.Connection = 'close'
  return headers
}

const preflight = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers':
    'Content-Type, Authorization, Idempotency-Key, X-LaWallet-Action, X-LaWallet-Param',
  'Access-Control-Expose-Headers': common['Access-Control-Expose-Headers'],
  'Access-Control-Max-Age': '86400',
  'Cache-Control': 'no-store',
}

/** The answer to OPTIONS. */
export function replyOptions(methods: readonly string[]): Response {
  const allow = methods.join(', ')
  const headers = { ...preflight, Allow: allow, 'Access-Control-Allow-Methods': allow }
  return new Response(null, { status: 204, headers })
}
