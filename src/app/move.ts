import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ownLikeDirectory, syncDirectory } from '../base/durable.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'
import { Refusal } from '../base/refusal.ts'
import { completeArrival, createIncoming, incomingPath, untouched } from '../db/arrival.ts'
import { asOperatorError, type BackupReport, partialOf } from '../db/backup.ts'
import type { CheckReport } from '../db/check-report.ts'
import type { Database } from '../db/database.ts'
import type { Pins } from '../db/inspect.ts'
import { type MoveHeader, sealMove } from '../db/move-file.ts'
import { relayBeside } from '../db/relay-snapshot.ts'
import type { prepareArrival } from '../db/restore.ts'
import { npubOf } from '../nostr/keys.ts'
import type { Caller } from '../session/caller.ts'
import type { Config } from './config.ts'
import { databasePath } from './data.ts'
import {
  fingerprintOf,
  type KeyTexts,
  keyNames,
  type LoadedKeys,
  parseKeyring,
  requireKeyTexts,
  writeKey,
} from './keyring.ts'
import { findMismatch } from './keys.ts'
import type { Stores } from './stores.ts'

type Facts = Database<Pick<Stores, 'facts'>>

/**
 * Close the service for good: it does not run from this database until `moveBack`. Durable when this returns. `to` is a
 * database of another kind that it goes on in: then no file of a move leaves any more.
 */
export function closeForMove(database: Facts, now: number, to?: 'postgres'): Promise<void> {
  return database.transact({ roots: ['instance'] }, async (tx) => {
    await tx.facts.pin('moved', String(now))
    if (to) await tx.facts.pin('moved-to', to)
  })
}

/** Throws OperatorError if the service goes on in a database of another kind: a file would be a second one. */
export async function requireMovable(database: Facts): Promise<void> {
  const to = await database.snapshot((tx) => tx.facts.find('moved-to'))
  if (to === null) return
  throw new OperatorError(
    `this service goes on in ${to === 'file' ? 'a file' : 'PostgreSQL'} ("cuponera move back" opens it here again)`,
  )
}

/**
 * Open the service again, because the move did not take place. Refuses `move-not-begun`. `spend` keeps a signature as
 * used beyond the restart: repeated after the next move, it would open the service again. `done` is called when it is on
 * disk, which may be after a failure.
 */
export function moveBack(
  database: Database<Pick<Stores, 'facts' | 'proofs'>>,
  { spend, done = () => undefined }: { spend?: Caller['spend']; done?: () => void } = {},
): Promise<void> {
  return database.transact({ roots: ['instance'], first: spend }, async (tx) => {
    if ((await tx.facts.find('moved')) === null) throw new Refusal('move-not-begun')
    await tx.facts.forget('moved')
    await tx.facts.forget('moved-to')
    tx.afterCommit(done)
  })
}

/** The time of the move in Unix seconds, null for a service that was not moved. */
export async function findMoved(database: Facts): Promise<number | null> {
  const at = await database.snapshot((tx) => tx.facts.find('moved'))
  return at === null ? null : Number(at)
}

/** The copy of the closed database that a file for a move is made from. */
export function moveCopyPath(dataDir: string): string {
  return join(dataDir, 'move.db')
}

/** Build the file of a move from the keys and that copy, as a stream. `passphrase` as it was typed. */
export async function streamMove(
  config: Config,
  passphrase: string,
  now: number,
): Promise<ReadableStream<Uint8Array>> {
  const copy = Bun.file(moveCopyPath(config.dataDir))
  const hash = new Bun.CryptoHasher('sha256')
  for await (const piece of copy.stream()) hash.update(piece)
  const header: MoveHeader = {
    format: 'cuponera-move',
    version: 1,
    createdAt: now,
    keys: requireKeyTexts(config),
    database: { bytes: copy.size, sha256: hash.digest('hex') },
  }
  return sealMove(header, copy.stream(), await passphraseOf(passphrase))
}

/** The passphrase that a typed text stands for. The list of words is loaded at the first move alone. */
async function passphraseOf(typed: string): Promise<string> {
  const { movePassphraseOf } = await import('../client/move-words.ts')
  return movePassphraseOf(typed)
}

/**
 * Write the file of a move (0600). It has its name only when it is complete and on disk. Replaces a file.
 * Throws OperatorError if it cannot be written.
 */
export async function writeMove(
  config: Config,
  target: string,
  { passphrase, now }: { passphrase: string; now: number },
): Promise<void> {
  const partial = partialOf(target)
  let output: number | null = null
  try {
    output = openSync(partial, 'wx', 0o600)
    ownLikeDirectory(partial)
    for await (const piece of await streamMove(config, passphrase, now)) {
      for (let at = 0; at < piece.length; ) at += writeSync(output, piece, at)
    }
    fsyncSync(output)
    renameSync(partial, target)
    syncDirectory(dirname(target))
  } catch (cause) {
    throw asOperatorError(cause, target)
  } finally {
    if (output !== null) closeSync(output)
    rmSync(partial, { force: true })
  }
}

/** The refusal for long work that ended before it was done; other causes stay as they are. */
export function refusalOf(cause: unknown): unknown {
  if (OperatorError.is(cause, 'disk-full')) return diskLow()
  if (OperatorError.is(cause, 'stopping')) return new Refusal('shutting-down', { retryAfter: 5 })
  return cause
}

/** Refuse `disk-low` if the copy for a move has no room, since a closed service without a file helps nobody. */
export function requireRoomForMove({ dataDir }: Config, freeBytes: number | null): void {
  const database = databasePath(dataDir)
  const bytes = [database, relayBeside(database)].reduce(
    (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
  if (freeBytes !== null && freeBytes < bytes) throw diskLow()
}

function diskLow(): Refusal {
  return new Refusal('disk-low', { retryAfter: limits.diskLowRetrySeconds })
}

type Arrival = { npub: string; check: CheckReport; events: BackupReport['events'] }

/**
 * Check the file of a move wholly, and lay its keys and databases ready for the next start of this unused service.
 * `prepare` is `prepareArrival`, here or in a thread. Throws OperatorError if the service was used, or if the file is
 * damaged or does not fit the settings.
 */
export async function stageArrival(
  config: Config,
  { file, passphrase }: { file: string; passphrase: string },
  prepare: typeof prepareArrival,
): Promise<Arrival> {
  const { dataDir } = config
  if (!untouched(dataDir)) throw used()
  const incoming = createIncoming(dataDir)
  try {
    const arrived = await prepare({
      file,
      passphrase: await passphraseOf(passphrase),
      target: join(incoming, 'cuponera.db'),
    })
    const { check, pins, relay } = arrived
    const keys = parseKeyring(arrived.keys)
    if (!keys) throw new OperatorError('the file holds no keys')
    const wrong = findMismatch(keys, pins)
    if (wrong) throw new OperatorError(`the database in the file belongs to ${wrong}`)
    requireSettings(config, keys, pins)
    if (relay) renameSync(relay.path, join(incoming, 'relay.db'))
    writeKeys(incoming, arrived.keys as KeyTexts)
    // Somebody may have used the service meanwhile.
    if (!untouched(dataDir)) throw used()
    completeArrival(dataDir)
    return { npub: pins.manager ? npubOf(pins.manager) : '', check, events: relay?.events ?? null }
  } catch (cause) {
    rmSync(incomingPath(dataDir), { recursive: true, force: true })
    throw cause
  }
}

/** A key of the settings overrides the one that arrives, so another one would keep the service from its start. */
function requireSettings(config: Config, keys: LoadedKeys, pins: Pins): void {
  const effective = {
    managerSecret: config.managerSecret ?? keys.managerSecret,
    storeKey: config.storeKey ?? keys.storeKey,
    sessionSecret: keys.sessionSecret,
    cardMasterKey: config.cardMasterKey ?? keys.cardMasterKey,
  }
  const wrong = findMismatch(effective, pins)
  if (wrong === null && fingerprintOf(effective.storeKey) === fingerprintOf(keys.storeKey)) return
  throw new OperatorError(
    `the settings of this service name other keys: the file belongs to ${wrong ?? 'another store key'}`,
  )
}

function writeKeys(incoming: string, texts: KeyTexts): void {
  for (const name of keyNames) {
    const text = texts[name]
    if (text !== undefined) writeKey(incoming, name, text)
  }
}

/** Remove the copy that the file was made from, which holds everything but the keys, and what a crash left of one. */
export function removeMoveCopy(dataDir: string): void {
  const copy = basename(moveCopyPath(dataDir))
  for (const name of readdirSync(dataDir)) {
    if (name === copy || name.startsWith(`${copy}.`)) rmSync(join(dataDir, name))
  }
}

function used(): OperatorError {
  return new OperatorError(
    'this service has data already: a move goes into a new data directory',
    'not-empty',
  )
}
