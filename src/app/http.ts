import type { AnyElysia } from 'elysia'
import { version } from '../../package.json'
import { OperatorError } from '../base/operator-error.ts'
import { announcementRoutes } from '../coupons/announcement-routes.ts'
import { batchRoutes } from '../coupons/batch-routes.ts'
import { imageRoutes } from '../coupons/image-routes.ts'
import { liveRoutes } from '../coupons/live-routes.ts'
import { managementRoutes } from '../coupons/management-routes.ts'
import { minterRoutes } from '../coupons/minter-routes.ts'
import { voucherRoutes } from '../coupons/voucher-routes.ts'
import { gatewayRoutes } from '../gateway/routes.ts'
import type { Authenticator } from '../http/auth.ts'
import { healthRoutes } from '../http/health.ts'
import { createMetricsAccess } from '../http/metrics-access.ts'
import { type HttpServer, type ServerOptions, startServer } from '../http/server.ts'
import { arrivalRoutes } from '../move/arrival-routes.ts'
import { moveRoutes } from '../move/routes.ts'
import { pictureRoutes } from '../pictures/routes.ts'
import { createPictureFinder } from '../pictures/show.ts'
import { posterRoutes, shownPosterRoutes } from '../posters/routes.ts'
import type { RelayHost } from '../relay/host.ts'
import { relayRoutes } from '../relay/routes.ts'
import type { Caller } from '../session/caller.ts'
import { sessionRoutes } from '../session/routes.ts'
import type { Sessions } from '../session/session.ts'
import { shopRoutes } from '../shops/routes.ts'
import { pageRoutes } from '../ui/routes.ts'
import { tlsRoutes } from '../ui/tls-routes.ts'
import { directoryRoutes } from '../wallet/identities/directory-routes.ts'
import { identityRoutes } from '../wallet/identities/routes.ts'
import type { Identities } from '../wallet/identities/service.ts'
import { signupRoutes } from '../wallet/identities/signup-routes.ts'
import { ledgerRoutes } from '../wallet/ledger/routes.ts'
import { inboxRoutes } from '../wallet/transfers/inbox-routes.ts'
import { transferRoutes } from '../wallet/transfers/routes.ts'
import type { Transfers } from '../wallet/transfers/service.ts'
import type { OwnAddresses } from './addresses.ts'
import type { RunningCards } from './cards.ts'
import type { RunningCoupons } from './coupons.ts'
import { startErrorFrom } from './data.ts'
import { describeRoutes } from './document.ts'
import type { RunningGateway } from './gateway.ts'
import type { Management } from './management.ts'
import { createMoveIn, createMoveOut } from './moving.ts'
import { openOrigins, pictureOrigin } from './origins.ts'
import { createPosters } from './posters.ts'
import { createReadiness } from './readiness.ts'
import type { Runtime } from './runtime.ts'
import { tlsPlace } from './tls.ts'

/** The features that have routes. */
type Features = {
  addresses: OwnAddresses
  management: Management
  /** Null where the settings name no embedded relay. */
  relay: RelayHost | null
  gateway: RunningGateway
  coupons: RunningCoupons
  identities: Identities
  cards: RunningCards
  transfers: Transfers
  sessions: Sessions
  auth: Authenticator<Caller>
  /** Stop the service and start it again. */
  restart: () => void
}

/** Start the HTTP server with the routes of all features. */
export function startHttp(runtime: Runtime, features: Features): HttpServer {
  const { certificate, config, log, metrics, rateLimits } = runtime
  const { management, relay } = features
  const routes = routesOf(runtime, features)
  const origins = openOrigins(config)
  return listen({
    hostname: config.host,
    port: config.port,
    tls: certificate && { ...certificate, port: config.tlsPort },
    routes: [...routes, describeRoutes(routes)],
    ...{ origins, rateLimits, metrics, log },
    mayReadMetrics: createMetricsAccess(origins, config.metricsToken),
    sockets: relay,
    onUndeclaredProxy(peer) {
      const hint = 'its forwarded headers are ignored: name it in TRUSTED_PROXIES'
      log.warn('proxy.undeclared', { peer, hint })
    },
    onForwarded: management.expose,
  })
}

/** The routes, in the order of the paths in the OpenAPI document. */
function routesOf(runtime: Runtime, features: Features): AnyElysia[] {
  const { config, database, disk, metrics, now, rateLimits, requireDisk, signer } = runtime
  const { auth, cards, coupons, gateway, identities, management, relay, transfers } = features
  const { service } = coupons
  const moving = { merchants: management.merchants, restart: features.restart }
  const posters = createPosters(runtime, service, management)
  const pictures = {
    ...{ database, now, requireDisk },
    requireMerchant: management.require,
    charge: management.charge,
    origin: pictureOrigin(config),
  }
  const trusted = tlsPlace(runtime.certificate, features.addresses.ports)
  return [
    voucherRoutes(service, auth, rateLimits),
    sessionRoutes(features.sessions, auth),
    managementRoutes(service, auth, rateLimits),
    batchRoutes(service, auth),
    minterRoutes(service, auth),
    announcementRoutes(service, auth),
    liveRoutes(service, auth, coupons.live),
    ...management.routes(auth),
    moveRoutes(createMoveOut(runtime, moving), auth),
    arrivalRoutes(createMoveIn(runtime, moving)),
    shopRoutes({ database, now, requireDisk, requireMerchant: management.require }, auth),
    imageRoutes(coupons.images),
    pictureRoutes(pictures, createPictureFinder(database), auth),
    posterRoutes(posters, auth),
    shownPosterRoutes(posters),
    gatewayRoutes(gateway.gateway),
    identityRoutes(identities, rateLimits),
    signupRoutes(identities),
    ledgerRoutes({ database }, auth),
    ...cards.routes(rateLimits),
    directoryRoutes(identities),
    transferRoutes(transfers, rateLimits),
    inboxRoutes(transfers, auth),
    ...(relay
      ? [
          relayRoutes({
            version,
            manager: signer.pubkey,
            open: management.private,
            base: identities.base,
          }),
        ]
      : []),
    tlsRoutes(trusted),
    healthRoutes(createReadiness(database, disk), metrics, rateLimits),
    pageRoutes(() => ({
      couponOrigin: config.publicUrls[0] ?? null,
      relay: relay ? null : (config.relays.find((one) => one.startsWith('wss:')) ?? ''),
      httpPort: trusted?.ports().http ?? null,
      admission: management.merchants.admission(),
    })),
  ]
}

/** Start listening. An address that is taken or foreign ends the start with a line for the operator. */
export function listen(options: ServerOptions): HttpServer {
  try {
    return startServer(options)
  } catch (cause) {
    const ports = options.tls ? `${options.port} or ${options.tls.port}` : options.port
    const error = startErrorFrom(cause, `cannot listen on ${options.hostname} port ${ports}`)
    const taken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
    throw taken && error instanceof OperatorError
      ? new OperatorError(error.message, 'port-taken')
      : error
  }
}
