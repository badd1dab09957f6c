import { limits } from '../base/limits.ts'
import type { NostrEvent } from '../nostr/event.ts'
import { addressOf, expirationOf } from '../nostr/kind-class.ts'
import { kinds } from '../nostr/kinds.ts'

/** The reason to refuse an event from any sender, with its NIP-01 prefix, or null. */
export function findValidationError(event: NostrEvent, now: number): string | null {
  // A voucher event contains its nonce, which anybody who reads it could spend.
  if (event.kind === kinds.voucher) return 'blocked: vouchers are never published'
  if (event.kind === kinds.clientAuth) return 'blocked: an authentication is not published'
  if (event.tags.length > limits.relayTagsMax) return 'invalid: too many tags'
  if (!(addressOf(event) ?? '').isWellFormed()) return 'invalid: the d tag is not Unicode'
  const expiration = expirationOf(event)
  if (expiration === null) {
    const named = event.tags.some(([name]) => name === 'expiration')
    return named ? 'invalid: the expiration cannot be read' : null
  }
  return expiration <= now ? 'invalid: the event has expired' : null
}
