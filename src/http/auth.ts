import type { Clock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { VerifyEvent } from '../nostr/event.ts'
import { verifyHttpAuth } from '../nostr/nip98.ts'
import type { Caller } from '../session/caller.ts'
import type { Sessions, VerifiedSession } from '../session/session.ts'
import type { RateLimits } from './rate-limit.ts'
import { contextOf, type RequestContext } from './request-context.ts'

type AuthenticatorOptions = {
  sessions: Sessions
  verify: VerifyEvent
  now: Clock
  rateLimits: RateLimits
  /** The service knows this key: of a merchant, a till, the holder of a name, a card or tokens. */
  isKnown: (pubkey: string) => Promise<boolean>
  /** Somebody signed for this origin, which is none that the service knows as its own. */
  onUnknownOrigin: (asked: string) => void
}

export type Authenticator = {
  /** NIP-98 or Bearer. Refuses with an `auth-…` code. */
  any(request: Request): Promise<Caller>
  /** NIP-98 only: any other scheme counts as missing. */
  signed(request: Request): Promise<Caller>
  /** Refuses `auth-session-expired` when the caller's sessions were ended meanwhile. */
  requireOpen(caller: Caller): void
}

/** Checks the Authorization header; an accepted NIP-98 event is used up by the caller's first write. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const authenticate = async (request: Request, bearer: boolean) => {
    const context = contextOf(request)
    try {
      context.caller = await identify(options, request, context, bearer)
    } catch (refused) {
      if (!(refused instanceof Refusal)) throw refused
      if (refused.code === 'auth-session-expired') context.harmless = true
      // Nobody gained anything by asking without credentials, or too often with good ones.
      else if (!['auth-missing', 'rate-limited'].includes(refused.code)) {
        options.rateLimits.failure(context.address)
      }
      if (refused.code === 'auth-origin-unknown') throw unknownOrigin(context.asked())
      throw refused
    }
    if (context.over && !(await options.isKnown(context.caller.pubkey))) {
      options.rateLimits.stranger(context.address)
    }
    context.known = true
    return context.caller
  }
  /** The same, naming the setting that would make this origin the service's own. */
  const unknownOrigin = (asked: string | null) => {
    if (asked === null) return new Refusal('auth-origin-unknown')
    options.onUnknownOrigin(asked)
    const words = `El servicio no reconoce esta dirección como propia. Configurá PUBLIC_URL=${asked} y firmá de nuevo.`
    return new Refusal('auth-origin-unknown', {}, words)
  }
  return {
    any: (request) => authenticate(request, true),
    signed: (request) => authenticate(request, false),
    requireOpen: options.sessions.requireOpen,
  }
}

async function identify(
  { sessions, verify, now, rateLimits }: AuthenticatorOptions,
  request: Request,
  context: RequestContext,
  bearer: boolean,
): Promise<Caller> {
  const header = request.headers.get('authorization') ?? ''
  if (header.length > limits.authorizationBytesMax) throw new Refusal('auth-too-large')
  // Trimmed first: a pattern that also looked for the end would try every run of spaces again and again.
  const [, scheme = '', value = ''] = /^(\S+)\s+(\S.*)$/.exec(header.trim()) ?? []
  switch (scheme.toLowerCase()) {
    case 'nostr':
      return signedCaller(value)
    case 'bearer':
      if (bearer) return sessionCaller(await sessions.verify(value))
  }
  throw new Refusal('auth-missing')

  function sessionCaller({ pubkey, beganAt, expiresAt }: VerifiedSession): Caller {
    rateLimits.key(pubkey, 1)
    return { pubkey, beganAt, until: expiresAt, spend: undefined }
  }

  function signedCaller(encoded: string): Caller {
    const target = request.url.slice(request.url.indexOf('/', 'https://'.length))
    const { method, body } = context
    const signed = { method, origins: context.origins(), target, body }
    const event = verifyHttpAuth(encoded, signed, now(), verify)
    return {
      pubkey: event.pubkey,
      beganAt: sessions.beginsAt(event.pubkey),
      until: now() + limits.sessionSeconds,
      spend: async (tx) => {
        context.spent = true
        const acceptedUntil = event.created_at + limits.proofWindowSeconds
        if (!(await tx.proofs.use(event.id, acceptedUntil))) {
          rateLimits.failure(context.address)
          throw new Refusal('auth-replay')
        }
        // Only now: a stranger who repeats what he overheard must not use up its owner's share.
        rateLimits.key(event.pubkey, 1)
      },
    }
  }
}
