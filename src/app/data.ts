import { chmodSync, readdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { version } from '../../package.json'
import { systemClock } from '../base/clock.ts'
import { makeDirectory } from '../base/durable.ts'
import type { Log } from '../base/log.ts'
import { OperatorError } from '../base/operator-error.ts'
import type { OpenDatabase } from '../db/database.ts'
import { type Lock, lockDatabases } from '../db/lock.ts'
import { couponSchema } from '../db/migrations.ts'
import { fileFailure, openDatabase as open } from '../db/open.ts'
import { shownAddress } from '../db/postgres/address.ts'
import type { Verdict } from '../db/postgres/standby-watch.ts'
import { openWal } from '../db/wal.ts'
import type { Metrics } from '../http/metrics.ts'
import type { Config } from './config.ts'
import { createStores, type Stores } from './stores.ts'

/** The coupon database inside a data directory. */
export function databasePath(dataDir: string): string {
  return join(dataDir, 'cuponera.db')
}

/** Make the data directory, readable by this user alone. */
export function openDataDir(dataDir: string): void {
  // Files of this process are for its user alone, whatever the umask of the shell.
  process.umask(0o077)
  try {
    makeDirectory(dataDir)
    const there = readdirSync(dataDir)
    // The directory may belong to another program, so its mode is not changed.
    if (there.length > 0 && !there.some(isOurs)) {
      throw new OperatorError(`${dataDir} is not empty and not a data directory: name another one`)
    }
    chmodSync(dataDir, 0o700)
  } catch (cause) {
    throw startErrorFrom(cause, `cannot use the data directory ${dataDir}`)
  }
}

/** Keep every other process out of the data directory. `needed`: the databases whose logs must be on disk, else all. */
export function lockDataDir(dataDir: string, needed?: string[]): Lock {
  try {
    const lock = lockDatabases(dataDir, needed)
    if (lock) return lock
  } catch (cause) {
    throw startErrorFrom(cause, `cannot lock the data directory ${dataDir}`)
  }
  throw new OperatorError(`another Cuponera is using ${dataDir}: stop it first`)
}

/** The names that a data directory may begin with. A volume has a `lost+found` of its own. */
const ours = [
  ...['lock', 'keys', 'tls', 'cuponera.db', 'relay.db', 'incoming', 'control.sock'],
  'lost+found',
]

/** True also for the journal of a database. A power cut in the first start may leave any one of these names alone. */
function isOurs(name: string): boolean {
  return ours.some((own) => name === own || name.startsWith(`${own}-`))
}

/** Turn a failure of a file or the disk into a line for the operator. Other causes stay as they are. */
export function startErrorFrom(cause: unknown, failed: string): unknown {
  const failure = fileFailure(cause)
  if (failure === null) return cause
  const advice = failure.damaged ? ': look at it with "cuponera check"' : ''
  return new OperatorError(`${failed} (${failure.code})${advice}`)
}

/** Log lines of the verdicts of the watch of the standby, with their hints. */
const watchLines: Record<Verdict, readonly ['error' | 'warn', event: string, hint: string]> = {
  waiting: [
    'error',
    'standby.lost',
    'writes are refused, and after a start of the server or a promotion reads, too: bring the standby back, or take it out of synchronous_standby_names',
  ],
  unreachable: [
    'error',
    'database.unreachable',
    'writes are refused: the server owes an answer for too long, and takes no new connection',
  ],
  forbidden: [
    'warn',
    'standby.unwatched',
    'let the login read pg_stat_activity: else a standby that is away fills the server with sessions',
  ],
  free: ['warn', 'database.back', 'writes are taken again'],
}

/** An open database, and a line for the operator if it is on a server. */
type Opened = { database: OpenDatabase<Stores>; server: string | null }

/** Open the database. A damaged or unwritable file ends the start with a line for the operator. */
export async function openDatabase(
  { dataDir, databaseUrl, nodeName }: Pick<Config, 'dataDir' | 'databaseUrl' | 'nodeName'>,
  log: Log,
  metrics: Metrics,
): Promise<Opened> {
  const options = {
    schema: couponSchema,
    now: systemClock,
    stores: createStores,
    events: {
      committed: metrics.committed,
      failed(cause: unknown, operations: number) {
        metrics.commitFailed()
        log.error('commit.failed', { cause, operations })
      },
      unknown(commit: string) {
        log.error('commit.unknown', { commit })
      },
      outdated(schema: number) {
        log.error('schema.ahead', { schema, hint: 'upgrade this node: it takes no requests' })
      },
      unread(cause: unknown) {
        log.error('news.unread', { cause, hint: 'this node takes no requests until it reads them' })
      },
      watched(verdict: Verdict) {
        const [level, event, hint] = watchLines[verdict]
        log[level](event, { hint })
      },
      moved() {
        log.warn('move.closed', { hint: 'this node takes no requests: stop it' })
      },
    },
  }
  if (databaseUrl !== null) {
    const { openPostgres } = await import('../db/postgres/open.ts')
    const { database, server } = await openPostgres({
      ...{ ...options, url: databaseUrl },
      node: { name: nodeName ?? hostname().slice(0, 64), version },
    })
    const address = shownAddress(databaseUrl)
    log.info('database.opened', { address, ...server })
    const { durability, standbys } = server
    const waits = standbys === '' ? 'no standby' : `standbys ${standbys}`
    return {
      database,
      server: `${address}, PostgreSQL ${server.version}, synchronous_commit ${durability}, ${waits}`,
    }
  }
  try {
    return {
      database: open({ ...options, path: databasePath(dataDir), wal: openWal }),
      server: null,
    }
  } catch (cause) {
    throw startErrorFrom(cause, `cannot open the database ${databasePath(dataDir)}`)
  }
}

/** Advice for commands that need the file of the embedded engine. */
const advice = {
  alone: 'start the server, and run the command beside it',
  backup: 'back it up with pg_dump, or by archiving its WAL',
  move: 'such a move takes a file: "cuponera move --from postgres://… --to DIRECTORY" makes one',
  restore:
    'bring it back with pg_restore or from its WAL, and run "cuponera restore --force" without a file before the start',
}

/** Throws OperatorError if the database is PostgreSQL, with the way to do it there. */
export function requireFile(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  command: keyof typeof advice,
): void {
  if (databaseUrl !== null)
    throw new OperatorError(`the database is PostgreSQL (DATABASE_URL): ${advice[command]}`)
}
