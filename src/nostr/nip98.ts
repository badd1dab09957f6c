import { createHash } from 'node:crypto'
import { parseJson } from '../base/json.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { type NostrEvent, parseEvent, tagValue, type VerifyEventSoon } from './event.ts'
import { kinds } from './kinds.ts'

/** The request that a NIP-98 event must match. */
export type SignedRequest = {
  method: string
  /** Origins of this service. Empty if none is known. */
  origins: readonly string[]
  /** Path and query, exactly as requested. */
  target: string
  body: Uint8Array
}

const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/
const httpUrl = /^(https?:\/\/[^/?#@]+)(|[/?][^#]*)$/i

/**
 * Verify the event of an `Authorization: Nostr …` header (NIP-98), from the text after the scheme. It checks shape,
 * kind, signature, time, method, u and payload, and refuses with an `auth-…` code.
 */
export async function verifyHttpAuth(
  encoded: string,
  request: SignedRequest,
  now: number,
  verify: VerifyEventSoon,
): Promise<NostrEvent> {
  const event = decodeEvent(encoded)
  if (event?.kind !== kinds.httpAuth || !(await verify(event))) throw new Refusal('auth-malformed')
  if (Math.abs(event.created_at - now) > limits.proofWindowSeconds) {
    throw new Refusal('auth-expired')
  }
  const method = tagValue(event, 'method')
  const url = tagValue(event, 'u')
  if (method === undefined || url === undefined) throw new Refusal('auth-malformed')
  if (method.toUpperCase() !== request.method) throw new Refusal('auth-url-mismatch')
  requireUrl(url, request)
  const payload = tagValue(event, 'payload')
  if (payload !== undefined && payload.toLowerCase() !== sha256(request.body)) {
    throw new Refusal('auth-malformed')
  }
  return event
}

function decodeEvent(encoded: string): NostrEvent | null {
  if (!base64.test(encoded)) return null
  return parseEvent(parseJson(Buffer.from(encoded, 'base64'), limits.authorizationBytesMax))
}

/** Refuse another URL. Origins are compared as URLs, path and query as bytes. A fragment never matches. */
function requireUrl(url: string, request: SignedRequest): void {
  if (request.origins.length === 0) throw new Refusal('auth-origin-unknown')
  const [, origin = '', target = ''] = httpUrl.exec(url) ?? []
  const asked = URL.parse(origin)?.origin
  const here = (target.startsWith('/') ? target : `/${target}`) === request.target
  if (!here || asked === undefined || !request.origins.includes(asked)) {
    throw new Refusal('auth-url-mismatch')
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
