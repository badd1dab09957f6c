import type { Database as Sqlite } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { syncDirectory } from '../base/durable.ts'
import { limits } from '../base/limits.ts'
import { nextTurn } from '../base/next-turn.ts'
import { Refusal } from '../base/refusal.ts'
import { type Backfill, openBackfill } from './backfill.ts'
import { Connection, requireVersion, setUp } from './connection.ts'
import type { Lease, OpenDatabase, Operation, Plan } from './database.ts'
import { diskFailure } from './disk-error.ts'
import { endProcess, type Failure, Fold } from './fold.ts'
import { migrate, type Schema } from './migrations.ts'
import { Listeners, type NewsListener, type Topic } from './news.ts'
import { Reader, StalledOperation } from './reader.ts'
import { SlowDisk } from './slow-disk.ts'
import type { Sql } from './sql.ts'
import { type EngineTime, SyncTimes, systemTime } from './sync-times.ts'
import { BrokenLog, type Wal } from './wal.ts'
import { createWriter, isSqliteFailure, type Job, runJobs, type Writer } from './writer.ts'

/** Events of the engine for the metrics. */
type EngineEvents = {
  committed(operations: number, seconds: number): void
  failed(cause: unknown, operations: number): void
}

export type SqliteOptions<Tx> = {
  path: string
  schema: Schema
  now: Clock
  /** Build the stores of a connection. Called again for each connection that the engine opens. */
  stores: (sql: Sql) => Tx
  events?: EngineEvents
  /** Opens a connection to the path. A simulation has disks of its own. */
  connect?: (path: string) => Sqlite
  /** Opens the log of the database, so that another thread waits for a slow disk. Without it COMMIT always does. */
  wal?: (path: string) => Wal | null
  /** Opens the file and the index of the log. */
  backfill?: (path: string) => Backfill
  time?: EngineTime
  /** Ends the process: this disk can only be used by another one. */
  end?: (cause: Failure) => void
}

const nothing = Promise.resolve()

/**
 * The embedded engine: one writer with group commit, one connection for reads.
 * Operations that arrive while a commit runs share the next one. A refusal undoes its own writes only (`writer.ts`).
 */
export class SqliteEngine<Tx> implements OpenDatabase<Tx> {
  readonly #options: SqliteOptions<Tx>
  readonly #connect: (path: string) => Sqlite
  #writer: Writer<Tx> | null = null
  readonly #reader: Reader<Tx>
  #queue: Job<Tx>[] = []
  /** Operations that write many rows. A commit takes one of them, so that small operations do not wait for all. */
  #heavy: Job<Tx>[] = []
  #flushing = false
  #closed = false
  readonly #time: EngineTime
  readonly #syncs: SyncTimes
  /** Operations that were under way when the last commit was answered: its own, and those that waited. */
  #underWay = 0
  /** Begins the commit that waits for more operations. */
  #gathered: (() => void) | null = null
  #newestWrite = 0
  #newestStored = 0
  /** True if the last process closed the file properly. */
  readonly cleanStart: boolean
  readonly upkeep = []
  readonly away = false
  readonly nodes = null
  readonly buckets = null
  readonly #listeners = new Listeners()
  readonly #end: (cause: Failure) => void
  readonly #fold: Fold
  readonly #wal: Wal | null
  readonly #slowDisk: SlowDisk | null
  /** Operations that were refused because their commit could not be synced. It may stand nevertheless. */
  #unsettled: Job<Tx>[] = []
  #sound: boolean

  constructor(options: SqliteOptions<Tx>) {
    this.#options = options
    this.#connect = options.connect ?? openConnection
    this.#time = options.time ?? systemTime
    this.#syncs = new SyncTimes(this.#time)
    this.#end = options.end ?? endProcess
    const { path, events, backfill = openBackfill } = options
    this.#fold = new Fold({
      backfill: () => backfill(path),
      connect: () => this.#connect(path),
      failed: (cause) => this.#do(() => events?.failed(cause, 0)),
      end: this.#end,
    })
    requireVersion()
    const connection = this.#connect(options.path)
    migrate(connection, options.schema)
    const state = connection
      .query<{ clean: number; newest_write: number }, []>(
        'SELECT clean, newest_write FROM state WHERE id = 1',
      )
      .get()
    this.cleanStart = this.#sound = state?.clean === 1
    this.#newestWrite = this.#newestStored = state?.newest_write ?? 0
    connection.run('UPDATE state SET clean = 0 WHERE id = 1')
    // SQLite makes the log, and goes on if the sync of its name fails.
    if (existsSync(`${options.path}-wal`)) syncDirectory(dirname(options.path))
    this.#writer = createWriter(connection, options.stores, this.#listeners)
    this.#reader = new Reader(this.#connect(options.path), options.stores)
    this.#wal = options.wal?.(options.path) ?? null
    this.#slowDisk = this.#wal && new SlowDisk(this.#wal, this.#reader, this.#time)
  }

  /** True while the clock is behind the newest write. Writes are refused then. */
  get clockBehind(): boolean {
    return this.#options.now() < this.#newestWrite - limits.clockBackSeconds
  }

  /** Record the result of a full check for the next start. */
  checked(problems: number): void {
    this.#sound = problems === 0
  }

  /** Operations run one after the other, so roots need no locks. */
  transact<T>({ first, rows = 1 }: Plan<Tx>, operation: Operation<Tx, T>): Promise<T> {
    if (this.#closed) return Promise.reject(new Refusal('shutting-down', { retryAfter: 5 }))
    const resting = this.#slowDisk?.refusal
    if (resting) return Promise.reject(resting)
    const lane = rows > limits.lightRowsMax ? this.#heavy : this.#queue
    const most = lane === this.#heavy ? limits.heavyQueueMax : limits.queueMax
    if (lane.length >= most) {
      return Promise.reject(new Refusal('overloaded', { retryAfter: 1 }))
    }
    return new Promise<T>((resolve, reject) => {
      lane.push({ operation, first, resolve, reject, effects: [] })
      this.#schedule()
      if (this.#waiting >= Math.min(this.#underWay, limits.batchMax)) this.#gathered?.()
    })
  }

  snapshot<T>(query: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#reader.snapshot(query)
  }

  look<T>(query: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#reader.look(query)
  }

  /** The lock of the data directory keeps other nodes out, so nobody else can hold a lease. */
  async lease(_name: string): Promise<Lease> {
    let held = true
    return {
      held: () => held,
      async release() {
        held = false
      },
    }
  }

  /** There is no other node. */
  listen<Body>(topic: Topic<Body>, listener: NewsListener<Body>): void {
    this.#listeners.listen(topic, listener)
  }

  async tell<Body>(topic: Topic<Body>, body: Body): Promise<void> {
    this.#listeners.tell(topic, body)
  }

  requireNews(): Promise<void> {
    return nothing
  }

  async settled(): Promise<void> {
    if (this.#slowDisk?.pinned) await this.transact({ roots: 'none' }, () => nothing)
  }

  /** Finish the waiting operations, fold the WAL into the file, mark it clean if it is, and close it. */
  async close(): Promise<void> {
    this.#closed = true
    while (this.#flushing) await nextTurn()
    try {
      if (this.#slowDisk?.unsynced) await this.#mend(this.#slowDisk)
    } catch (cause) {
      // A process closes its connections as it ends, and the last one folds the log, which may have lost pages.
      return this.#end(diskFailure(cause) ?? { code: 'none', message: String(cause) })
    }
    this.#wal?.close()
    this.#reader.close()
    try {
      this.#settleFile(this.#writer?.connection ?? this.#connect(this.#options.path))
    } catch (cause) {
      // The disk is full or broken. Answered writes are in the WAL, and the next start checks the file.
      if (!isSqliteFailure(cause)) throw cause
      this.#options.events?.failed(cause, 0)
    } finally {
      this.#fold.close()
      this.#writer?.connection.close()
      this.#writer = null
    }
  }

  #settleFile(connection: Sqlite): void {
    connection.run('PRAGMA synchronous = FULL')
    // After an unclean stop without a check the file stays unclean, so that the next start checks it.
    connection.run('UPDATE state SET clean = ?, newest_write = max(newest_write, ?) WHERE id = 1', [
      this.#sound ? 1 : 0,
      this.#newestWrite,
    ])
    // A check in another thread may still read. The WAL stays then, and the next start folds it.
    connection.run('PRAGMA busy_timeout = 1000')
    this.#fold.all(connection)
    connection.close()
  }

  #schedule(): void {
    if (this.#flushing) return
    this.#flushing = true
    let begun = false
    const begin = () => {
      if (begun) return
      begun = true
      this.#gathered = null
      // Looks have no reason to wait for a commit.
      this.#reader.behindLooks(() => void this.#flush())
    }
    // Operations that arrive in the pause share the next sync: the answers of the last one bring about most of them.
    if (this.#syncs.gather) {
      this.#gathered = () => setImmediate(begin)
      this.#time.after(limits.gatherMs, begin)
    } else setImmediate(begin)
  }

  get #waiting(): number {
    return this.#queue.length + this.#heavy.length
  }

  async #flush(): Promise<void> {
    const batch = [...this.#queue.splice(0, limits.batchMax), ...this.#heavy.splice(0, 1)]
    try {
      if (this.#slowDisk?.unsynced) await this.#mend(this.#slowDisk)
      // All of the log is on disk, and no reader is pinned.
      await this.#fold.ifLong(this.#openWriter())
    } catch (cause) {
      return this.#fail(batch, cause)
    }
    const started = performance.now()
    // Operations await only their transaction, so all of them end within this turn of the loop.
    const watch = { stalled: false }
    const timer = setImmediate(() => {
      watch.stalled = true
      this.#discard()
      this.#fail(batch, new StalledOperation('an operation awaited more than its transaction'))
    })
    try {
      await this.#commit(batch, watch)
    } catch (cause) {
      if (watch.stalled) return
      clearImmediate(timer)
      this.#discard()
      // Else the next measured sync would hear of this commit, which was undone.
      if (diskFailure(cause)?.code === 'SQLITE_IOERR_FSYNC') this.#wal?.forget()
      this.#fail(batch, cause)
      return
    }
    clearImmediate(timer)
    try {
      if (this.#slowDisk?.pinned) await this.#sync(this.#slowDisk)
    } catch (cause) {
      this.#unsettled = batch
      return this.#fail(batch, cause)
    }
    const seconds = (performance.now() - started) / 1000
    this.#do(() => this.#options.events?.committed(batch.length, seconds))
    this.#underWay = batch.length + this.#waiting
    this.#next()
    for (const job of batch) {
      for (const effect of job.effects) this.#do(effect)
      settle(job)
    }
  }

  /** Bring a commit to a slow disk. */
  async #sync(slowDisk: SlowDisk): Promise<void> {
    const began = this.#syncs.now()
    const way = await slowDisk.sync(this.#openWriter())
    if (way) this.#syncs.synced(way, began)
  }

  /** Bring a commit to the disk whose sync failed. */
  async #mend(slowDisk: SlowDisk): Promise<void> {
    try {
      await slowDisk.mend(this.#openWriter())
    } catch (cause) {
      // The next process reads what is on disk, which is all that was answered.
      if (cause instanceof BrokenLog) this.#end(cause)
      for (const job of [...this.#queue.splice(0), ...this.#heavy.splice(0)]) {
        job.reject(slowDisk.refusal)
      }
      throw cause
    }
    const effects = this.#unsettled.splice(0).flatMap((job) => job.effects)
    for (const effect of effects) this.#do(effect)
    // The kernel tells each descriptor of a failed sync: that of this connection would hear of it in a later commit.
    this.#discard()
  }

  #next(): void {
    this.#flushing = false
    if (this.#waiting > 0) this.#schedule()
  }

  #do(effect: () => void): void {
    try {
      effect()
    } catch (cause) {
      this.#options.events?.failed(cause, 0)
    }
  }

  #fail(batch: Job<Tx>[], cause: unknown): void {
    // A clock that is behind is a refusal, not a failure.
    if (!(cause instanceof Refusal)) this.#options.events?.failed(cause, batch.length)
    this.#next()
    for (const job of batch) job.reject(cause)
  }

  /** Run and commit the batch. If it throws, none of it is stored. */
  async #commit(batch: Job<Tx>[], watch: { stalled: boolean }): Promise<void> {
    const now = this.#options.now()
    if (this.clockBehind) throw new Refusal('clock-behind', { retryAfter: 30 })
    const writer = this.#openWriter()
    this.#slowDisk?.begin(writer, this.#syncs.next())
    await runJobs(writer, batch, () => {
      if (watch.stalled) throw new StalledOperation()
    })
    if (now >= this.#newestStored + limits.clockBackSeconds) {
      // After a failed commit `#newestStored` is unknown, and the clock may have gone back a little.
      writer.connection.run('UPDATE state SET newest_write = max(newest_write, ?) WHERE id = 1', [
        now,
      ])
      this.#newestStored = now
    }
    const asked = this.#syncs.now()
    writer.commit.run()
    if (!writer.aside && writer.batch.writes > 0) this.#syncs.synced('commit', asked)
    if (now > this.#newestWrite) this.#newestWrite = now
  }

  /**
   * Close the writing connection. The next commit opens a new one. After a failed write the state of the old
   * one is unknown, and a stray operation must not write through it.
   */
  #discard(): void {
    const connection = this.#writer?.connection
    this.#writer = null
    this.#newestStored = 0
    // Closing finalises every statement. With the last one SQLite rolls back.
    this.#do(() => connection?.close())
    this.#do(() => this.#slowDisk?.undone())
  }

  #openWriter(): Writer<Tx> {
    const { path, stores } = this.#options
    this.#writer ??= createWriter(this.#connect(path), stores, this.#listeners)
    return this.#writer
  }
}

function settle<Tx>(job: Job<Tx>): void {
  if (job.outcome && 'value' in job.outcome) job.resolve(job.outcome.value as never)
  else job.reject(job.outcome?.refused)
}

/** Open a connection with the settings that the promises of the port need. */
export function openConnection(path: string): Sqlite {
  const connection = new Connection(path, { create: true, readwrite: true, strict: true })
  setUp(connection, [
    'busy_timeout = 5000',
    'journal_mode = WAL',
    // FULL: a commit is on disk before it is answered. A burn lost at power failure would be a double spend.
    'synchronous = FULL',
    'foreign_keys = ON',
    'secure_delete = ON',
    'temp_store = MEMORY',
    // Of the file itself the system keeps what is often read.
    'cache_size = -2000',
    // The engine folds the WAL itself (`fold.ts`).
    'wal_autocheckpoint = 0',
    // The WAL grows during a long snapshot (check, backup). Afterwards it shrinks to this size.
    `journal_size_limit = ${limits.journalBytesMax}`,
  ])
  return connection
}
