import { Refusal } from '../../base/refusal.ts'
import type { NostrEvent } from '../../nostr/event.ts'
import { kinds } from '../../nostr/kinds.ts'
import type { Identities } from './service.ts'

/** First `t` tag of an event with which anybody makes one nonce, as in LaWallet's lightning-domain. */
export const signupType = 'buy-handle-request'

/** The issuer of such nonces in the database: nobody's key, so that they never fill the room of an issuer. */
export const signupIssuer = '0'.repeat(64)

/** Refuses `not-found` where sign-up is closed: the routes are absent then. */
export function requireSignup({ selfSignup }: Pick<Identities, 'selfSignup'>): void {
  if (!selfSignup) throw new Refusal('not-found')
}

/** Sign an event for somebody at `address`. It makes one nonce within the window of a request. */
export function createSignupEvent(identities: Identities, address: string): NostrEvent {
  const { signer, now, newNonce, countSignup } = identities
  requireSignup(identities)
  countSignup(address)
  return signer.sign({
    kind: kinds.walletRegular,
    created_at: now(),
    tags: [
      ['t', signupType],
      // Two of one second differ.
      ['unique', newNonce()],
    ],
    content: '',
  })
}
