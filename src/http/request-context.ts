import type { JsonObject } from '../base/json.ts'
import type { Refusal } from '../base/refusal.ts'
import type { Envelope } from './envelope.ts'
import type { Working } from './in-flight.ts'
import type { Origins } from './origin.ts'
import type { RouteRules } from './route.ts'
import type { RouteMatch } from './route-table.ts'
import type { SocketData } from './web-sockets.ts'

/** A request on its way to an answer. `route` is null for an unknown path. */
export type Asked = {
  request: Request
  /** The address of the socket. */
  peer: string
  path: string
  route: RouteMatch | null
  /** Turn the connection into a WebSocket. False if it cannot be one. */
  upgrade(data: SocketData): boolean
  /** Keep its connection open until the answer, however long that takes. */
  patient(): void
}

const noBody = new Uint8Array()

/** The context of a request, beside what Elysia has of it. Facts that few routes ask for are computed on demand. */
export class RequestContext {
  readonly #asked: Asked
  readonly #origins: Origins
  /** The method that the client sent. A HEAD is answered by the route of GET. */
  readonly method: string
  /** The pattern of its route. */
  readonly pattern: string
  /** The declaration of its route. */
  readonly envelope: Envelope
  readonly rules: RouteRules
  /** The key of the client's rate limits. */
  readonly address: string
  /** A request of a supervisor. It is neither limited nor counted. */
  readonly supervised: boolean
  /** Set if the address is over its budget. The request is refused with it unless a credential carries the request. */
  readonly over: Refusal | null
  /** Its in-flight slot. Null if it takes none. */
  readonly working: Working | null
  /** The exact bytes of the body. */
  body: Uint8Array = noBody
  /** The body as a JSON object. Null if it is none. */
  object: JsonObject | null = null
  /** The body was not parsed, because it nests too deep or has too many keys or digits. */
  excessive = false
  /** Uses up the NIP-98 event of the caller. Null if there is none, or if a write of the operation used it up. */
  spend: (() => Promise<void>) | null = null
  /** Counts the replay of a NIP-98 event, once; the refusal if there were too many. Null if there was none. */
  replayed: (() => Refusal | null) | null = null
  /** The request brought a valid credential, so that mistakes of others behind its address do not refuse it. */
  known = false
  /** The refusal is nobody's mistake, as when a session has ended. It is not counted. */
  harmless = false

  constructor(
    asked: Asked,
    route: RouteMatch,
    { address, rules, supervised, over }: Admission,
    { origins, working }: { origins: Origins; working: Working | null },
  ) {
    this.#asked = asked
    this.#origins = origins
    this.method = asked.request.method
    this.pattern = route.pattern
    this.envelope = route.envelope
    this.rules = rules
    this.address = address
    this.supervised = supervised
    this.over = over
    this.working = working
  }

  /** Origins that a signature of this request may name, the one that was asked first. */
  get origins(): readonly string[] {
    return this.#origins.accepted(this.#asked.request, this.#asked.peer)
  }

  /** The origin that was asked, ours or not, safe to show. Null if it is no origin. */
  get asked(): string | null {
    return this.#origins.asked(this.#asked.request, this.#asked.peer)
  }

  /** True if nobody on the way can read the answer. */
  get secure(): boolean {
    return this.#origins.secure(this.#asked.request, this.#asked.peer)
  }

  /** Called by a route whose answer may take longer than a connection may be idle. */
  patient(): void {
    this.#asked.patient()
  }
}

/** The outcome of the checks before a route is called. */
export type Admission = Pick<RequestContext, 'address' | 'rules' | 'supervised' | 'over'>

const known = new WeakMap<Request, RequestContext>()

export function keepContext(request: Request, context: RequestContext): void {
  known.set(request, context)
}

export function contextOf(request: Request): RequestContext {
  const context = known.get(request)
  if (!context) throw new Error('a request reached a route without passing the server')
  return context
}
