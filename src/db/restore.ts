import { SQLiteError } from 'bun:sqlite'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { ownLikeDirectory, syncDirectory, syncFile, writeDurably } from '../base/durable.ts'
import { OperatorError } from '../base/operator-error.ts'
import { asOperatorError } from './backup.ts'
import { checkDatabase } from './check.ts'
import { type CheckReport, noPause, requireSound } from './check-report.ts'
import { createSql } from './connection.ts'
import { goBack } from './going-back.ts'
import { openForReading, type Pins, readPins } from './inspect.ts'
import { removeRestoreMark, restoreMark, storeLog } from './left-log.ts'
import { couponSchema, migrate } from './migrations.ts'
import { type MoveHeader, openMove } from './move-file.ts'
import { unpackRelay } from './relay-snapshot.ts'
import { openConnection } from './sqlite.ts'

/** A checked backup that can replace the database. */
type Candidate = {
  path: string
  check: CheckReport
  pins: Pins
  /** The embedded relay's database. Null if the backup has none. */
  relay: { path: string; events: number } | null
}

/**
 * Copy a backup beside the database, upgrade the copy to this program's schema and check it.
 * Throws OperatorError if it is damaged or no backup. `discard` removes the copy.
 */
export async function prepareRestore(
  file: string,
  database: string,
  now: number,
): Promise<Candidate> {
  const there = statSync(file, { throwIfNoEntry: false })
  if (!there) throw new OperatorError(`there is no file ${file}`)
  if (!there.isFile()) throw new OperatorError(`${file} is not a file`)
  if (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size) {
    throw new OperatorError(
      `${file}-wal lies beside it: this is a database in use or left by a crash, not a backup; make one with "cuponera backup"`,
    )
  }
  const path = `${database}.restoring-${crypto.randomUUID().slice(0, 8)}`
  try {
    copyFileSync(file, path)
    chmodSync(path, 0o600)
    ownLikeDirectory(path)
    return await checkCopy(path, file, (connection) => goBack(createSql(connection, 'later'), now))
  } catch (cause) {
    discard(path)
    throw asOperatorError(cause, path)
  }
}

/** `passphrase`: as `sealMove` had it. `target`: path for the database of the file. */
export type ArrivalJob = { file: string; passphrase: string; target: string }

/** A checked service from another computer. `keys` are unchecked. */
export type Arrived = Candidate & Pick<MoveHeader, 'keys'>

/**
 * Decrypt the file of a move, and upgrade and check its database. A move is no step back in time: the old service was
 * closed before the backup, so sessions and the counters of cards go on. Throws OperatorError; files may be left then.
 */
export async function prepareArrival({ file, passphrase, target }: ArrivalJob): Promise<Arrived> {
  try {
    const { keys } = await openMove(Bun.file(file), passphrase, target)
    ownLikeDirectory(target)
    const candidate = await checkCopy(target, 'the database in the file', async (connection) => {
      connection.run("DELETE FROM facts WHERE name = 'moved'")
    })
    return { ...candidate, keys }
  } catch (cause) {
    throw asOperatorError(cause, target)
  }
}

async function checkCopy(path: string, file: string, settle: Settle): Promise<Candidate> {
  await upgrade(path, file, settle)
  const events = unpackRelay(path, relayOf(path))
  const check = await checkDatabase(path, noPause)
  requireSound(file, check)
  const relay = events === null ? null : { path: relayOf(path), events }
  return { path, check, pins: readPins(path), relay }
}

/** Remove a copy that `prepareRestore` made. */
export function discard(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) {
    rmSync(`${path}${suffix}`, { force: true })
    rmSync(`${relayOf(path)}${suffix}`, { force: true })
  }
}

function relayOf(path: string): string {
  return `${path}-relay`
}

/**
 * Replace the database by the candidate, durably. Returns the path of the old database, null if there
 * was none.
 */
export function replaceDatabase(candidate: { path: string }, database: string, now: number) {
  syncFile(candidate.path)
  const replaced = existsSync(database) ? `${database}.before-restore-${now}` : null
  if (replaced !== null) {
    foldWal(database)
    keepAside(database, replaced)
  }
  // A WAL that could not be folded belongs to the old file. It would corrupt the new one.
  if (existsSync(`${database}-wal`)) {
    if (replaced === null) rmSync(`${database}-wal`)
    else keepWalAside(database, replaced)
  }
  rmSync(`${database}-shm`, { force: true })
  syncDirectory(dirname(database))
  renameSync(candidate.path, database)
  syncDirectory(dirname(database))
  removeRestoreMark(database)
  return replaced
}

/** Changes to a copy that was upgraded. */
type Settle = (connection: ReturnType<typeof openConnection>) => Promise<void>

async function upgrade(path: string, file: string, settle: Settle): Promise<void> {
  try {
    const probe = openForReading(path)
    const tables = probe.query("SELECT 1 FROM sqlite_schema WHERE name = 'vouchers'").get()
    probe.close()
    // The migration would turn an empty file into an empty database.
    if (tables === null) throw new OperatorError(`${file} is not a database of Cuponera`)
    const connection = openConnection(path)
    migrate(connection, couponSchema)
    await settle(connection)
    connection.run('PRAGMA wal_checkpoint(TRUNCATE)')
    connection.close()
  } catch (cause) {
    // A disk that takes no more says nothing about the file.
    if (!(cause instanceof SQLiteError) || /FULL|IOERR/.test(cause.code ?? '')) throw cause
    throw new OperatorError(`${file} is not a sound database: ${cause.message}`)
  }
}

/** Fold the WAL that a crash left into the file, if it can be stored first. */
function foldWal(database: string): void {
  try {
    storeLog(database, 'forgotten')
    const connection = openConnection(database)
    connection.run('PRAGMA wal_checkpoint(TRUNCATE)')
    connection.close()
  } catch (cause) {
    // The old file may be damaged, or its disk, which may be why it is replaced. Its WAL is kept beside it.
    if (!(cause instanceof SQLiteError || cause instanceof OperatorError)) throw cause
  }
}

/** Give the old file a second name first, so that a database exists at every moment. */
function keepAside(database: string, aside: string): void {
  if (existsSync(aside)) throw new OperatorError(`${aside} exists already: try again in a second`)
  try {
    linkSync(database, aside)
  } catch (cause) {
    // File systems without hard links (FAT): the old file is renamed.
    if (!(cause instanceof Error && 'syscall' in cause)) throw cause
    renameSync(database, aside)
  }
}

/** Give the WAL to the old file. Until the new file is there, nobody may open the old one, which lacks its WAL. */
function keepWalAside(database: string, aside: string): void {
  writeDurably(restoreMark(database), '')
  renameSync(`${database}-wal`, `${aside}-wal`)
}
