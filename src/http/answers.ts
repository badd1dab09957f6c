import assert from 'node:assert/strict'
import type { AnyElysia } from 'elysia'
import type { Log } from '../base/log.ts'
import { Refusal, type RefusalCode } from '../base/refusal.ts'
import { createBodies, hideStream, parseBody } from './body.ts'
import { mayCarry } from './carry.ts'
import { Elysia } from './elysia.ts'
import { toRefusal } from './errors.ts'
import { createInFlight } from './in-flight.ts'
import type { LoopMonitor } from './loop.ts'
import type { MetricsAccess } from './metrics-access.ts'
import type { Origins } from './origin.ts'
import type { RateLimits } from './rate-limit.ts'
import { replyOptions, replyRefusal } from './reply.ts'
import {
  type Admission,
  type Asked,
  contextOf,
  keepContext,
  RequestContext,
} from './request-context.ts'
import { routable } from './request-url.ts'
import { createRouteTable, type RouteMatch } from './route-table.ts'

export type AnswerParts = {
  /** Every route of the product. */
  routes: readonly AnyElysia[]
  origins: Origins
  rateLimits: RateLimits
  mayReadMetrics: MetricsAccess
  /** Refusal of a path without a route. By default `not-found`. */
  absent?: RefusalCode
  log: Log
  /** Called once, for a peer that forwards requests and is not in `TRUSTED_PROXIES`. */
  onUndeclaredProxy: (peer: string) => void
}

/** The way of a request to its answer, with the checks that all routes share, in the order of the protocol. */
export function createAnswers(parts: AnswerParts, loop: LoopMonitor) {
  const { origins, rateLimits, log } = parts
  const bodies = createBodies()
  const inFlight = createInFlight()
  const app = composeApp(parts, bodies, loop)
  const table = createRouteTable(app.routes)
  let draining = false
  let warned = false

  /** Refuses `shutting-down` and `rate-limited`. */
  function admit({ request, peer }: Asked, route: RouteMatch): Admission {
    const rules = route.rulesOf(request.method)
    if (draining && !rules.whileDraining) throw new Refusal('shutting-down', { retryAfter: 5 })
    const address = origins.client(request, peer)
    const supervised =
      rules.supervision === 'always' ||
      (rules.supervision === 'metrics' && parts.mayReadMetrics(request, peer))
    if (supervised) return { address, rules, supervised, over: null }
    const over = rateLimits.request(address)
    if (over && !mayCarry(request, rules)) throw over
    if (!warned && origins.undeclaredProxy(request, peer)) {
      warned = true
      parts.onUndeclaredProxy(peer)
    }
    return { address, rules, supervised, over }
  }

  function upgrade(asked: Asked, route: string, address: string): undefined {
    const { request, peer } = asked
    const accepted = origins.acceptedForSockets(request, peer)
    if (!asked.upgrade({ route, address, origins: accepted, connection: 0 })) {
      throw new Refusal('body-invalid')
    }
  }

  /** Call the route. Its in-flight slot is free again when it has answered. */
  async function call(asked: Asked, route: RouteMatch, admission: Admission): Promise<Response> {
    const working = admission.supervised ? null : inFlight.begin(admission.address, route.pattern)
    const context = new RequestContext(asked, route, admission, { origins, working })
    const routed = routable(asked.request)
    if (context.method !== 'GET') hideStream(routed)
    keepContext(routed, context)
    try {
      let response = await app.fetch(routed)
      if (context.spend) await context.spend()
      const limited = context.replayed?.()
      if (limited) response = replyRefusal(limited, route.envelope, context.rules.schemes)
      countMistake(response, context)
      if (response.status === 405) withAllow(response, route.methods)
      return context.method === 'HEAD' ? await withoutBody(response) : response
    } catch (cause) {
      throw context.replayed?.() ?? cause
    } finally {
      working?.end()
    }
  }

  /** Give the request of a mistake back to the address, so that others behind it do not pay for it. */
  function countMistake({ status, ok }: Response, context: RequestContext): void {
    const { over, known, address } = context
    assert(!over || known || !ok, 'a route did not ask what carries its request')
    if (status < 400 || status >= 500 || context.supervised || context.harmless) return
    if (!over) rateLimits.mistake(address, known)
    else if (!known && status !== 429) throw over
  }

  return {
    find: table.find,

    /** The answer to a request. Undefined once it is a WebSocket. Pass errors, thrown at once or later, to `refuse`. */
    answer(asked: Asked): Response | undefined | Promise<Response> {
      const { request, route } = asked
      const { method } = request
      if (!route) throw new Refusal(parts.absent ?? 'not-found')
      const { methods } = route
      if (method === 'OPTIONS') return replyOptions(methods)
      if (!methods.includes(method)) {
        const refusal = new Refusal('method-not-allowed')
        return withAllow(replyRefusal(refusal, route.envelope, null), methods)
      }
      const admission = admit(asked, route)
      const { rules, address } = admission
      if (rules.upgrades && isUpgrade(request)) return upgrade(asked, route.pattern, address)
      return call(asked, route, admission)
    },

    /** The answer for anything that `answer` has thrown. */
    refuse(
      error: unknown,
      { request, path, route }: Pick<Asked, 'request' | 'path' | 'route'>,
    ): Response {
      const envelope = route?.envelope ?? table.envelopeOf(path)
      const schemes = route?.rulesOf(request.method).schemes ?? null
      return replyRefusal(toRefusal(error, log), envelope, schemes)
    },

    /** Refuse new requests from here on. */
    drain() {
      draining = true
    },

    stop: () => bodies.stop(),
  }
}

function composeApp(
  { routes, log }: AnswerParts,
  bodies: ReturnType<typeof createBodies>,
  loop: LoopMonitor,
) {
  // By default Elysia expects host names of four letters or more. http://pi is shorter.
  const composed = new Elysia({ normalize: false, handler: { standardHostname: false } })
    .onParse({ as: 'global' }, async ({ request }) => {
      const context = contextOf(request)
      context.working?.pause()
      try {
        context.body = await bodies.read(request, context.rules.bodyBytesMax, context.address)
      } finally {
        context.working?.resume()
      }
      loop.enter(context.pattern)
      const { object, excessive } = parseBody(context.body)
      context.object = object
      context.excessive = excessive
      return object
    })
    .onError({ as: 'global' }, ({ error, request }) => {
      const { envelope, rules } = contextOf(request)
      return replyRefusal(toRefusal(error, log), envelope, rules.schemes)
    })
  for (const instance of routes) composed.use(instance)
  return composed.compile()
}

function isUpgrade(request: Request): boolean {
  return request.headers.get('upgrade')?.toLowerCase() === 'websocket'
}

/** A 405 with the methods of its path, as RFC 9110 demands, whichever route refused. */
function withAllow(response: Response, methods: readonly string[]): Response {
  response.headers.set('Allow', methods.join(', '))
  return response
}

async function withoutBody(response: Response): Promise<Response> {
  const { status, headers } = response
  if (headers.get('Content-Type')?.startsWith('text/event-stream')) {
    // A stream has no end, so it has no length.
    await response.body?.cancel()
    return new Response(null, { status, headers })
  }
  headers.set('Content-Length', String((await response.arrayBuffer()).byteLength))
  return new Response(null, { status, headers })
}
