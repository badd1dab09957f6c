import { SQLiteError, type Database as Sqlite, type Statement } from 'bun:sqlite'
import { writeSync } from 'node:fs'
import { limits } from '../base/limits.ts'

type Progress = { log: number; checkpointed: number }

/**
 * Folds the log of a database into its file (a checkpoint). SQLite would do so by itself in a commit, and tell nobody of
 * a failure. While a connection reads an old state, only a part is folded, and not synced. If a later sync of the
 * file fails, the kernel may have lost that part, and SQLite never writes it again in this process: then the process
 * has to end. The next one reads the whole log, and folds all of it.
 */
export class Fold {
  readonly #end: (cause: SQLiteError) => void
  /** A part of the log was folded, and its sync is to come. */
  #partly = false

  constructor(end = endProcess) {
    this.#end = end
  }

  /** Fold the log after a commit if it is long. Throws SQLiteError if it cannot be folded now: the log keeps all. */
  ifLong(frames: Statement<Progress, []>, connection: Sqlite): void {
    if ((frames.get()?.log ?? 0) >= limits.logFramesMax) this.#run(connection, 'PASSIVE')
  }

  /** Fold all of the log, and cut it. */
  all(connection: Sqlite): void {
    this.#run(connection, 'TRUNCATE')
  }

  #run(connection: Sqlite, mode: 'PASSIVE' | 'TRUNCATE'): void {
    try {
      const done = connection.query<Progress, []>(`PRAGMA wal_checkpoint(${mode})`).get()
      if (done && done.log >= 0) this.#partly = done.checkpointed < done.log
    } catch (cause) {
      const sync = cause instanceof SQLiteError && cause.code === 'SQLITE_IOERR_FSYNC'
      if (sync && this.#partly) this.#end(cause)
      throw cause
    }
  }
}

/** The number of frames in the log of a connection. */
export function framesOf(connection: Sqlite): Statement<Progress, []> {
  return connection.query<Progress, []>('PRAGMA wal_checkpoint(NOOP)')
}

/** End the process at once. No part of it may close the file, because the last close folds the log, too. */
function endProcess({ code, message }: SQLiteError): void {
  try {
    writeSync(
      2,
      `cuponera: the disk failed (${code}): ${message}. The service ends, and its next start reads its log anew\n`,
    )
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}
