import { existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../app/config.ts'
import { databasePath, lockDataDir, openDataDir } from '../app/data.ts'
import { findKeys, keyNames, keyPath, parseKeyring, writeKey } from '../app/keyring.ts'
import { findMismatch } from '../app/keys.ts'
import { closeForMove } from '../app/move.ts'
import { systemClock } from '../base/clock.ts'
import { OperatorError } from '../base/operator-error.ts'
import {
  adoptArrival,
  announceArrival,
  arrivalWaits,
  completeArrival,
  createIncoming,
  incomingPath,
  requireArrived,
  syncArrival,
} from '../db/arrival.ts'
import { asOperatorError } from '../db/backup.ts'
import { checkDatabase } from '../db/check.ts'
import { noPause, requireSound } from '../db/check-report.ts'
import { openForReading, type Pins } from '../db/inspect.ts'
import { couponSchema, relaySchema, userVersion, versionOf } from '../db/migrations.ts'
import { shownAddress } from '../db/postgres/address.ts'
import type { Connection } from '../db/postgres/connection.ts'
import { factsAt, factsOfFile, factsOfServer, type MoveFacts } from '../db/postgres/move/facts.ts'
import { loadServer, openLoaded } from '../db/postgres/move/load.ts'
import { withoutServices } from '../db/postgres/move/session.ts'
import { closeServer, unloadServer } from '../db/postgres/move/unload.ts'
import { isEmptyDatabase, readVersion } from '../db/postgres/schema.ts'
import { relayBeside } from '../db/relay-snapshot.ts'
import { onDatabase } from './on-database.ts'

const tell = (line: string) => console.log(line)

/** Move the database of a directory to a server. The file is closed when everything is there, and then the server opens. */
export async function moveToServer(from: string, url: string): Promise<number> {
  const directory = resolve(from)
  const path = databasePath(directory)
  if (!existsSync(path)) throw new OperatorError(`there is no database in ${directory}`)
  requireArrived(directory)
  if (arrivalWaits(directory)) {
    throw new OperatorError('a service has arrived from another computer: start it once')
  }
  const lock = lockDataDir(directory)
  try {
    await withoutServices(url, (connection) => intoServer(connection, path))
  } finally {
    lock.release()
  }
  console.log(
    `The service goes on with DATABASE_URL at ${shownAddress(url)}, and with DATA_DIR ${directory}, which has its keys.`,
  )
  return 0
}

async function intoServer(connection: Connection, path: string): Promise<void> {
  const file = openForReading(path)
  let relay: ReturnType<typeof openForReading> | null = null
  let arriving: string
  try {
    requireVersion(userVersion(file))
    file.run('BEGIN')
    const source = factsOfFile(file)
    const target = await factsOfTarget(connection)
    if (source.moved !== undefined) {
      if (target?.arrived === source.moved) return tell('this move is complete already')
      if (target?.arriving !== source.moved) throw movedAlready()
      return await openLoaded(connection)
    }
    if (target && (target.arriving === undefined || target.manager !== source.manager)) {
      throw new OperatorError('the database on the server is not empty: create a new one')
    }
    arriving = String(systemClock())
    relay = openRelay(path)
    const beside = relay ? [{ schema: relaySchema, file: relay }] : []
    await loadServer(connection, [{ schema: couponSchema, file }, ...beside], { arriving, tell })
  } finally {
    file.close()
    relay?.close()
  }
  await onDatabase(path, (database) => closeForMove(database, Number(arriving), 'postgres'), 'run')
  tell('the file is closed')
  await openLoaded(connection)
  tell('the database on the server is open')
}

/** The facts of the database that a move fills. Null if it is empty. */
async function factsOfTarget(connection: Connection): Promise<MoveFacts | null> {
  if (await isEmptyDatabase(connection)) return null
  return (await readVersion(connection)) === null ? {} : factsOfServer(connection)
}

/** Move the database of a server to a directory. The server is closed when everything is there, and then the file opens. */
export async function moveToFile(config: Config, url: string, to: string): Promise<number> {
  const directory = resolve(to)
  openDataDir(directory)
  const lock = lockDataDir(directory)
  try {
    await withoutServices(url, (connection) => intoFile(config, connection, directory))
  } finally {
    lock.release()
  }
  console.log(`The service goes on without DATABASE_URL, and with DATA_DIR ${directory}.`)
  return 0
}

async function intoFile(config: Config, connection: Connection, directory: string): Promise<void> {
  // One that was completed before it was interrupted.
  adoptArrival(directory)
  const version = await readVersion(connection)
  if (version === null) throw new OperatorError('the database on the server is none of Cuponera')
  requireVersion(version)
  const source = await factsOfServer(connection)
  if (source.arriving !== undefined) {
    throw new OperatorError('a move into the database on the server was not completed')
  }
  const there = factsAt(databasePath(directory))
  const incoming = databasePath(incomingPath(directory))
  if (source.moved !== undefined) {
    if (there?.arrived === source.moved) return tell('this move is complete already')
    if (factsAt(incoming)?.arrived !== source.moved) throw movedAlready()
    return open(directory)
  }
  requireRoom(config, directory, there, source)
  const keys = keysFor(config, directory, pinsOf(source))
  const arrived = String(systemClock())
  try {
    createIncoming(directory)
    announceArrival(directory)
    for (const [name, text] of keys) writeKey(incomingPath(directory), name, text)
    const targets = [
      { schema: couponSchema, path: incoming },
      { schema: relaySchema, path: relayBeside(incoming) },
    ] as const
    await unloadServer(connection, targets, { arrived, tell })
    requireSound('the copy', await checkDatabase(incoming, noPause))
    // On disk before the server is closed: from then on it is the one that counts.
    syncArrival(directory)
  } catch (cause) {
    rmSync(incomingPath(directory), { recursive: true, force: true })
    throw asOperatorError(cause, incoming)
  }
  await closeServer(connection, arrived)
  tell('the database on the server is closed')
  open(directory)
}

function open(directory: string): void {
  completeArrival(directory)
  adoptArrival(directory)
  tell('the file is open')
}

/** Refuse a directory with data, but for the file of this very service that was closed by a move to a server. */
function requireRoom(
  { dataDir }: Config,
  directory: string,
  there: MoveFacts | null,
  source: MoveFacts,
): void {
  const path = databasePath(directory)
  const closed = there?.['moved-to'] === 'postgres' && there.manager === source.manager
  const strange = existsSync(relayBeside(path)) && resolve(dataDir) !== directory && !closed
  if ((existsSync(path) && !closed) || strange) {
    throw new OperatorError(`${directory} has data already: a move goes into a new data directory`)
  }
}

/** The keys that have to come along: none if the directory has them. Throws OperatorError if they are nowhere. */
function keysFor(config: Config, directory: string, pins: Pins) {
  for (const dataDir of [directory, resolve(config.dataDir)]) {
    const found = findKeys({ ...config, dataDir })
    const texts = Object.fromEntries(keyNames.map((name) => [name, found[name]?.text ?? undefined]))
    const keys = parseKeyring(texts)
    if (!keys || findMismatch(keys, pins) !== null) continue
    if (pins.cardKey !== null && keys.cardMasterKey === null) continue
    if (dataDir === directory) return []
    return keyNames.flatMap((name) => {
      const key = found[name]
      return key?.from === keyPath(dataDir, name) ? [[name, key.text] as const] : []
    })
  }
  throw new OperatorError(
    `the keys of the database on the server are neither in ${directory} nor in DATA_DIR: bring them with "cuponera keys import"`,
  )
}

/** Open the events of the relay inside, beside the coupons. Null if there are none. */
function openRelay(path: string) {
  const beside = relayBeside(path)
  if (!existsSync(beside)) return null
  const file = openForReading(beside)
  file.run('BEGIN')
  if (userVersion(file) === versionOf(relaySchema)) return file
  file.close()
  throw new OperatorError(`${beside} has another schema: start the service once`)
}

function pinsOf(facts: MoveFacts): Pins {
  return {
    manager: facts.manager ?? null,
    storeKey: facts['store-key'] ?? null,
    cardKey: facts['card-key'] ?? null,
  }
}

function requireVersion(version: number): void {
  const known = versionOf(couponSchema)
  if (version === known) return
  const advice = version < known ? ': start the service once' : ''
  throw new OperatorError(
    `the database has schema ${version}, this program knows ${known}${advice}`,
  )
}

function movedAlready(): OperatorError {
  return new OperatorError(
    'this service was moved already, and goes on elsewhere ("cuponera move back" opens it here again)',
  )
}
