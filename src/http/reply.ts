import type { Refusal, RefusalCode } from '../base/refusal.ts'

/** On every answer: who may read it, and that nobody keeps it. */
const common = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Location, Retry-After, WWW-Authenticate, X-Nostr-Relays',
}

/** An answer whose JSON text is ready. */
export function reply(status: number, body: string, headers?: Record<string, string>): Response {
  return new Response(body, { status, headers: headers ? { ...common, ...headers } : common })
}

/** An answer from a value. */
export function replyJson(status: number, value: unknown, headers?: Record<string, string>) {
  return reply(status, JSON.stringify(value), headers)
}

/** The `reason` of authentication failures on the wire. */
const reasons: Partial<Record<RefusalCode, string>> = {
  'auth-missing': 'missing',
  'auth-too-large': 'too-large',
  'auth-malformed': 'malformed',
  'auth-expired': 'expired',
  'auth-url-mismatch': 'url-mismatch',
  'auth-origin-unknown': 'url-mismatch',
  'auth-replay': 'replay',
  'auth-session-expired': 'session-expired',
  'auth-session-invalid': 'session-invalid',
}

/** A refusal on the wire; `schemes`: the Authorization schemes the route takes, null for none. */
export function replyRefusal(refusal: Refusal, schemes: string | null): Response {
  const { code, status, sentence, detail } = refusal
  const reason = code === 'too-large' && schemes ? 'too-large' : reasons[code]
  const headers = headersOf(refusal)
  if (status === 401 && schemes) headers['WWW-Authenticate'] = schemes
  return replyJson(status, { error: sentence, code, reason, ...detail }, headers)
}

/** A refusal in the envelope of the wallet gateway: LNURL's `status` and `reason`. */
export function replyGatewayRefusal(refusal: Refusal): Response {
  const { code, status, sentence, detail } = refusal
  const headers = headersOf(refusal)
  return replyJson(status, { status: 'ERROR', reason: sentence, code, ...detail }, headers)
}

/** The English `reason` of the identity routes, which their clients know; else the sentence. */
const identityReasons: Partial<Record<RefusalCode, string>> = {
  'method-not-allowed': 'Must use POST method',
  'identity-event-invalid': 'Should send as NOSTR event',
  'identity-event-stale': 'Should send as NOSTR event',
  'identity-name-invalid': 'Name not valid',
  'identity-pubkey-invalid': 'Pubkey not valid',
  'identity-lud16-invalid': 'Lud16 not valid',
  'identity-nonce-invalid': 'Nonce not valid',
  'identity-not-authorized': 'Pubkey not authorized',
  'identity-nonce-missing': 'Nonce is missing',
  'identity-nonce-unknown': 'Nonce not found',
  'identity-nonce-burned': 'Nonce already used',
  'identity-reserved': 'Name is reserved',
  'identity-unknown': 'Not found',
  'nonce-unknown': 'Nonce not found',
  'identity-name-taken': 'Name already taken',
  'identity-pubkey-taken': 'Pubkey already assigned to an existing account',
  'nonce-burned': 'Nonce already used',
  'event-repeated': 'Event already used',
  'identity-nonce-taken': 'Nonce already exists',
  'identity-nonces-full': 'Too many unused nonces',
}

/** Why, in English where clients of identities and operators know it so. */
export function reasonOf({ code, sentence }: Refusal): string {
  return identityReasons[code] ?? sentence
}

/** A refusal in the envelope of the identity routes. */
export function replyIdentityRefusal(refusal: Refusal): Response {
  const { code, status, detail } = refusal
  const reason = reasonOf(refusal)
  // Who asks about a nonce looks at `status` alone.
  const unusable = code === 'nonce-unknown' || code === 'nonce-burned' ? { status: false } : {}
  const body = { ...unusable, success: false, reason, code, ...detail }
  return replyJson(status, body, headersOf(refusal))
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
