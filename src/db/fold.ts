import { SQLiteError, type Database as Sqlite, type Statement } from 'bun:sqlite'
import { closeSync, existsSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { rewriteFile, syncDirectory } from '../base/durable.ts'
import { limits } from '../base/limits.ts'
import { OperatorError } from '../base/operator-error.ts'

/** Frames in the log, and those of them that are in the file. */
type LogState = { log: number; checkpointed: number }

/** A writing connection: the state of its log, and whether its commits are synced in another thread (slow-disk.ts). */
type Folded = { log: Statement<LogState, []>; connection: Sqlite; aside: boolean }

/** The error of SQLite that a process ends with. */
export type Failure = Pick<SQLiteError, 'code' | 'message'>

/**
 * Folds the log of a database into its file (a checkpoint). SQLite would do so by itself in a commit, and tell nobody of
 * a failure. While a connection reads an old state, only a part is folded, and not synced. If a later sync of the
 * file fails, the kernel may have lost that part, and SQLite never writes it again in this process: then the process
 * has to end. The next one reads the whole log, and folds all of it.
 */
export class Fold {
  readonly #end: (cause: Failure) => void
  /** Frames in the log up to which it is not folded after a failure, so that not every commit tries again. */
  #failedAt = 0

  constructor(end = endProcess) {
    this.#end = end
  }

  /**
   * Fold the log if it is long. Each time the disk is waited for three times, so that on a slow one (`aside`) it is longer.
   * Throws SQLiteError if it cannot be folded now: the log keeps all.
   */
  ifLong({ log, connection, aside }: Folded): void {
    const { logFramesMax, slowLogFramesMax } = limits
    const most = this.#failedAt + (aside ? slowLogFramesMax : logFramesMax)
    const state = log.get()
    if (state && state.log >= most) this.#run(connection, state, 'PASSIVE')
  }

  /** Fold all of the log, and cut it. */
  all(connection: Sqlite): void {
    this.#run(connection, stateOfLog(connection).get(), 'TRUNCATE')
  }

  #run(connection: Sqlite, before: LogState | null, mode: 'PASSIVE' | 'TRUNCATE'): void {
    try {
      connection.run(`PRAGMA wal_checkpoint(${mode})`)
      this.#failedAt = 0
    } catch (cause) {
      this.#failedAt = before?.log ?? 0
      const sync = cause instanceof SQLiteError && cause.code === 'SQLITE_IOERR_FSYNC'
      const partly = before && before.checkpointed > 0 && before.checkpointed < before.log
      if (sync && partly) this.#end(cause)
      throw cause
    }
  }
}

/** Path of the mark of a restore that puts the log of a database aside, and the database after it. */
export function restoreMark(database: string): string {
  return `${database}-restoring`
}

/** Remove that mark durably: one that came back after a power cut would ask for the restore again. */
export function removeRestoreMark(database: string): void {
  const mark = restoreMark(database)
  if (!existsSync(mark)) return
  rmSync(mark)
  syncDirectory(dirname(mark))
}

/**
 * Bring the log that an ended process left to the disk, before anybody opens the database. Its last sync may have failed: it
 * can be read then, and commits behind it, or a file that it is folded into, would be lost in a power cut. Its index is
 * forgotten, unless this process may have the database open. Throws OperatorError, also where a restore took the log away and
 * did not complete.
 */
export function storeLog(database: string, index: 'forgotten' | 'kept'): void {
  const log = `${database}-wal`
  try {
    const there = statSync(log, { throwIfNoEntry: false })
    if (!there?.size && existsSync(restoreMark(database))) {
      throw new OperatorError(
        `a restore of ${database} was not completed: run the same "cuponera restore" again`,
      )
    }
    if (there) rewriteFile(log)
    if (index === 'forgotten') forgetIndex(database)
    // A restore that ended before it took the log away.
    removeRestoreMark(database)
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause)) throw cause
    const path = 'path' in cause ? cause.path : log
    const failed = `cannot read and write ${String(path)} again (${String(cause.code)})`
    throw new OperatorError(`${failed}: make room or mend the disk, then do this again`)
  }
}

/** Databases whose index this process has forgotten. It may have opened them since. */
const forgotten = new Set<string>()

/** Two copies of its header: https://www.sqlite.org/walformat.html#the_wal_index_header */
const indexHeader = new Uint8Array(96)

/**
 * Let the next read make the index of a log anew, from what the log has. The index may name frames that the disk lost:
 * those of a commit whose sync failed, or was still to come. SQLite makes it anew only if no other program has it open,
 * and trusts it else. Without its header, which a writer that is killed leaves half written, all programs read the log.
 */
function forgetIndex(database: string): void {
  const index = `${database}-shm`
  // Closing a descriptor of it ends the locks that connections of this process have on it.
  if (forgotten.has(database)) return
  if (existsSync(index)) {
    const file = openSync(index, 'r+')
    try {
      writeSync(file, indexHeader, 0, indexHeader.length, 0)
    } finally {
      closeSync(file)
    }
  }
  forgotten.add(database)
}

export function stateOfLog(connection: Sqlite): Statement<LogState, []> {
  return connection.query<LogState, []>('PRAGMA wal_checkpoint(NOOP)')
}

/** End the process at once. No part of it may close the file, because the last close folds the log, too. */
export function endProcess({ code, message }: Failure): void {
  try {
    writeSync(
      2,
      `cuponera: the disk failed (${code}): ${message}. The service ends, and its next start reads its log anew\n`,
    )
  } finally {
    process.kill(process.pid, 'SIGKILL')
    // The first process of a container cannot kill itself.
    process.abort()
  }
}
