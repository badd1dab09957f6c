import { SQLiteError, type Database as Sqlite, type Statement } from 'bun:sqlite'
import { writeSync } from 'node:fs'
import { limits } from '../base/limits.ts'

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
