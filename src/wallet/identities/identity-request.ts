import { authorTowards, type VerifyHash } from '../../nostr/delegation.ts'
import { kinds } from '../../nostr/kinds.ts'
import { type Checks, readRequest, type WalletRequest } from '../request.ts'

/** A request of the identity routes. Refuses `identity-event-invalid`, `identity-event-stale`. */
export function readIdentityRequest(
  { manager, verifyHash, ...checks }: Checks & { manager: string; verifyHash: VerifyHash },
  value: unknown,
  types: readonly string[],
): WalletRequest {
  return readRequest(checks, value, {
    kinds: [kinds.walletRegular],
    types,
    untyped: true,
    authorOf: (event) => authorTowards(manager, event, verifyHash),
    invalid: 'identity-event-invalid',
    stale: 'identity-event-stale',
  })
}
