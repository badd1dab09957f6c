import type { SQLiteError, Database as Sqlite, Statement } from 'bun:sqlite'
import { writeSync } from 'node:fs'
import { limits } from '../base/limits.ts'
import type { Backfill } from './backfill.ts'
import { diskFailure } from './disk-error.ts'

/** Frames in the log, and those of them that SQLite takes for stored in the file. */
type LogState = { log: number; checkpointed: number }

/** A writing connection: the state of its log, and whether its commits are synced in another thread (slow-disk.ts). */
type Folded = { log: Statement<LogState, []>; connection: Sqlite; aside: boolean }

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

/** Opened when a log is folded for the first time. */
type Opened = {
  backfill: Backfill
  /** Pins a frame, or locks writers out. It waits for nobody. */
  holder: Sqlite
  copier: Sqlite
  copy: Statement<LogState, []>
  log: Statement<LogState, []>
}

/** A copy whose sync runs in another thread. No commit waits any more for one that is late. */
type Storing = { ended: Promise<void>; late: boolean }

/**
 * Folds the log of a database into its file (a checkpoint), while commits go on:
 *
 *   pin the newest frame; a commit; copy up to the pin into the file; sync the file in another thread
 *
 * - SQLite copies, and takes the copy for stored before the file is synced. If the disk loses it then, and the kernel drops the
 *   pages, an operation reads the row of before, and spends a voucher again. So SQLite is told at once that nothing was
 *   copied, and all is read from the log.
 * - A copy ends before the newest frame: where SQLite takes all of a log for stored, any writer may begin it anew.
 * - When little of a long log is left, SQLite is told what is stored, and copies and syncs the rest by itself. The next write
 *   begins the log anew.
 * - When the log has its bound, each commit waits for the sync that runs, but not for long: then the log grows on.
 * - After a sync that failed all is in the log, and is copied again later.
 */
export class Fold {
  readonly #parts: FoldParts
  #opened: Opened | null = null
  /** Frames of a log that are on disk in the file. */
  #stored = { salts: 0n, frames: 0 }
  #storing: Storing | null = null
  /** Frames in the log when it was looked at, and those that were copied. */
  #seen = 0
  #copied = 0
  /** True from a copy on that was begun to fold the log to its end. */
  #ending = false
  /** Frames in the log up to which nothing is copied: not every commit tries again what cannot be done now. */
  #notBefore = 0
  /** The writing connection of the last copy, and its number of the last commit of others. */
  #others: { connection: Sqlite; version: number } | null = null

  constructor(parts: FoldParts) {
    this.#parts = parts
  }

  /**
   * Fold the log if it is long. Call it before a commit, when all of the log is on disk. The commit has to wait for the
   * promise. On a slow disk (`aside`) the log is longer, since this thread waits for the end of each.
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
    const frames = writer.log.get()?.log ?? -1
    // SQLite does not tell it now.
    if (frames < 0) return null
    // It has begun anew.
    if (frames < this.#seen) {
      this.#copied = this.#notBefore = 0
      this.#ending = false
    }
    this.#seen = frames
    const most = boundOf(writer)
    const storing = this.#storing
    if (storing) return frames < most || storing.late ? null : this.#wait(writer, storing)
    const rest = frames - this.#copied
    if (rest === 0 || frames < this.#notBefore) return null
    const [step, ends] = [most * limits.foldStep, most * limits.foldEnds]
    const short = rest <= limits.foldRest || (frames >= most && this.#ending)
    if (frames >= ends && short) this.#end(writer)
    else if (rest >= step || frames >= ends) this.#begin(writer, frames >= ends)
    return null
  }

  /**
   * Wait for a sync. The other threads may be busy, or the disk does not answer: after a while commits go on. Another sync in
   * its place would prove nothing, since the failure of the late one may be told to itself alone.
   */
  async #wait(writer: Folded, storing: Storing): Promise<void> {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      storing.late = true
      // Much may be left to copy when it ends.
      this.#ending = false
      late.resolve()
    }, limits.asidePatienceMs)
    await Promise.race([storing.ended, late.promise])
    clearTimeout(timer)
    await this.ifLong(writer)
  }

  /** Pin the newest frame, and copy up to it when this turn of the event loop has made its commit. */
  #begin(writer: Folded, ending: boolean): void {
    const { holder, log } = this.#open()
    if (holder.inTransaction) return
    holder.run('BEGIN')
    // A transaction has its state from its first read on.
    holder.query('SELECT 1 FROM sqlite_schema LIMIT 1').get()
    const pinned = log.get()?.log ?? 0
    setImmediate(() => {
      if (this.#opened?.holder !== holder) return
      try {
        this.#copyTo(writer, pinned, ending)
        release(holder)
      } catch (cause) {
        this.#fail(writer, cause)
      }
    })
  }

  #copyTo(writer: Folded, pinned: number, ending: boolean): void {
    const { backfill, copier, copy, log } = this.#open()
    // The pin reads the log, so that it cannot begin anew. Where it reads the file alone, nothing can be copied.
    const salts = backfill.salts()
    const state = log.get()
    if (!state || state.log <= pinned) return
    const stored = this.#tell(salts)
    this.#storeLogOfOthers(writer, backfill)
    copier.run('PRAGMA synchronous = OFF')
    let copied = 0
    try {
      try {
        copied = copy.get()?.checkpointed ?? 0
      } finally {
        backfill.tell(0)
      }
    } finally {
      if (log.get()?.checkpointed !== 0) this.#storeNow(backfill)
      copier.run('PRAGMA synchronous = FULL')
    }
    if (copied > stored && copied < state.log) {
      this.#ending = ending
      this.#store(writer, { salts, frames: copied })
    } else this.#putOff(writer)
  }

  /** Somebody reads an old state. */
  #putOff(writer: Folded): void {
    this.#notBefore = this.#seen + boundOf(writer) * limits.foldStep
    this.#ending = false
  }

  /** Tell SQLite what is stored of this log. Returns the frames that it takes for stored. */
  #tell(salts: bigint): number {
    const { backfill, log } = this.#open()
    const frames = this.#stored.salts === salts ? this.#stored.frames : 0
    backfill.tell(0)
    backfill.tell(frames)
    const told = log.get()?.checkpointed
    if (told === frames) return frames
    // Another program copies right now. Or SQLite does not see it.
    backfill.tell(0)
    return 0
  }

  /** Another program may commit without a sync, and its commit must not be in the file alone after a power cut. */
  #storeLogOfOthers({ connection }: Folded, backfill: Backfill): void {
    const row = connection.query<{ data_version: number }, []>('PRAGMA data_version').get()
    const version = row?.data_version ?? 0
    const same = this.#others?.connection === connection && this.#others.version === version
    if (!same) backfill.storeLog()
    this.#others = { connection, version }
  }

  #store(writer: Folded, copied: { salts: bigint; frames: number }): void {
    this.#copied = copied.frames
    const ended = this.#open()
      .backfill.store()
      .then(
        () => {
          this.#storing = null
          this.#stored = copied
        },
        (cause) => {
          this.#storing = null
          this.#fail(writer, cause)
        },
      )
    this.#storing = { ended, late: false }
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

  /** Copy and sync the rest of the log, so that the next write begins it anew. */
  #end(writer: Folded): void {
    const { backfill, holder, copy, log } = this.#open()
    if (!lockedOut(holder)) return
    const salts = backfill.salts()
    this.#tell(salts)
    copy.get()
    const { log: frames = 0, checkpointed = 0 } = log.get() ?? {}
    if (frames > 0 && checkpointed === frames) {
      this.#stored = { salts, frames }
      this.#copied = frames
    } else {
      // SQLite has synced nothing.
      backfill.tell(0)
      this.#putOff(writer)
    }
    release(holder)
  }

  /** Nothing that was copied is trusted any more, and the connections are opened again, which ends pins and locks. */
  #fail(writer: Folded, cause: unknown): void {
    this.#notBefore = this.#seen + boundOf(writer)
    this.#copied = 0
    this.#ending = false
    this.#stored = { salts: 0n, frames: 0 }
    this.#parts.failed(cause)
    for (const step of [() => this.#opened?.backfill.tell(0), () => this.close()]) {
      try {
        step()
      } catch (failed) {
        this.#parts.failed(failed)
      }
    }
  }

  /** Fold all of the log, and cut it. If it cannot be folded now, beside a reader, the log keeps all. */
  all(connection: Sqlite): void {
    const state = stateOfLog(connection).get()
    // The part of another program may not be on disk.
    if (state && state.checkpointed > 0 && state.checkpointed < state.log) this.#takeBack()
    this.close()
    const done = connection.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get()
    // A part of it was copied, and not synced.
    if (done?.busy === 1) this.#takeBack()
  }

  #takeBack(): void {
    try {
      const backfill = this.#opened?.backfill ?? this.#parts.backfill()
      backfill.tell(0)
    } catch (cause) {
      // A process closes its connections as it ends, and the last one would trust that part.
      this.#parts.end(diskFailure(cause) ?? { code: 'none', message: String(cause) })
      throw cause
    }
  }

  /** Close its connections. */
  close(): void {
    const opened = this.#opened
    this.#opened = null
    try {
      opened?.copier.close()
    } finally {
      opened?.holder.close()
    }
  }

  #open(): Opened {
    if (this.#opened) return this.#opened
    const { connect, backfill } = this.#parts
    const connections: Sqlite[] = []
    try {
      const opened = backfill()
      const [holder, copier] = [connect(), connect()]
      connections.push(holder, copier)
      holder.run('PRAGMA busy_timeout = 0')
      const copy = copier.query<LogState, []>('PRAGMA wal_checkpoint(PASSIVE)')
      this.#opened = { backfill: opened, holder, copier, copy, log: stateOfLog(copier) }
      return this.#opened
    } catch (cause) {
      for (const connection of connections) connection.close()
      throw cause
    }
  }
}

/** Lock writers out, those of other programs, too. False if one of these writes now. */
function lockedOut(holder: Sqlite): boolean {
  if (holder.inTransaction) return false
  try {
    holder.run('BEGIN IMMEDIATE')
    return true
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'SQLITE_BUSY') return false
    throw cause
  }
}

function release(holder: Sqlite): void {
  if (holder.inTransaction) holder.run('ROLLBACK')
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
