import { Refusal } from '../base/refusal.ts'
import type { SignedRequest } from '../nostr/nip98.ts'
import type { RateLimits } from './rate-limit.ts'
import { contextOf, type RequestContext } from './request-context.ts'
import { pathOf, targetOf } from './request-url.ts'

/** The part of a caller that this file needs. `spend` is there if a signature is to be used up. */
type AnyCaller = { pubkey: string; spend: object | undefined }

type AuthenticatorOptions<Caller extends AnyCaller> = {
  /** Check an Authorization header. Refuses with an `auth-…` code. */
  identify: (
    credential: { header: string; bearer: boolean; signed: () => SignedRequest },
    uses: {
      count(pubkey: string): void
      countSigned(pubkey: string): Refusal | null
      spending(): void
      repeated(): void
    },
  ) => Promise<Caller>
  /** Use up the signature of a caller after an operation that wrote nothing. */
  spend: (caller: Caller) => Promise<void>
  /** Refuses `auth-session-expired` if the sessions of the caller were ended since then. */
  requireOpen: (caller: Caller) => void
  rateLimits: RateLimits
  /** True for the key of a merchant, a till, or the holder of a name, a card or tokens. */
  isKnown: (pubkey: string) => Promise<boolean>
  /** Called for a signature that names an origin unknown to the service. */
  onUnknownOrigin: (asked: string) => void
}

export type Authenticator<Caller> = {
  /** NIP-98 or Bearer. Refuses with an `auth-…` code. */
  any(request: Request): Promise<Caller>
  /** NIP-98 only: any other scheme counts as missing. */
  signed(request: Request): Promise<Caller>
  /** NIP-98 or Bearer, for a route that answers without them too. The `auth-…` refusal if there is none that is valid. */
  optional(request: Request): Promise<Caller | Refusal>
  requireOpen(caller: Caller): void
}

const uncounted = {
  count: () => undefined,
  countSigned: () => null,
  spending: () => undefined,
  repeated: () => undefined,
}

/** The refusal with the request that the service got, for a proxy may have changed its address. */
function otherRequest(request: Request, context: RequestContext): Refusal {
  const { method, pattern } = context
  const origins = context.origins
  const asked = context.asked
  const origin = asked !== null && origins.includes(asked) ? asked : (origins[0] ?? '')
  // From the pattern, since a path may hold a nonce, and words of the client have no place in a sentence of ours.
  const path = pattern.replace(/:(\w+)/g, '{$1}')
  const slash = pathOf(request).endsWith('/') ? '/' : ''
  const query = targetOf(request).includes('?') ? '?…' : ''
  const named = `${method} ${origin}${path}${slash}${query}`
  const words = `La firma es para otra dirección o método. Firmá ${named} y mandá el pedido de nuevo.`
  return new Refusal('auth-url-mismatch', {}, words)
}

/** Checks the Authorization header. The first write of the caller uses up an accepted NIP-98 event. */
export function createAuthenticator<Caller extends AnyCaller>(
  options: AuthenticatorOptions<Caller>,
): Authenticator<Caller> {
  const { rateLimits } = options
  const authenticate = async (request: Request, bearer: boolean) => {
    const context = contextOf(request)
    let caller: Caller
    try {
      caller = await identify(request, context, bearer)
    } catch (refused) {
      if (!(refused instanceof Refusal)) throw refused
      if (refused.code === 'auth-session-expired') context.harmless = true
      // A request without credentials, or one too many with valid ones, is no guess.
      else if (!['auth-missing', 'rate-limited'].includes(refused.code)) {
        rateLimits.failure(context.address)
      }
      if (refused.code === 'auth-origin-unknown') throw unknownOrigin(context.asked)
      if (refused.code === 'auth-url-mismatch') throw otherRequest(request, context)
      throw refused
    }
    if (caller.spend) context.spend = () => options.spend(caller)
    if (context.over && !(await options.isKnown(caller.pubkey))) {
      rateLimits.stranger(context.address)
    }
    context.known = true
    return caller
  }
  const credentialOf = (request: Request, context: RequestContext, bearer: boolean) => ({
    header: request.headers.get('authorization') ?? '',
    bearer,
    signed: () => {
      const { method, body } = context
      return { method, origins: context.origins, target: targetOf(request), body }
    },
  })
  const identify = (request: Request, context: RequestContext, bearer: boolean) => {
    const { address } = context
    let giveBack = (): unknown => undefined
    return options.identify(credentialOf(request, context, bearer), {
      count: (pubkey) => rateLimits.key(pubkey, 1),
      countSigned(pubkey) {
        const limited = rateLimits.signed(pubkey)
        // An operation that is run again may find that another request used the event meanwhile.
        giveBack = () => limited ?? rateLimits.giveBack(pubkey)
        return limited
      },
      spending() {
        context.spend = null
      },
      repeated() {
        context.replayed = () => {
          context.replayed = null
          giveBack()
          return rateLimits.replay(address)
        }
      },
    })
  }
  /** A mistake here is no guess, and counts against nobody: the request is answered all the same. */
  const identifyFreely = async (request: Request) => {
    try {
      return await options.identify(credentialOf(request, contextOf(request), true), uncounted)
    } catch (refused) {
      if (refused instanceof Refusal) return refused
      throw refused
    }
  }
  /** The refusal with the setting that makes this origin the service's own. */
  const unknownOrigin = (asked: string | null) => {
    if (asked === null) return new Refusal('auth-origin-unknown')
    options.onUnknownOrigin(asked)
    const words = `El servicio no reconoce esta dirección como propia. Configurá PUBLIC_URL=${asked} y firmá de nuevo.`
    return new Refusal('auth-origin-unknown', {}, words)
  }
  return {
    any: (request) => authenticate(request, true),
    signed: (request) => authenticate(request, false),
    optional: identifyFreely,
    requireOpen: options.requireOpen,
  }
}
