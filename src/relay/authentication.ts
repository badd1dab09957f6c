import { limits } from '../base/limits.ts'
import { type NostrEvent, tagValue } from '../nostr/event.ts'
import { kinds } from '../nostr/kinds.ts'

/** The connection that a client authenticates on: the challenge that it got, and this relay's origins. */
type Expected = { challenge: string; origins: readonly string[] }

/** The reason to refuse an authentication event (NIP-42), or null. The caller verifies its signature. */
export function findAuthError(event: NostrEvent, expected: Expected, now: number): string | null {
  if (event.kind !== kinds.clientAuth) return 'invalid: not an authentication'
  if (Math.abs(event.created_at - now) > limits.relayAuthSeconds) {
    return 'invalid: created_at is too far from now'
  }
  if (tagValue(event, 'challenge') !== expected.challenge) {
    return 'invalid: the challenge is not of this connection'
  }
  // Without this check, another relay could forward its client's authentication and act in its name here.
  if (!namesOneOf(expected.origins, tagValue(event, 'relay') ?? '')) {
    return 'invalid: the relay tag names another relay'
  }
  return null
}

/** True if the URL of a relay has one of these http(s) origins. NIP-42 asks for the same host only. */
function namesOneOf(origins: readonly string[], address: string): boolean {
  const url = URL.parse(address)
  return url !== null && origins.includes(`${url.protocol.replace(/^ws/, 'http')}//${url.host}`)
}
