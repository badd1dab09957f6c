import type { Log } from '../base/log.ts'
import type { HttpServer } from '../http/server.ts'
import { npubOf } from '../nostr/keys.ts'
import {
  createFetchPublic,
  createUrlRule,
  type FetchPublic,
  type OutboundSettings,
} from '../outbound/fetch-public.ts'
import { createOwnAddresses } from './addresses.ts'
import { startCards } from './cards.ts'
import type { Config } from './config.ts'
import { startCoupons } from './coupons.ts'
import { realStatFs, type StatFs } from './disk.ts'
import { startGateway } from './gateway.ts'
import { startHttp } from './http.ts'
import { createIdentities } from './identities.ts'
import { startLedger } from './ledger.ts'
import { type ManagementState, openManagement } from './management.ts'
import { findMoved, removeMoveCopy } from './move.ts'
import { startMovedControl, startMovedHttp } from './moved.ts'
import { removeArriving } from './moving.ts'
import { startOperator } from './operator.ts'
import { startEmbeddedRelay } from './relay.ts'
import { openRuntime, type Runtime } from './runtime.ts'
import { createAuth, startSessions } from './sessions.ts'
import { startSweeps } from './sweeps.ts'
import { startTransfers } from './transfers.ts'

export type App = {
  url: string
  /** The https address, if there is a certificate. */
  secureUrl: string | null
  managerNpub: string
  engine: string
  /** Address, version and durability of the database server. Null: a file in the data directory. */
  databaseServer: string | null
  /** Settings that another node on it has otherwise. Null: none. */
  differing: string | null
  /** The state of management now. Null for a service that was moved to another computer. */
  management(): Promise<ManagementState | null>
  /** Resolves when the service asks to be stopped and started again, for a move. */
  restartAsked: Promise<void>
  /** Finish what is in flight, close the database clean. */
  stop(): Promise<void>
}

/** Replacements for tests. No setting, flag or variable reaches them. */
type StartParts = {
  outbound?: OutboundSettings
  /** Wraps outgoing requests. */
  around?: (fetchPublic: FetchPublic) => FetchPublic
  statFs?: StatFs
}

/** Start the app, in this order. The stop, or a failure half-way, closes everything in reverse order. */
export async function start(config: Config, log: Log, parts: StartParts = {}): Promise<App> {
  await using opened = new AsyncDisposableStack()
  const stopAtEnd = <T extends { stop(): Promise<void> | void }>(one: T): T =>
    opened.adopt(one, async () => one.stop())

  const runtime = await openRuntime(config, log, { statFs: parts.statFs ?? realStatFs, opened })
  const { database, jobs, keys, signer, verify, verifyHash, now, requireDisk, steady } = runtime
  const { promise: restartAsked, resolve: restart } = Promise.withResolvers<void>()
  if ((await findMoved(database)) !== null) {
    const server = stopAtEnd(startMovedHttp(runtime, { restart }))
    stopAtEnd(startMovedControl(runtime, server.url))
    log.warn('move.closed', { hint: 'to open it again: cuponera move back' })
    return running(runtime, server, { opened, restartAsked, management: async () => null })
  }
  removeMoveCopy(config.dataDir)
  removeArriving(config)

  const outbound = { ...parts.outbound, privateOrigins: config.allowPrivateServices }
  if (config.allowPrivateServices.size > 0) {
    const hint =
      'ALLOW_PRIVATE_SERVICES is for development: anybody who reaches this service makes it call these'
    log.warn('outbound.private', { services: [...config.allowPrivateServices].join(' '), hint })
  }
  const wayOut = createFetchPublic(outbound)
  const fetchPublic = parts.around?.(wayOut) ?? wayOut
  const addresses = createOwnAddresses(config.publicUrls)

  stopAtEnd(startSweeps(runtime))
  const management = stopAtEnd(
    await openManagement(config, { database, jobs, storeKey: keys.storeKey, steady, log }),
  )
  const { host: relay } = stopAtEnd(startEmbeddedRelay(runtime, management))
  const gateway = stopAtEnd(startGateway(runtime, { relay, management, addresses }))
  const { broadcast, subscribe } = gateway
  const ledger = stopAtEnd(await startLedger({ ...runtime, broadcast, subscribe }))
  const coupons = stopAtEnd(startCoupons(runtime, { management, gateway, fetchPublic }))
  const { service: couponService, live } = coupons
  const naming = createIdentities(config, {
    ...{ database, now, signer, verify, verifyHash, fetchPublic, requireDisk },
    ...{ relays: gateway.addresses, base: addresses.base },
    usable: createUrlRule(outbound),
    steady: () => steady() / 1000,
  })
  const { identities } = naming
  const cards = stopAtEnd(
    await startCards({ ...runtime, identities, ledger: ledger.ledger, broadcast, subscribe }),
  )
  const { transfers } = stopAtEnd(
    startTransfers(config, {
      ...{ database, jobs, now, verify, couponService, fetchPublic, requireDisk, log },
      steady: () => steady() / 1000,
    }),
  )
  const sessions = stopAtEnd(
    await startSessions({
      ...{ secret: keys.sessionSecret, database, jobs, now, ended: live.hangUp, log },
    }),
  )
  const auth = createAuth(runtime, sessions.sessions, management)
  gateway.onAccepting(ledger.accepting)
  gateway.onAccepting(cards.accepting)

  const server = stopAtEnd(
    startHttp(runtime, {
      ...{ addresses, management, relay, gateway, coupons, identities, cards },
      ...{ transfers, sessions: sessions.sessions, auth, restart },
    }),
  )
  addresses.listening(server)
  database.nodes?.listening(server.url)
  // Before the server stops, because it waits for open answers.
  opened.defer(() => live.close())
  const control = startOperator(runtime, {
    address: server.url,
    relays: gateway.status,
    features: [ledger, naming, cards, sessions, management],
  })
  // Requests that wait for a ledger elsewhere are answered before the door closes.
  opened.defer(() => cards.stopWaiting())
  // First of all, so that the thread of a check closes the file while requests end.
  stopAtEnd(control)

  return running(runtime, server, { opened, restartAsked, management: management.state })
}

function running(
  { signer, schnorr, databaseServer, differing }: Runtime,
  { url, secureUrl }: HttpServer,
  parts: Pick<App, 'management' | 'restartAsked'> & { opened: AsyncDisposableStack },
): App {
  const { opened, management, restartAsked } = parts
  const everything = opened.move()
  return {
    ...{ url, secureUrl, management, restartAsked, databaseServer, differing },
    managerNpub: npubOf(signer.pubkey),
    engine: schnorr.detail,
    stop: () => everything.disposeAsync(),
  }
}
