import { SQLiteError } from 'bun:sqlite'
import {
  closeSync,
  existsSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ownLikeDirectory, syncDirectory, syncFile } from '../base/durable.ts'
import { OperatorError } from '../base/operator-error.ts'
import { checkDatabase } from './check.ts'
import type { CheckReport } from './check-report.ts'
import { copyWhole, packRelay, relayBeside } from './relay-snapshot.ts'

export type BackupJob = {
  /** The database. */
  source: string
  /** An absolute path. */
  target: string
  /** Path of the copy until it has passed the check: beside `target`, on the same disk. */
  partial: string
  /** Replace a file that is there. */
  force: boolean
}

/** `events`: number of events of the embedded relay. Null if there is no relay. */
export type BackupReport = { bytes: number; check: CheckReport; events: number | null }

/** A new path beside the target. */
export function partialOf(target: string): string {
  return `${target}.partial-${crypto.randomUUID().slice(0, 8)}`
}

/**
 * Copy the database and that of the embedded relay, each in one state, and check the copy. The copy gets
 * its name only after that. A server may write meanwhile. Throws OperatorError and leaves no file if it fails.
 */
export async function writeBackup(job: BackupJob): Promise<BackupReport> {
  const { source, target, partial, force } = job
  refuseTaken(target, force)
  try {
    createEmpty(partial)
    copyWhole(source, partial)
    const events = packRelay(relayBeside(source), partial, `${partial}-relay`)
    const check = await checkDatabase(partial, (tookMs) => Bun.sleep(Math.min(tookMs, 5)))
    if (check.found > 0) {
      throw new OperatorError(
        `the copy does not pass the check (${check.problems[0]}), so the database itself is damaged: stop the service, and copy the data directory as it stands`,
      )
    }
    syncFile(partial)
    // Checked again: another process may have created the target meanwhile.
    refuseTaken(target, force)
    renameSync(partial, target)
    syncDirectory(dirname(target))
    return { bytes: statSync(target).size, check, events }
  } catch (cause) {
    throw asOperatorError(cause, target)
  } finally {
    removePartial(partial)
  }
}

/** Remove the partial copy of an interrupted backup. */
export function removePartial(partial: string): void {
  for (const file of [partial, `${partial}-relay`]) {
    for (const suffix of ['', '-journal', '-wal', '-shm']) {
      rmSync(`${file}${suffix}`, { force: true })
    }
  }
}

/** Names in a data directory that the service reads, writes or removes itself. */
const ownFiles = ['cuponera.db', 'relay.db', 'move.db', 'lock']
  .flatMap((name) => [
    name,
    ...['wal', 'shm', 'journal', 'restoring'].map((end) => `${name}-${end}`),
  ])
  .concat('control.sock', 'arriving.cuponera', 'backed-up')
const ownFolders = ['keys', 'tls', 'images', 'incoming']

/**
 * Refuse a path that a person named: a file of the service or in a folder of it, a directory, and without `force` an
 * existing file. Throws OperatorError.
 */
export function refuseTarget(database: string, target: string, force: boolean): void {
  const dataDir = dirname(database)
  const directory = dirname(target)
  const same = (path: string) =>
    existsSync(path) && existsSync(directory) && realpathSync(path) === realpathSync(directory)
  const own = same(dataDir) && [...ownFiles, ...ownFolders].includes(basename(target))
  if (own || ownFolders.some((name) => same(join(dataDir, name)))) {
    throw new OperatorError(`${target} belongs to the service itself: choose another name`)
  }
  refuseTaken(target, force)
}

function refuseTaken(target: string, force: boolean): void {
  const directory = dirname(target)
  if (!existsSync(directory)) throw new OperatorError(`there is no directory ${directory}`)
  const there = statSync(target, { throwIfNoEntry: false })
  if (there?.isDirectory()) throw new OperatorError(`${target} is a directory: name a file`)
  if (there && !force) {
    throw new OperatorError(`${target} exists already: --force replaces it`)
  }
}

/** Create the file for this user only. SQLite would create it readable for all. */
function createEmpty(path: string): void {
  closeSync(openSync(path, 'wx', 0o600))
  ownLikeDirectory(path)
}

/** The line for the operator about a file that could not be written. Other causes stay as they are. */
export function asOperatorError(cause: unknown, target: string): unknown {
  if (cause instanceof OperatorError || !(cause instanceof Error) || !('code' in cause)) {
    return cause
  }
  if (!(cause instanceof SQLiteError) && !('syscall' in cause)) return cause
  const code = String(cause.code)
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) {
    return new OperatorError('the database is damaged: "cuponera check" says where')
  }
  const full = /^(ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR_SHMSIZE)$/.test(code)
  return new OperatorError(`cannot write ${target}: ${code}`, full ? 'disk-full' : 'failed')
}
