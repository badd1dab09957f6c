import type { SQLiteError, Database as Sqlite, Statement } from 'bun:sqlite'
import { writeSync } from 'node:fs'
import { limits } from '../base/limits.ts'
import type { Backfill } from './backfill.ts'
import { diskFailure } from './disk-error.ts'

/** Frames in the log, and those of them that SQLite takes for stored in the file. */
type LogState = { log: number; checkpointed: number }

/** A writing connection: the state of its log, and whether its commits are synced in another thread (slow-disk.ts). */
type Folded = {
  log: Statement<LogState, []>
  connection: Sqlite
  begin: Statement
  rollback: Statement
  aside: boolean
}

/** The error of SQLite that a process ends with. */
export type Failure = Pick<SQLiteError, 'code' | 'message'>

type FoldParts = {
  /** Opens the file and the index of the log, for a database that is open. */
  backfill: () => Backfill
  /** Opens one more connection. */
  connect: () => Sqlite
  failed: (cause: unknown) => void
  /** Ends the process: only another one can trust the disk. */
  end: (cause: Failure) => void
}

/**
 * Folds the log of a database into its file (a checkpoint), while commits go on:
 *
 *   copy the newest part of the log into the file, sync the file in another thread, tell SQLite that this part is stored
 *
 * - SQLite itself copies, and takes the copy for stored before the file is synced. If the disk loses it then, and the kernel drops the
 *   pages, an operation reads the row of before, and spends a voucher again. Therefore SQLite is told at once that nothing
 *   was copied. All is read from the log until the sync has ended, and the log does not begin anew.
 * - Writers are locked out meanwhile, those of other programs, too.
 * - A copy that ends before the newest frame, since somebody reads an old state, is as good.
 * - After a failed sync all is in the log, and is copied again later.
 * - When half of its bound is in the log, it is folded to the end: the commit before which little is left to copy waits for the
 *   sync, and then begins the log anew. At its bound, each commit waits.
 */
export class Fold {
  readonly #parts: FoldParts
  #backfill: Backfill | null = null
  /** Copies without a sync. */
  #copier: {
    connection: Sqlite
    copy: Statement<LogState, []>
    log: Statement<LogState, []>
  } | null = null
  /** Frames of a log that are on disk in the file. */
  #stored = { salts: 0n, frames: 0 }
  #storing: Promise<void> | null = null
  /** Frames in the log, when it was looked at, and after the last copy. */
  #seen = 0
  #copied = 0
  /** Frames in the log up to which nothing is copied: not every commit tries again what cannot be done now. */
  #notBefore = 0
  /** The writing connection of the last copy, and its number of the last commit of others. */
  #others: { connection: Sqlite; version: number } | null = null

  constructor(parts: FoldParts) {
    this.#parts = parts
  }

  /**
   * Fold the log if it is long. Call it before a commit, when all of the log is on disk and nothing is pinned. The commit has to
   * wait for the promise. Each end makes the disk waited for twice, so that on a slow one (`aside`) the log is longer.
   */
  ifLong(writer: Folded): Promise<void> | null {
    try {
      return this.#ifLong(writer)
    } catch (cause) {
      this.#fail(writer, cause)
      return null
    }
  }

  #ifLong(writer: Folded): Promise<void> | null {
    const frames = writer.log.get()?.log ?? 0
    // It has begun anew.
    if (frames < this.#seen) this.#copied = this.#notBefore = 0
    this.#seen = frames
    const most = boundOf(writer)
    if (this.#storing !== null) return frames < most ? null : this.#toTheEnd(writer)
    const ends = frames >= most * limits.foldEnds
    const grown = frames - this.#copied >= most * limits.foldStep
    if (frames < this.#notBefore || !(ends || grown)) return null
    const copied = this.#copy(writer)
    const soon = frames >= most || copied <= most * limits.foldWait
    return ends && copied > 0 && soon ? this.#toTheEnd(writer) : null
  }

  /** Copy and store what is left, so that the next write begins the log anew. Nobody writes meanwhile but other programs. */
  async #toTheEnd(writer: Folded): Promise<void> {
    try {
      await this.#storing
      if (this.#seen >= this.#notBefore && this.#copy(writer) > 0) {
        await this.#storing
        this.#copy(writer)
      }
    } catch (cause) {
      this.#fail(writer, cause)
    }
  }

  /** Tell SQLite of what is stored, copy what is not, and begin to store that. Returns how many frames these are. */
  #copy(writer: Folded): number {
    const backfill = this.#openBackfill()
    const { copy, log } = this.#openCopier()
    writer.begin.run()
    try {
      const salts = backfill.salts()
      const stored = this.#stored.salts === salts ? this.#stored.frames : 0
      backfill.tell(stored)
      if (stored === log.get()?.log) return 0
      this.#storeLogOfOthers(writer, backfill)
      const copied = copy.get()?.checkpointed ?? 0
      try {
        backfill.tell(stored)
      } finally {
        if (log.get()?.checkpointed !== stored) this.#storeNow(backfill)
      }
      this.#copied = copied
      if (copied > stored) this.#store(writer, { salts, frames: copied })
      else this.#notBefore = this.#seen + boundOf(writer) * limits.foldStep
      return Math.max(0, copied - stored)
    } finally {
      writer.rollback.run()
    }
  }

  /** Another program may commit without a sync, and its commit must not be in the file alone after a power cut. */
  #storeLogOfOthers({ connection }: Folded, backfill: Backfill): void {
    const row = connection.query<{ data_version: number }, []>('PRAGMA data_version').get()
    const version = row?.data_version ?? 0
    const same = this.#others?.connection === connection && this.#others.version === version
    if (!same) backfill.storeLog()
    this.#others = { connection, version }
  }

  #store(writer: Folded, stored: { salts: bigint; frames: number }): void {
    this.#storing = this.#openBackfill()
      .store()
      .then(
        () => {
          this.#stored = stored
        },
        (cause) => this.#fail(writer, cause),
      )
      .finally(() => {
        this.#storing = null
      })
  }

  /** SQLite does not see what it is told here: there are file systems whose maps of a file differ from the file. */
  #storeNow(backfill: Backfill): void {
    try {
      backfill.storeHere()
    } catch (cause) {
      this.#parts.end(diskFailure(cause) ?? { code: 'none', message: String(cause) })
      throw cause
    }
  }

  #fail(writer: Folded, cause: unknown): void {
    this.#notBefore = this.#seen + boundOf(writer)
    this.#parts.failed(cause)
  }

  /** Fold all of the log, and cut it. Throws SQLiteError if it cannot be folded now: the log keeps all. */
  all(connection: Sqlite): void {
    const state = stateOfLog(connection).get()
    // The part of another program may not be on disk.
    if (state && state.checkpointed > 0 && state.checkpointed < state.log)
      this.#takeBack(connection)
    connection.run('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  #takeBack(connection: Sqlite): void {
    connection.run('BEGIN IMMEDIATE')
    try {
      this.#openBackfill().tell(0)
    } finally {
      connection.run('ROLLBACK')
    }
  }

  /** Close the connection for copies. */
  close(): void {
    this.#copier?.connection.close()
    this.#copier = null
  }

  #openBackfill(): Backfill {
    this.#backfill ??= this.#parts.backfill()
    return this.#backfill
  }

  #openCopier() {
    if (this.#copier) return this.#copier
    const connection = this.#parts.connect()
    connection.run('PRAGMA synchronous = OFF')
    const copy = connection.query<LogState, []>('PRAGMA wal_checkpoint(PASSIVE)')
    this.#copier = { connection, copy, log: stateOfLog(connection) }
    return this.#copier
  }
}

function boundOf({ aside }: Folded): number {
  return aside ? limits.slowLogFramesMax : limits.logFramesMax
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
