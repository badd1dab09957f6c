import type { JsonObject } from '../base/json.ts'
import type { Refusal } from '../base/refusal.ts'
import type { Envelope } from './envelope.ts'
import type { Working } from './in-flight.ts'
import type { RouteRules } from './route.ts'

/** The context of a request, beside what Elysia has of it. */
export type RequestContext = {
  /** The method that the client sent. A HEAD is answered by the route of GET. */
  method: string
  /** The pattern of its route. */
  pattern: string
  /** The declaration of its route. */
  envelope: Envelope
  rules: RouteRules
  /** The key of the client's rate limits. */
  address: string
  /** Origins that a signature of this request may name, the one that was asked first. Computed on demand. */
  origins: () => readonly string[]
  /** The origin that was asked, ours or not, safe to show. Null if it is no origin. */
  asked: () => string | null
  /** Its in-flight slot. Null if it takes none. */
  working: Working | null
  /** A request of a supervisor. It is neither limited nor counted. */
  supervised: boolean
  /** True if nobody on the way can read the answer. */
  secure: () => boolean
  /** Called by a route whose answer may take longer than a connection may be idle. */
  patient: () => void
  /** The exact bytes of the body. */
  body: Uint8Array
  /** The body as a JSON object. Null if it is none. */
  object: JsonObject | null
  /** The body was not parsed, because it nests too deep or has too many keys or digits. */
  excessive: boolean
  /** Set if the address is over its budget. The request is refused with it unless a credential carries the request. */
  over: Refusal | null
  /** The request brought a valid credential, so that mistakes of others behind its address do not refuse it. */
  known: boolean
  /** The refusal is nobody's mistake, as when a session has ended. It is not counted. */
  harmless: boolean
  /** Uses up the NIP-98 event of the caller. Null if there is none, or if a write of the operation used it up. */
  spend: (() => Promise<void>) | null
  /** Counts the replay of a NIP-98 event, once; the refusal if there were too many. Null if there was none. */
  replayed: (() => Refusal | null) | null
}

const known = new WeakMap<Request, RequestContext>()

export function keepContext(request: Request, context: RequestContext): void {
  known.set(request, context)
}

export function contextOf(request: Request): RequestContext {
  const context = known.get(request)
  if (!context) throw new Error('a request reached a route without passing the server')
  return context
}
