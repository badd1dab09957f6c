import { hash } from 'node:crypto'
import { countOnce } from '../../base/count-once.ts'
import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import { tagValue } from '../../nostr/event.ts'
import { rememberRequest } from '../request.ts'
import { readIdentityRequest } from './identity-request.ts'
import type { Identities, IdentityStores } from './service.ts'
import { signupIssuer, signupType } from './signup.ts'

const visible = /^[!-~]+$/

/** The hash that the database has in place of a nonce. */
export function nonceHash(nonce: string): Uint8Array {
  return hash('sha256', nonce, 'buffer')
}

/**
 * Make a nonce at an issuer's request, the one that its `nonce` tag proposes or a new one, or for anybody with an
 * event of `createSignupEvent`; `charge` counts the request of the issuer. Refuses `identity-event-invalid`, `identity-event-stale`,
 * `identity-nonce-invalid`, `identity-not-authorized`, `disk-low`, `event-repeated`, as `charge`,
 * `identity-nonce-taken`, `identity-nonces-full`.
 */
export async function requestNonce(
  identities: Identities,
  value: unknown,
  charge: (issuer: string) => void,
): Promise<string> {
  const types = ['create-nonce', ...(identities.selfSignup ? [signupType] : [])]
  const request = readIdentityRequest(identities, value, types)
  const { author, event } = request
  const nonce = parseProposal(tagValue(event, 'nonce')) ?? identities.newNonce()
  const signup = tagValue(event, 't') === signupType
  const allowed = signup ? author === identities.manager : identities.issuers.has(author)
  if (!allowed) throw new Refusal('identity-not-authorized')
  const issuer = signup ? signupIssuer : author
  identities.requireDisk()
  const chargeIssuer = countOnce(() => charge(issuer))
  const roots = [{ event: request.event.id }, { issuer }]
  return identities.database.transact({ roots }, async (tx) => {
    await rememberRequest(tx.requests, request)
    // Anybody can repeat an issuer's event, so it is counted where a repeat is refused already.
    chargeIssuer()
    await issueNonce(tx, { nonce, issuer, now: identities.now() })
    return nonce
  })
}

/** Write a nonce down, by its hash. Refuses `identity-nonce-taken`, `identity-nonces-full`. */
export async function issueNonce(
  tx: IdentityStores,
  { nonce, issuer, now }: { nonce: string; issuer: string; now: number },
): Promise<void> {
  if ((await tx.nonces.countOpen(issuer)) >= limits.openNoncesMax) {
    throw new Refusal('identity-nonces-full')
  }
  if (!(await tx.nonces.insert(nonceHash(nonce), issuer, now))) {
    throw new Refusal('identity-nonce-taken')
  }
}

function parseProposal(text: string | undefined): string | null {
  if (text === undefined || text === '') return null
  const { proposedNonceCharsMin: least, proposedNonceCharsMax: most } = limits
  if (text.length < least || text.length > most || !visible.test(text)) {
    throw new Refusal('identity-nonce-invalid')
  }
  return text
}

/** Whether a nonce can still be used. Refuses `nonce-unknown`, `nonce-burned`. */
export async function requireOpenNonce(identities: Identities, nonce: string): Promise<void> {
  const found = await identities.database.snapshot((tx) => tx.nonces.find(nonceHash(nonce)))
  if (!found) throw new Refusal('nonce-unknown')
  if (found.burned) throw new Refusal('nonce-burned')
}
