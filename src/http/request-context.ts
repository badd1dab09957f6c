import type { JsonObject } from '../base/json.ts'
import type { Refusal } from '../base/refusal.ts'
import type { RouteRules } from './document.ts'
import type { Envelope } from './envelope.ts'
import type { Working } from './in-flight.ts'

/** What the edge knows of a request besides what Elysia does. */
export type RequestContext = {
  /** As the client sent it; a HEAD is answered by the route of GET. */
  method: string
  /** The pattern of its route. */
  pattern: string
  /** The declaration of its route. */
  envelope: Envelope
  rules: RouteRules
  /** The key of the client's rate limits. */
  address: string
  /** Origins this request may name, the one it came by first; worked out only when asked. */
  origins: () => readonly string[]
  /** The origin it asked, ours or not, fit to be shown; null when it is none. */
  asked: () => string | null
  /** Its place among the requests that are worked on; null: it takes none. */
  working: Working | null
  /** Asked by what watches over the service: not limited, and not counted. */
  supervised: boolean
  /** Nobody on the way reads the answer. */
  secure: () => boolean
  /** The exact bytes of the body. */
  body: Uint8Array
  /** The JSON object that the body is, or null. */
  object: JsonObject | null
  /** The body was not read as JSON: it nests too deep, or has too many keys or digits. */
  excessive: boolean
  /** How the request is refused unless a credential carries it: its address is over its budget. Else null. */
  over: Refusal | null
  /** A credential that holds stands behind the request: others behind its address do not have it refused. */
  known: boolean
  /** What was refused is nobody's mistake: a session that was good has ended. */
  harmless: boolean
  /** Uses up the caller's NIP-98 event. Null: there is none, or a write of the operation used it up. */
  spend: (() => Promise<void>) | null
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
