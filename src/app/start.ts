import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json'
import { systemClock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { everyAddress } from '../base/network.ts'
import { imageRoutes } from '../coupons/image-routes.ts'
import { createLive } from '../coupons/live.ts'
import { liveRoutes } from '../coupons/live-routes.ts'
import { managementRoutes } from '../coupons/management-routes.ts'
import { createNonce } from '../coupons/nonce.ts'
import type { CouponService } from '../coupons/service.ts'
import { voucherRoutes } from '../coupons/voucher-routes.ts'
import { openSchnorr } from '../crypto/schnorr.ts'
import { createHashVerifier, createSigner, createVerifier } from '../crypto/sign-event.ts'
import { createJobs } from '../db/jobs.ts'
import { gatewayRoutes } from '../gateway/routes.ts'
import { embeddedRelay } from '../gateway/service.ts'
import { createAuthenticator } from '../http/auth.ts'
import { healthRoutes } from '../http/health.ts'
import { createMetrics } from '../http/metrics.ts'
import { createMetricsAccess } from '../http/metrics-access.ts'
import { createRateLimits, noRateLimits } from '../http/rate-limit.ts'
import { type HttpServer, type ServerOptions, startServer } from '../http/server.ts'
import { npubOf } from '../nostr/keys.ts'
import {
  createFetchPublic,
  createUrlRule,
  type FetchPublic,
  type OutboundSettings,
} from '../outbound/fetch-public.ts'
import { startRelay } from '../relay/host.ts'
import { relayRoutes } from '../relay/routes.ts'
import { createIdentify } from '../session/identify.ts'
import { sessionRoutes } from '../session/routes.ts'
import { openable } from '../tls/files.ts'
import { pageRoutes } from '../ui/routes.ts'
import { tlsRoutes } from '../ui/tls-routes.ts'
import { directoryRoutes } from '../wallet/identities/directory-routes.ts'
import { identityRoutes } from '../wallet/identities/routes.ts'
import { ledgerRoutes } from '../wallet/ledger/routes.ts'
import { inboxRoutes } from '../wallet/transfers/inbox-routes.ts'
import { transferRoutes } from '../wallet/transfers/routes.ts'
import { startCards } from './cards.ts'
import type { Config } from './config.ts'
import { startControl } from './control.ts'
import { databasePath, lockDataDir, openDatabase, openDataDir, startErrorFrom } from './data.ts'
import { realStatFs, type StatFs, watchDisk } from './disk.ts'
import { describeRoutes } from './document.ts'
import { type RunningGateway, startGateway } from './gateway.ts'
import { createIdentities } from './identities.ts'
import { loadKeyring } from './keyring.ts'
import { pinKeys, settleCardKey } from './keys.ts'
import { startLedger } from './ledger.ts'
import { type ManagementState, openManagement } from './management.ts'
import { showFeatures } from './metrics.ts'
import { createUnknownOriginWarning, openOrigins } from './origins.ts'
import { createImages, createNameResolver } from './outbound.ts'
import { createReadiness, vouchersByPhase } from './readiness.ts'
import { startSessions } from './sessions.ts'
import { startSweeps } from './sweeps.ts'
import { loadCertificate, tlsPlace } from './tls.ts'
import { startTransfers } from './transfers.ts'

export type App = {
  url: string
  /** Where https is, if there is a certificate. */
  secureUrl: string | null
  managerNpub: string
  engine: string
  /** Who may manage coupons now. */
  management(): Promise<ManagementState>
  /** Finish what is in flight, close the database clean. */
  stop(): Promise<void>
}

/** What tests put in place of the real thing: no setting, flag or variable reaches it. */
type StartParts = {
  outbound?: OutboundSettings
  /** Stands between the service and its way out. */
  around?: (fetchPublic: FetchPublic) => FetchPublic
  /** The disk as it is said to be. */
  statFs?: StatFs
}

/** The start order: directory, lock, keys, signatures, database, service, HTTP. */
export async function start(config: Config, log: Log, parts: StartParts = {}): Promise<App> {
  const { dataDir } = config
  // What was opened is closed again in reverse order, at the stop or when the start fails half-way.
  await using opened = new AsyncDisposableStack()
  openDataDir(dataDir)
  const lock = lockDataDir(dataDir)
  opened.defer(() => lock.release())
  const statFs = parts.statFs ?? realStatFs
  const keys = loadKeyring(config, !existsSync(databasePath(dataDir)))
  const certificate = await loadCertificate(config, log)
  const schnorr = openSchnorr()
  const signer = createSigner(schnorr, keys.managerSecret)
  const verify = createVerifier(schnorr)
  const verifyHash = createHashVerifier(schnorr)
  const metrics = createMetrics()
  const database = openDatabase(dataDir, log, metrics)
  opened.defer(() => database.close())
  await pinKeys(database, keys, signer.pubkey)
  const cardMasterKey = await settleCardKey(database, keys, dataDir)
  const jobs = createJobs(database)
  const disk = await watchDisk({ dataDir, floor: config.diskFloor, statFs, jobs, log })
  opened.defer(() => disk.stop())
  const { requireRoom: requireDisk } = disk
  const sweeps = startSweeps({
    jobs,
    database,
    now: systemClock,
    failed: (cause) => log.warn('housekeeping.failed', { cause }),
  })
  opened.defer(() => sweeps.stop())

  const management = await openManagement(config, {
    database,
    storeKey: keys.storeKey,
    log,
    removed: (pubkey) => live.hangUp(pubkey),
    exposed() {
      relay?.expose()
      live.hangUp()
    },
  })
  let url = ''
  let secureUrl: string | null = null
  const relay = config.relays.includes(embeddedRelay)
    ? startRelay(
        {
          relayPath: join(dataDir, 'relay.db'),
          couponsPath: databasePath(dataDir),
          open: management.private(),
          diskLow: disk.low(),
          rateLimit: config.rateLimit,
        },
        {
          down: (retrySeconds) => log.error('relay.down', { retrySeconds }),
          fault: (fault) => log.error('relay.fault', fault),
          steadyMs: () => performance.now(),
        },
      )
    : null
  if (relay) opened.defer(() => relay.stop())
  if (relay) disk.onChange(relay.setDiskLow)
  relay?.onUp(() => log.info('relay.up'))
  const running: RunningGateway = startGateway({
    relays: config.relays,
    embedded: relay,
    embeddedUrl(asked) {
      const at = [config.publicUrls[0], url, asked].find((one) => one && !everyAddress.test(one))
      return at ? `${at.replace(/^http/, 'ws')}/relay` : null
    },
    origins: () =>
      config.publicUrls.length > 0 ? config.publicUrls : [secureUrl ?? url, url].map(openable),
    open: management.private,
    rateLimit: config.rateLimit,
    requireDisk,
    database,
    signer,
    verify,
    verifyHash,
    now: systemClock,
    steady: () => performance.now(),
    jobs,
    log,
  })
  opened.defer(() => running.stop())
  const ledger = await startLedger({
    ...{ config, database, jobs, signer, verifyHash, log },
    now: systemClock,
    steady: () => performance.now(),
    broadcast: running.broadcast,
    subscribe: running.subscribe,
  })
  opened.defer(() => ledger.stop())
  running.onAdmit(ledger.admit)
  running.onAccepted(ledger.accepted)

  const wayOut = createFetchPublic(parts.outbound)
  const fetchPublic = parts.around?.(wayOut) ?? wayOut
  const live = createLive({
    now: systemClock,
    jobs,
    failed: (cause) => log.error('live.failed', { cause }),
  })
  const rateLimits = config.rateLimit
    ? createRateLimits(() => performance.now() / 1000)
    : noRateLimits
  const couponService: CouponService = {
    database,
    now: systemClock,
    newNonce: createNonce,
    newId: () => Bun.randomUUIDv7(),
    signer,
    verify,
    storeKey: keys.storeKey,
    requireMerchant: management.require,
    charge: management.charge,
    resolveName: createNameResolver(fetchPublic),
    broadcast: running.broadcast,
    recall: running.recall,
    refreshes: rateLimits.refreshes,
    requireDisk,
    changed: live.changed,
    killed: sweeps.killed,
  }
  const { identities, commands: identityCommands } = createIdentities(config, {
    database,
    now: systemClock,
    signer,
    verify,
    verifyHash,
    relays: running.addresses,
    base: () => config.publicUrls[0] ?? openable(url),
    usable: createUrlRule(parts.outbound),
    fetchPublic,
    requireDisk,
  })
  const { subscribe, broadcast } = running
  const cards = await startCards({
    ...{ config, keys, cardMasterKey, database, jobs, signer, verify, verifyHash, identities, log },
    ...{
      now: systemClock,
      steady: () => performance.now(),
      subscribe,
      broadcast,
      ledger: ledger.ledger,
    },
  })
  opened.defer(() => cards.stop())
  running.onAccepted(cards.accepted)
  const transferring = startTransfers(config, {
    database,
    jobs,
    now: systemClock,
    verify,
    couponService,
    fetchPublic,
    requireDisk,
    steady: () => performance.now() / 1000,
    log,
  })
  opened.defer(() => transferring.stop())
  const { sessions, commands: sessionCommands } = await startSessions({
    ...{ secret: keys.sessionSecret, database, now: systemClock, ended: live.hangUp, log },
  })
  const { listed } = management.merchants
  const isKnown = (pubkey: string) =>
    database.snapshot(async (tx) => listed.has(pubkey) || tx.members.isMember(pubkey))
  const onUnknownOrigin = createUnknownOriginWarning(log)
  const auth = createAuthenticator({
    identify: createIdentify({ sessions, verify, now: systemClock }),
    requireOpen: sessions.requireOpen,
    spend: ({ spend }) => database.transact({ roots: 'none', first: spend }, async () => undefined),
    ...{ rateLimits, isKnown, onUnknownOrigin },
  })
  const openTransfers = () => database.snapshot((tx) => tx.transfers.open())
  showFeatures(metrics, {
    version,
    engine: schnorr.name,
    vouchers: () => database.snapshot(vouchersByPhase),
    relays: running.status,
    transfers: openTransfers,
    disk,
  })
  const trusted = tlsPlace(certificate, () => ({ url, secureUrl }))
  const routes = [
    voucherRoutes(couponService, rateLimits),
    sessionRoutes(sessions, auth),
    managementRoutes(couponService, auth, rateLimits),
    liveRoutes(couponService, auth, live),
    ...management.routes(auth, rateLimits),
    imageRoutes(createImages(database, dataDir, fetchPublic, requireDisk)),
    gatewayRoutes(running.gateway),
    identityRoutes(identities, rateLimits),
    ledgerRoutes({ database }, auth),
    ...cards.routes(rateLimits),
    directoryRoutes(identities),
    transferRoutes(transferring.transfers, rateLimits),
    inboxRoutes(transferring.transfers, auth),
    ...(relay ? [relayRoutes({ version, manager: signer.pubkey, open: management.private })] : []),
    tlsRoutes(trusted),
    healthRoutes(createReadiness(database, disk), metrics, rateLimits),
    pageRoutes(() => ({
      couponOrigin: config.publicUrls[0] ?? null,
      relay: relay ? null : (config.relays.find((one) => one.startsWith('wss:')) ?? ''),
      httpPort: trusted?.ports().http ?? null,
    })),
  ]
  const origins = openOrigins(config)
  const server = listen({
    hostname: config.host,
    port: config.port,
    tls: certificate && { ...certificate, port: config.tlsPort },
    routes: [...routes, describeRoutes(routes)],
    origins,
    rateLimits,
    metrics,
    mayReadMetrics: createMetricsAccess(origins, config.metricsToken),
    log,
    sockets: relay && { path: '/relay', ...relay },
    onUndeclaredProxy(peer) {
      const hint = 'its forwarded headers are ignored: name it in TRUSTED_PROXIES'
      log.warn('proxy.undeclared', { peer, hint })
    },
    onForwarded: management.expose,
  })

  opened.defer(() => server.stop())
  // Before the server, which waits a moment for every answer that is still being written.
  opened.defer(() => live.close())
  url = server.url
  secureUrl = server.secureUrl
  const startedMs = performance.now()
  const control = startControl({
    dataDir,
    database: databasePath(dataDir),
    unclean: !database.cleanStart,
    status: async () => ({
      version,
      address: server.url,
      manager: signer.pubkey,
      pid: process.pid,
      uptimeSeconds: Math.round((performance.now() - startedMs) / 1000),
      transfers: await openTransfers(),
    }),
    relays: running.status,
    commands: {
      ...{ ...ledger.commands, ...identityCommands, ...cards.commands, ...sessionCommands },
      ...management.commands,
    },
    log,
    checked(problems) {
      metrics.checked(problems)
      database.checked(problems)
    },
  })
  // Whoever waits for a ledger elsewhere is answered before the door closes.
  opened.defer(() => cards.stopWaiting())
  // First of all at the stop, so that the thread of a check lets go of the file while requests end.
  opened.defer(() => control.stop())
  const everything = opened.move()

  return {
    url: server.url,
    secureUrl: server.secureUrl,
    managerNpub: npubOf(signer.pubkey),
    engine: schnorr.detail,
    management: management.state,
    stop: () => everything.disposeAsync(),
  }
}

/** Start listening; an address that is taken or not ours is the operator's to mend. */
function listen(options: ServerOptions): HttpServer {
  try {
    return startServer(options)
  } catch (cause) {
    const ports = options.tls ? `${options.port} or ${options.tls.port}` : options.port
    throw startErrorFrom(cause, `cannot listen on ${options.hostname} port ${ports}`)
  }
}
