import { existsSync } from 'node:fs'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { openSchnorr, type SchnorrEngine } from '../crypto/schnorr.ts'
import { createHashVerifier } from '../crypto/sign-event.ts'
import { adoptArrival, requireArrived } from '../db/arrival.ts'
import type { OpenDatabase } from '../db/database.ts'
import { createJobs, type Jobs } from '../db/jobs.ts'
import { createMaintenance, type Maintenance } from '../db/maintenance.ts'
import { createMetrics, type Metrics } from '../http/metrics.ts'
import { createRateLimits, noRateLimits, type RateLimits } from '../http/rate-limit.ts'
import type { VerifyHash } from '../nostr/delegation.ts'
import type { Signer, VerifyEvent, VerifyEventSoon } from '../nostr/event.ts'
import type { ServedCertificate } from '../tls/files.ts'
import { requireAgreement } from './agreement.ts'
import type { Config } from './config.ts'
import { databasePath, lockDataDir, openDatabase, openDataDir } from './data.ts'
import { type Disk, type StatFs, watchDisk } from './disk.ts'
import { type LoadedKeys, loadKeyring } from './keyring.ts'
import { hasPins, pinKeys, settleCardKey } from './keys.ts'
import { keepOwnDatabase, requireOwnDatabase } from './own-database.ts'
import { openSignatures } from './signatures.ts'
import type { Stores } from './stores.ts'
import { loadCertificate } from './tls.ts'

/** The parts that every feature is built from. */
export type Runtime = {
  config: Config
  log: Log
  keys: LoadedKeys
  /** Null: http only. */
  certificate: ServedCertificate | null
  cardMasterKey: Uint8Array
  schnorr: SchnorrEngine
  /** The manager key. */
  signer: Signer
  verify: VerifyEvent
  verifySoon: VerifyEventSoon
  verifyHash: VerifyHash
  metrics: Metrics
  database: OpenDatabase<Stores>
  /** Address, version and durability of the database server. Null: a file. */
  databaseServer: string | null
  /** Settings that another node has otherwise, for the operator. Null: none. */
  differing: string | null
  jobs: Jobs
  /** Checks, backups and arrivals, in a thread. The control socket stops it first of all. */
  maintenance: Maintenance
  disk: Disk
  /** Refuses `disk-low`. */
  requireDisk: () => void
  rateLimits: RateLimits
  now: Clock
  /** A monotonic clock in milliseconds. */
  steady: () => number
}

/** Open directory, lock, keys, certificate, database, signatures and disk, in this order. `opened` closes them. */
export async function openRuntime(
  config: Config,
  log: Log,
  { statFs, opened }: { statFs: StatFs; opened: AsyncDisposableStack },
): Promise<Runtime> {
  const { dataDir } = config
  openDataDir(dataDir)
  // The relay's thread stores the log of its database itself, and tries again where it cannot.
  const lock = lockDataDir(dataDir, [databasePath(dataDir)])
  opened.defer(() => lock.release())
  if (config.databaseUrl === null) requireArrived(dataDir)
  // Before the keys and the database are read: a crash may have left half of an arrival.
  if (adoptArrival(dataDir)) log.info('move.arrived')
  await requireOwnDatabase(config)
  const shared = config.databaseUrl !== null
  const before = shared ? null : loadKeyring(config, !existsSync(databasePath(dataDir)))
  // Before the database: a start that fails on a setting has not migrated an older file.
  const certificate = await loadCertificate(config, log)
  const metrics = createMetrics()
  const { database, server: databaseServer } = await openDatabase(config, log, metrics)
  opened.defer(() => database.close())
  // A new node makes no keys for a database that has some, and only the database on a server can tell.
  const keys = before ?? loadKeyring(config, !(await hasPins(database)), true)
  const schnorr = openSchnorr()
  const { signer, verify, verifySoon, stop } = openSignatures(schnorr, keys.managerSecret, {
    ...{ log, sharedCommits: !shared },
  })
  opened.defer(stop)
  await pinKeys(database, keys, signer.pubkey)
  const cardMasterKey = await settleCardKey(database, keys, { dataDir, shared })
  const differing = await requireAgreement(database.nodes, config, keys)
  if (differing !== null) log.warn('nodes.differ', { differing })
  keepOwnDatabase(config)
  const jobs = createJobs(database)
  const disk = await watchDisk({ dataDir, floor: config.diskFloor, statFs, jobs, log })
  opened.defer(() => disk.stop())
  const maintenance = createMaintenance(databasePath(dataDir), config.databaseUrl)
  opened.defer(() => maintenance.stop())
  const steady = () => performance.now()
  return {
    ...{
      config,
      log,
      keys,
      certificate,
      cardMasterKey,
      schnorr,
      signer,
      verify,
      verifySoon,
      metrics,
      database,
      databaseServer,
      differing,
      jobs,
      maintenance,
      disk,
      steady,
    },
    verifyHash: createHashVerifier(schnorr),
    requireDisk: disk.requireRoom,
    rateLimits: config.rateLimit ? createRateLimits(() => steady() / 1000) : noRateLimits,
    now: systemClock,
  }
}
