import { version } from '../../package.json'
import { Refusal } from '../base/refusal.ts'
import { healthRoutes } from '../http/health.ts'
import { createMetricsAccess } from '../http/metrics-access.ts'
import type { HttpServer } from '../http/server.ts'
import { pageRoutes } from '../ui/routes.ts'
import { type Control, startControl } from './control.ts'
import { databasePath } from './data.ts'
import { listen } from './http.ts'
import { openOrigins } from './origins.ts'
import type { Runtime } from './runtime.ts'

/**
 * Start the server of a service that goes on at another computer. It has the pages and the state for supervisors, and
 * refuses everything else with `moved`. No part that could write or send is started.
 */
export function startMovedHttp(runtime: Runtime): HttpServer {
  const { certificate, config, log, metrics, rateLimits } = runtime
  const origins = openOrigins(config)
  const ready = async () => {
    throw new Refusal('moved')
  }
  return listen({
    hostname: config.host,
    port: config.port,
    tls: certificate && { ...certificate, port: config.tlsPort },
    routes: [
      healthRoutes(ready, metrics, rateLimits),
      pageRoutes(() => ({
        couponOrigin: config.publicUrls[0] ?? null,
        relay: null,
        httpPort: null,
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

/** Open the control socket of a moved service. It checks and backs up, and knows no other command. */
export function startMovedControl(runtime: Runtime, address: string): Control {
  const { config, database, log, metrics, signer, steady } = runtime
  const startedMs = steady()
  return startControl({
    dataDir: config.dataDir,
    database: databasePath(config.dataDir),
    unclean: !database.cleanStart,
    status: async () => ({
      ...{ version, address },
      manager: signer.pubkey,
      pid: process.pid,
      uptimeSeconds: Math.round((steady() - startedMs) / 1000),
      transfers: [],
    }),
    relays: async () => [],
    commands: {},
    unknown: 'this service was moved to another computer',
    log,
    checked(problems) {
      metrics.checked(problems)
      database.checked(problems)
    },
  })
}
