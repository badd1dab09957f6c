import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { type Authenticator, createAuthenticator } from '../http/auth.ts'
import { healthRoutes } from '../http/health.ts'
import { createMetricsAccess } from '../http/metrics-access.ts'
import type { HttpServer } from '../http/server.ts'
import { moveRoutes } from '../move/routes.ts'
import type { Caller } from '../session/caller.ts'
import { createCutoffs } from '../session/cutoffs.ts'
import { createIdentify } from '../session/identify.ts'
import { createSessions } from '../session/session.ts'
import { pageRoutes } from '../ui/routes.ts'
import { type Control, startControl } from './control.ts'
import { listen } from './http.ts'
import { createMovedOut, type Spend } from './moved-out.ts'
import { createUnknownOriginWarning, openOrigins } from './origins.ts'
import type { Runtime } from './runtime.ts'

type MovedParts = { restart: () => void }

/**
 * Start the server of a service that goes on at another computer. It has the pages, the state for supervisors and the
 * file of the move, and refuses everything else with `moved`. No part that could write or send is started, so that
 * the database is final.
 */
export function startMovedHttp(runtime: Runtime, parts: MovedParts): HttpServer {
  const { certificate, config, log, metrics, rateLimits } = runtime
  const origins = openOrigins(config)
  const spend = createSpend(runtime)
  const ready = async () => {
    throw new Refusal('moved')
  }
  return listen({
    hostname: config.host,
    port: config.port,
    tls: certificate && { ...certificate, port: config.tlsPort },
    routes: [
      healthRoutes(ready, metrics, rateLimits),
      moveRoutes(createMovedOut(runtime, { ...parts, spend }), createMovedAuth(runtime, spend)),
      pageRoutes(() => ({
        couponOrigin: config.publicUrls[0] ?? null,
        relay: null,
        httpPort: null,
        admission: null,
      })),
    ],
    absent: 'moved',
    ...{ origins, rateLimits, metrics, log },
    mayReadMetrics: createMetricsAccess(origins, config.metricsToken),
    sockets: null,
    onUndeclaredProxy: () => undefined,
    onForwarded: async () => undefined,
  })
}

const nothing = () => undefined

/** Used signatures are kept in memory, since nothing is written to the database. */
function createSpend({ now }: Runtime): Spend {
  const used = new Map<string, number>()
  const proofs = {
    async use(id: string, until: number) {
      for (const [old, end] of used) if (end < now()) used.delete(old)
      if (used.has(id)) return false
      if (used.size >= limits.movedProofsMax) throw new Refusal('overloaded', { retryAfter: 60 })
      used.set(id, until)
      return true
    },
    prune: async () => 0,
  }
  return async ({ spend }) => spend?.({ proofs, afterCommit: nothing, tell: nothing })
}

/** NIP-98 alone: the routes of the move take no session. */
function createMovedAuth(
  { keys, log, now, rateLimits, verifySoon }: Runtime,
  spend: Spend,
): Authenticator<Caller> {
  const sessions = createSessions(keys.sessionSecret, now, createCutoffs([]))
  return createAuthenticator<Caller>({
    identify: createIdentify({ sessions, verify: verifySoon, now }),
    requireOpen: () => undefined,
    spend,
    rateLimits,
    isKnown: async () => false,
    onUnknownOrigin: createUnknownOriginWarning(log),
  })
}

/** Open the control socket of a moved service. It checks and backs up, and knows no other command. */
export function startMovedControl(runtime: Runtime, address: string): Control {
  return startControl(runtime, {
    address,
    transfers: async () => [],
    relays: async () => [],
    commands: {},
    unknown: 'this service was moved to another computer',
  })
}
