import type { Database as Sqlite } from 'bun:sqlite'
import { limits } from '../base/limits.ts'
import type { Wal } from './wal.ts'

/** The part of the reader that keeps a state. */
type Pinned = { pin(): void; unpin(): void }

/** A writing connection, and whether its commits leave the sync of the log to `Wal`. */
type Committing = { connection: Sqlite; aside: boolean }

type Parts = {
  wal: Wal
  reader: Pinned
  /** A monotonic clock. */
  steadyMs(): number
  /** A checkpoint failed. The log keeps what it has, and a later one takes it. */
  failed(cause: unknown): void
}

/**
 * Commits on a slow disk. Elsewhere COMMIT itself waits for the disk (`synchronous = FULL`), and nobody is answered
 * meanwhile. Here it writes to the log and returns (`NORMAL`), and the log is synced in another thread:
 *
 *   pin the reader, BEGIN, operations, COMMIT, sync the log elsewhere, unpin, answers, a checkpoint if it is time
 *
 * - The next commit begins when the log is synced, so that all it reads is on disk.
 * - Until then reads see the state before the commit. The pin is a transaction that has read. It also keeps
 *   every checkpoint, of any connection, in front of what is not on disk.
 * - When the sync failed the pin stays. The kernel may have dropped the pages and call them clean, so that a second
 *   sync would succeed and store nothing. Therefore the same bytes are written again, and synced, before the next
 *   operation runs. Until this succeeds, operations are refused, and nobody makes a checkpoint. A write that was
 *   refused so is in the log: it stands as soon as the log is on disk, also at the next start.
 * - SQLite itself syncs the log and the file in a checkpoint, the header when the log begins anew, and the directory
 *   at the first commit of a connection. The first commit, which marks the file as in use, and the last are FULL.
 */
export class SlowDisk {
  readonly #parts: Parts
  /** True from the begin of a commit until it is on disk. */
  #pinned = false
  #unsynced = false
  /** Rows that the connection had changed before the transaction. */
  #changes = 0
  /** Frames in the log from which on a checkpoint is due. */
  #due: number = limits.logFrames

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** True while a commit is not on disk, and not undone. */
  get pinned(): boolean {
    return this.#pinned
  }

  /** True while a commit is in the log that is not known to be on disk: its sync runs, or has failed. */
  get unsynced(): boolean {
    return this.#unsynced
  }

  /** Call before a transaction. `aside`: its commit is synced by `sync`. */
  begin(writer: Committing, aside: boolean): void {
    if (writer.aside) this.#checkpoint(writer)
    if (writer.aside !== aside) {
      const level = aside ? 'NORMAL' : 'FULL'
      // The automatic checkpoint would run while the reader is pinned, and could never end.
      const pages = aside ? 0 : limits.logFrames
      writer.connection.run(`PRAGMA synchronous = ${level}`)
      writer.connection.run(`PRAGMA wal_autocheckpoint = ${pages}`)
      writer.aside = aside
    }
    if (!aside) return
    this.#changes = changesOf(writer.connection)
    this.#pinned = true
    this.#parts.reader.pin()
  }

  /** The transaction was undone. */
  undone(): void {
    if (!this.#unsynced) this.#unpin()
  }

  /**
   * Bring the commit to the disk. Returns the milliseconds that it took, or null if nothing was written. If it rejects,
   * the commit is in the log, and nobody sees it.
   */
  async sync({ connection }: Committing): Promise<number | null> {
    if (changesOf(connection) === this.#changes) {
      this.#unpin()
      return null
    }
    const { wal, steadyMs } = this.#parts
    this.#unsynced = true
    const asked = steadyMs()
    await wal.sync()
    this.#unsynced = false
    this.#unpin()
    return steadyMs() - asked
  }

  /** Bring the log to the disk whose sync failed. Rejects if that fails again. */
  async mend({ connection }: Committing): Promise<void> {
    this.#parts.wal.rewrite(framesOf(connection))
    await this.#parts.wal.sync()
    this.#unsynced = false
    this.#unpin()
  }

  /** Fold the log into the file if it is long. Nothing is pinned, so that it can begin anew. */
  #checkpoint({ connection }: Committing): void {
    const frames = framesOf(connection)
    if (frames < limits.logFrames) this.#due = limits.logFrames
    if (frames < this.#due) return
    // While another connection reads an old state, the log grows. It is tried again later.
    this.#due = frames + limits.logFrames
    try {
      connection.run('PRAGMA wal_checkpoint(PASSIVE)')
    } catch (cause) {
      this.#parts.failed(cause)
    }
  }

  #unpin(): void {
    this.#pinned = false
    this.#parts.reader.unpin()
  }
}

/** The number of frames in the log. */
export function framesOf(connection: Sqlite): number {
  const row = connection.query<{ log: number }, []>('PRAGMA wal_checkpoint(NOOP)').get()
  return row?.log ?? 0
}

/** Rows that a connection has changed, the undone changes included. */
function changesOf(connection: Sqlite): number {
  const row = connection.query<{ rows: number }, []>('SELECT total_changes() AS rows').get()
  return row?.rows ?? 0
}
