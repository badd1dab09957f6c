import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ownLikeDirectory, syncDirectory, syncFile, writeDurably } from '../base/durable.ts'
import { OperatorError } from '../base/operator-error.ts'
import { openUnchanged } from './inspect.ts'
import { databasesIn } from './lock.ts'

/** The names that a move replaces in a data directory, in this order. A service does not run until all are replaced. */
const replaced = [
  { name: 'keys', beside: [] },
  { name: 'relay.db', beside: ['relay.db-wal', 'relay.db-shm'] },
  { name: 'cuponera.db', beside: ['cuponera.db-wal', 'cuponera.db-shm'] },
]
/** Rows of these tables are there before anybody used a service, or say nothing about its use. */
const ownTables = [
  ...['facts', 'state', 'setup_code', 'session_cutoffs', 'proofs'],
  // Sums of other tables, each with its one row.
  ...['totals', 'outbox_load', 'request_load'],
]

/** The directory in which a service that arrives is put together. */
export function incomingPath(dataDir: string): string {
  return join(dataDir, 'incoming')
}

/** Make that directory anew. The rest of an arrival that was not completed goes. */
export function createIncoming(dataDir: string): string {
  const incoming = incomingPath(dataDir)
  rmSync(incoming, { recursive: true, force: true })
  mkdirSync(incoming, { mode: 0o700 })
  ownLikeDirectory(incoming)
  return incoming
}

/**
 * Keep services from a data directory until an arrival from a server is complete: that server may be closed already,
 * and an empty service would begin here in its place.
 */
export function announceArrival(dataDir: string): void {
  writeDurably(announcementOf(dataDir), '')
}

/** Throws OperatorError if such an arrival was not completed. */
export function requireArrived(dataDir: string): void {
  if (!existsSync(announcementOf(dataDir)) || arrivalWaits(dataDir)) return
  throw new OperatorError(
    `a move into ${dataDir} was not completed: run the same "cuponera move" again, or delete ${incomingPath(dataDir)} if the service goes on where it was`,
  )
}

/**
 * Say durably that everything of an arrival is there. From here on the next start adopts it. An arrival without keys
 * leaves those that are there, and so with the relay.
 */
export function completeArrival(dataDir: string): void {
  syncArrival(dataDir)
  writeDurably(markOf(dataDir), crypto.randomUUID())
  syncDirectory(dataDir)
}

/** Bring everything of an arrival to the disk. */
export function syncArrival(dataDir: string): void {
  const incoming = incomingPath(dataDir)
  for (const { name } of replaced) {
    const path = join(incoming, name)
    if (name === 'keys' || !existsSync(path)) continue
    // The next start takes the file alone.
    assert(!statSync(`${path}-wal`, { throwIfNoEntry: false })?.size, 'a journal is not folded in')
    syncFile(path)
  }
  const keys = join(incoming, 'keys')
  if (existsSync(keys)) syncDirectory(keys)
  syncDirectory(incoming)
  syncDirectory(dataDir)
}

/** True if a completed arrival waits for the next start. */
export function arrivalWaits(dataDir: string): boolean {
  return existsSync(markOf(dataDir))
}

/**
 * Replace the keys and the databases of an unused service by those of a completed arrival. After a crash at any
 * step, the next call goes on. What was there is kept in `before-move-…`. `onStep` is called before each change.
 */
export function adoptArrival(dataDir: string, onStep: (step: string) => void = () => undefined) {
  const incoming = incomingPath(dataDir)
  const announced = existsSync(announcementOf(dataDir))
  if (!arrivalWaits(dataDir)) {
    if (announced) return false
    rmSync(incoming, { recursive: true, force: true })
    return false
  }
  const aside = join(dataDir, `before-move-${readFileSync(markOf(dataDir), 'utf8').slice(0, 8)}`)
  // Somebody used the service after the file came in: vouchers that are out count more than a file. An announced
  // arrival is the newest of all: nothing started here since.
  if (!announced && !existsSync(aside) && !untouched(dataDir)) {
    onStep('give up')
    rmSync(markOf(dataDir))
    rmSync(incoming, { recursive: true, force: true })
    return false
  }
  mkdirSync(aside, { recursive: true, mode: 0o700 })
  ownLikeDirectory(aside)
  syncDirectory(dataDir)
  for (const { name, beside } of replaced) {
    if (!existsSync(join(incoming, name))) continue
    // The file itself goes last, so that its journal is never left beside the new one.
    for (const old of [...beside, name]) {
      if (!existsSync(join(dataDir, old))) continue
      onStep(`keep ${old}`)
      renameSync(join(dataDir, old), freePath(aside, old))
    }
    syncDirectory(dataDir)
    onStep(`adopt ${name}`)
    renameSync(join(incoming, name), join(dataDir, name))
    syncDirectory(dataDir)
  }
  onStep('end')
  rmSync(announcementOf(dataDir), { force: true })
  rmSync(markOf(dataDir))
  syncDirectory(incoming)
  rmSync(incoming, { recursive: true, force: true })
  return true
}

/**
 * Where to keep a file or directory. Its name is taken if a power cut left something under the name before a rename, too: what
 * was kept already, or what came in.
 */
function freePath(aside: string, name: string): string {
  let path = join(aside, name)
  for (let number = 2; existsSync(path); number++) path = join(aside, `${name}.${number}`)
  return path
}

/** True if nobody used the service of a data directory: no row of a merchant, a coupon, a customer or the relay. */
export function untouched(dataDir: string): boolean {
  return databasesIn(dataDir).every((path) => !existsSync(path) || isEmpty(path))
}

function isEmpty(path: string): boolean {
  const sql = openUnchanged(path)
  try {
    const tables = sql.query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )
    return tables.all().every(({ name }) => {
      return ownTables.includes(name) || sql.query(`SELECT 1 FROM "${name}" LIMIT 1`).get() === null
    })
  } finally {
    sql.close()
  }
}

function announcementOf(dataDir: string): string {
  return join(incomingPath(dataDir), 'from-server')
}

function markOf(dataDir: string): string {
  return join(incomingPath(dataDir), 'complete')
}
