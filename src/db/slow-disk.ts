import type { Database as Sqlite } from 'bun:sqlite'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import type { EngineTime, Way } from './sync-times.ts'
import type { Wal } from './wal.ts'
import type { Writer } from './writer.ts'

/** The part of the reader that keeps a state. */
type Pinned = { pin(): void; unpin(): void }

type MendTime = Pick<EngineTime, 'after' | 'steadyMs'>

/** A writing connection, and whether its commits leave the sync of the log to `Wal`. */
type Committing = Pick<Writer<unknown>, 'connection' | 'aside' | 'log' | 'begin' | 'rollback'>

/**
 * Commits on a slow disk. Elsewhere COMMIT itself waits for the disk (`synchronous = FULL`), and nobody is answered
 * meanwhile. Here it writes to the log and returns (`NORMAL`), and the log is synced in another thread:
 *
 *   pin the reader, BEGIN, operations, COMMIT, sync the log elsewhere, unpin, answers
 *
 * - The next commit begins when the log is synced, so that all it reads is on disk.
 * - Until then reads see the state before the commit. The pin is a transaction that has read. It also keeps
 *   every checkpoint, of any connection, in front of what is not on disk.
 * - When the sync failed the pin stays. The kernel may have dropped the pages and call them clean, so that a second
 *   sync would succeed and store nothing. Therefore the same bytes are written again, and synced, before the next
 *   operation runs. Until this succeeds, operations are refused, and nobody makes a checkpoint. Between two tries is a
 *   pause: each writes all of the log in this thread. A write that was refused so is in the log: it stands as soon as
 *   the log is on disk, also at the next start.
 * - The file is synced when the log is folded (fold.ts), and SQLite itself syncs the header when the log begins anew. The
 *   first commit, which marks the file as in use, and the last are FULL.
 */
export class SlowDisk {
  readonly #wal: Wal
  readonly #reader: Pinned
  /** True from the begin of a commit until it is on disk. */
  #pinned = false
  #unsynced = false
  #way: Way = 'commit'
  /** Rows that the connection had changed before the transaction. */
  #changes = 0
  readonly #time: MendTime
  /** The end of the pause after a try to mend that failed, and why it did. */
  #rest: { until: number; cause: unknown } | null = null

  constructor(wal: Wal, reader: Pinned, time: MendTime) {
    this.#wal = wal
    this.#reader = reader
    this.#time = time
  }

  /** The refusal of every operation in the pause after a try to mend that failed. Null if there is none. */
  get refusal(): Refusal | null {
    if (this.#rest === null) return null
    const { until, cause } = this.#rest
    const seconds = Math.max(1, Math.ceil((until - this.#time.steadyMs()) / 1000))
    const refusal = new Refusal('unavailable', { retryAfter: seconds })
    refusal.cause = cause
    return refusal
  }

  /** True while a commit is not on disk, and not undone. */
  get pinned(): boolean {
    return this.#pinned
  }

  /** True while a commit is in the log that is not known to be on disk: its sync runs, or has failed. */
  get unsynced(): boolean {
    return this.#unsynced
  }

  /** Call before a transaction. Unless COMMIT waits for the disk, `sync` brings it there. */
  begin(writer: Committing, way: Way): void {
    this.#way = way
    const aside = way !== 'commit'
    if (writer.aside !== aside) {
      writer.connection.run(`PRAGMA synchronous = ${aside ? 'NORMAL' : 'FULL'}`)
      writer.aside = aside
    }
    if (!aside) return
    this.#changes = changesOf(writer.connection)
    this.#pinned = true
    this.#reader.pin()
  }

  /** The transaction was undone. */
  undone(): void {
    if (!this.#unsynced) this.#unpin()
  }

  /**
   * Bring the commit to the disk. Resolves to its way, or to null if it wrote nothing. If it rejects, the commit is in
   * the log, and nobody sees it.
   */
  async sync({ connection }: Committing): Promise<Way | null> {
    this.#unsynced = true
    const wrote = changesOf(connection) !== this.#changes
    if (wrote) await this.#wal.sync(this.#way === 'here')
    this.#unsynced = false
    this.#unpin()
    return wrote ? this.#way : null
  }

  /**
   * Bring the log to the disk whose sync failed. Rejects if that fails again, with BrokenLog if it can never succeed in
   * this process.
   */
  async mend(writer: Committing): Promise<void> {
    const began = this.#time.steadyMs()
    let busyMs = 0
    try {
      try {
        this.#rewrite(writer)
      } finally {
        busyMs = this.#time.steadyMs() - began
      }
      await this.#wal.sync(false)
    } catch (cause) {
      this.#pause(busyMs, cause)
      throw cause
    }
    this.#unsynced = false
    this.#unpin()
  }

  #rewrite({ log, begin, rollback }: Committing): void {
    // Each descriptor is told of a failure once. Nothing is trusted before all is written again.
    this.#wal.forget()
    const frames = log.get()?.log ?? -1
    // A write of another program in between would be lost.
    begin.run()
    try {
      this.#wal.rewrite(frames)
    } finally {
      rollback.run()
    }
  }

  /** `busyMs`: how long the try that failed kept this thread from reads. */
  #pause(busyMs: number, cause: unknown): void {
    const pauseMs = Math.max(limits.mendPauseMs, limits.mendPauseTimes * busyMs)
    this.#rest = { until: this.#time.steadyMs() + pauseMs, cause }
    this.#time.after(pauseMs, () => {
      this.#rest = null
    })
  }

  #unpin(): void {
    this.#pinned = false
    this.#reader.unpin()
  }
}

/** Rows that a connection has changed, the undone changes included. */
function changesOf(connection: Sqlite): number {
  const row = connection.query<{ rows: number }, []>('SELECT total_changes() AS rows').get()
  return row?.rows ?? 0
}
