import type { Stores } from '../../src/app/stores.ts'
import { startSweeps } from '../../src/app/sweeps.ts'
import { couponsKilled } from '../../src/coupons/news.ts'
import type { CouponService } from '../../src/coupons/service.ts'
import { startKillSweep } from '../../src/coupons/worker.ts'
import type { OpenDatabase } from '../../src/db/database.ts'
import { createJobs, type Jobs } from '../../src/db/jobs.ts'
import type { Gateway } from '../../src/gateway/service.ts'
import { startRelays } from '../../src/gateway/worker.ts'
import type { NostrEvent } from '../../src/nostr/event.ts'
import { createHandOver, createLookUpAddress } from '../../src/outbound/lud16.ts'
import {
  createPreviewElsewhere,
  createRefreshElsewhere,
} from '../../src/outbound/voucher-service.ts'
import type { PosterService } from '../../src/posters/service.ts'
import { noTakeLimit } from '../../src/posters/take-limit.ts'
import { createWriteQuotas } from '../../src/relay/quotas.ts'
import { createAdmission } from '../../src/wallet/ledger/admission.ts'
import { declareTokens } from '../../src/wallet/ledger/declare.ts'
import { settle } from '../../src/wallet/ledger/settle.ts'
import { startLedgerWorker } from '../../src/wallet/ledger/worker.ts'
import { swapPostponed, type Transfers } from '../../src/wallet/transfers/service.ts'
import { startTransferWorker } from '../../src/wallet/transfers/worker.ts'
import { createWallet, type Wallet } from '../postgres/races/wallet-world.ts'
import { verifyEvent } from '../support/client.ts'
import { couponsAlone } from '../support/coupons-alone.ts'
import type { Machine, MachineParts } from './machine.ts'
import type { Process } from './process.ts'

const storeKey = new Uint8Array(32).fill(5)

/** The operations of a process that runs, on the database of one request. */
export type Service = {
  process: Process
  coupons: CouponService
  posters: PosterService
  transfers: Transfers
  gateway: Gateway
  wallet: Wallet
  /** The last nonce that was made for this request. */
  made: string | null
}

export type RunningService = Service & {
  on(database: OpenDatabase<Stores>): Service
  /** Stop the work in the background and close the database. */
  stop(): Promise<void>
}

/** Put a service together, as `src/app` does, on the ports of a simulated machine. */
export async function startService(
  process: Process,
  machine: Machine,
  { random, loop, network, relays, peers }: MachineParts,
): Promise<RunningService> {
  const { now, signer } = machine
  const database = process.watch()
  const jobs = createJobs(
    database,
    loop.timeOf(() => process.fires()),
  )
  const failed = (cause: unknown) => machine.jobFailed(process, cause)
  const steady = () => loop.seconds * 1000
  const links = startRelays(
    relays.map((relay) => relay.access(process, now)),
    {
      ...{ database, jobs, now, steady, verify: verifyEvent, manager: signer.pubkey, failed },
      ...{ origins: () => [machine.base], relays: relays.map(({ url }) => url) },
    },
  )
  const broadcast = async (tx: Parameters<typeof links.broadcast>[0], event: NostrEvent) => {
    await links.broadcast(tx, event)
    process.note(() => machine.told(event))
  }
  const coupons: CouponService = {
    ...{ database, now, signer, verify: verifyEvent, storeKey },
    newNonce: () => Buffer.from(random.bytes(16)).toString('base64url'),
    newId: () => uuidOf(random.bytes(16).toHex()),
    ...couponsAlone,
  }
  const wallet = createWallet(database as never, { now, coupons, broadcast } as never)
  const fetchPublic = network.from(process)
  const transfers: Transfers = {
    ...wallet.transfers,
    ...{ database, now, verify: verifyEvent, couponService: coupons },
    services: new Map(peers.map((peer) => [peer.pubkey, `${peer.base}/api/coupons/refresh`])),
    newKey: () => machine.newTransferKey(Buffer.from(random.bytes(24)).toString('base64url')),
    refreshElsewhere: createRefreshElsewhere(fetchPublic),
    previewElsewhere: createPreviewElsewhere(fetchPublic),
    lookUp: createLookUpAddress(fetchPublic),
    handOver: createHandOver(fetchPublic),
    leaving: (_sender, _host, work) => work(),
    swapping: new Map(),
    warn: () => undefined,
  }
  const { ledger } = wallet
  const gateway: Gateway = {
    ...{ database, now, verify: verifyEvent, verifyHash: ledger.verifyHash },
    requireDisk: () => undefined,
    accepting: (event) => ({
      accept: async (tx: Stores & { lock: never }) =>
        void (machine.hasLedger && (await settle(ledger, tx, event, now()))),
    }),
    trouble: links.trouble,
    outside: relays.map(({ url }) => url),
    embeddedUrl: null,
    keeps: async () => false,
    quotas: createWriteQuotas({ rateLimit: false, seconds: () => loop.seconds }),
    local: null,
    superseded: async (versions) => versions.map(() => false),
    askOutside: () => [],
  }
  if (machine.hasLedger) await declareTokens(database, ledger.tokens)
  const stops = startWork({ jobs, database, now, failed, transfers })
  if (machine.hasLedger) {
    const admission = createAdmission({
      ledger,
      database,
      seconds: () => loop.seconds,
      rateLimit: false,
    })
    const { subscribe } = links
    stops.push(startLedgerWorker({ ledger, database, jobs, now, admission, subscribe, failed }))
  }
  const { charge: chargeTake } = coupons
  const posters: PosterService = { database, coupons, chargeTake, countTake: noTakeLimit }
  const base = { process, coupons, posters, transfers, gateway, wallet, made: null }
  return {
    ...base,
    on: (own) => serviceOn(base, own),
    async stop() {
      await Promise.all([...stops.map((stop) => stop()), links.stop()])
      process.closing = true
      await database.close()
      process.crash()
    },
  }
}

type Work = {
  jobs: Jobs
  database: OpenDatabase<Stores>
  now: () => number
  failed: (cause: unknown) => void
  transfers: Transfers
}

/** Start the background work that every service has; the result stops it. */
function startWork({ jobs, database, now, failed, transfers }: Work): (() => Promise<void>)[] {
  const kills = startKillSweep({ jobs, database, failed })
  database.listen(couponsKilled, { told: kills.wake, missed: kills.wake })
  const warn = (_: string, fields: { cause?: unknown } = {}) => failed(fields.cause)
  const sweeps = startSweeps({ database, jobs, now, log: { warn } } as never)
  const swaps = startTransferWorker({ transfers, jobs, failed })
  database.listen(swapPostponed, { told: swaps.wake, missed: swaps.wake })
  return [kills, sweeps, swaps].map((one) => () => one.stop())
}

/** The operations on the database of one request. */
function serviceOn(base: Service, database: OpenDatabase<Stores>): Service {
  const { wallet } = base
  const coupons: CouponService = {
    ...base.coupons,
    database,
    newNonce: () => {
      own.made = base.coupons.newNonce()
      return own.made
    },
  }
  const cards = { ...wallet.cards, database }
  const own: Service = {
    ...base,
    coupons,
    posters: { ...base.posters, database, coupons },
    transfers: { ...base.transfers, database, couponService: coupons },
    gateway: { ...base.gateway, database },
    wallet: { ...wallet, cards, payments: { ...wallet.payments, cards, database } },
  }
  return own
}

function uuidOf(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
