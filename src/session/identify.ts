import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { VerifyEventSoon } from '../nostr/event.ts'
import { type SignedRequest, verifyHttpAuth } from '../nostr/nip98.ts'
import type { Caller } from './caller.ts'
import type { Sessions, VerifiedSession } from './session.ts'

type IdentifyParts = { sessions: Sessions; verify: VerifyEventSoon; now: Clock }

/** An Authorization header and its request. */
type Credential = {
  header: string
  /** False for routes that accept NIP-98 only. Another scheme counts as missing there. */
  bearer: boolean
  signed: () => SignedRequest
}

/** Callbacks for the use of a credential. */
type Uses = {
  /** A session asks: the request counts against the rate of its key. May refuse `rate-limited`. */
  count(pubkey: string): void
  /**
   * Count a signed request against the rate of its key. Called once, when its event is found to be fresh.
   * Returns the refusal.
   */
  countSigned(pubkey: string): Refusal | null
  /** A write uses up the NIP-98 event. Like `repeated` it may be called again, when an operation runs again. */
  spending(): void
  /** The NIP-98 event was used before. */
  repeated(): void
}

/** Build the check of an Authorization header. It refuses with an `auth-…` code. */
export function createIdentify({ sessions, verify, now }: IdentifyParts) {
  return async ({ header, bearer, signed }: Credential, uses: Uses): Promise<Caller> => {
    if (header.length > limits.authorizationBytesMax) throw new Refusal('auth-too-large')
    // Trimmed first, because a pattern that also looked for the end would take quadratic time on spaces.
    const [, scheme = '', value = ''] = /^(\S+)\s+(\S.*)$/.exec(header.trim()) ?? []
    switch (scheme.toLowerCase()) {
      case 'nostr':
        return signedCaller(value, signed(), uses)
      case 'bearer':
        if (bearer) return sessionCaller(await sessions.verify(value), uses)
    }
    throw new Refusal('auth-missing')
  }

  function sessionCaller({ pubkey, beganAt, expiresAt }: VerifiedSession, uses: Uses): Caller {
    uses.count(pubkey)
    return { pubkey, beganAt, until: expiresAt, spend: undefined }
  }

  async function signedCaller(encoded: string, signed: SignedRequest, uses: Uses): Promise<Caller> {
    const event = await verifyHttpAuth(encoded, signed, now(), verify)
    let limited: Refusal | null | undefined
    return {
      pubkey: event.pubkey,
      beganAt: sessions.beginsAt(event.pubkey),
      until: now() + limits.sessionSeconds,
      spend: async (tx) => {
        uses.spending()
        const acceptedUntil = event.created_at + limits.proofWindowSeconds
        if (!(await tx.proofs.use(event.id, acceptedUntil))) {
          uses.repeated()
          throw new Refusal('auth-replay')
        }
        // Counted only now, as a stranger who repeats an overheard signature must not use up its owner's
        // share; and once, however often an engine runs the operation.
        if (limited === undefined) limited = uses.countSigned(event.pubkey)
        if (limited) throw limited
      },
    }
  }
}
