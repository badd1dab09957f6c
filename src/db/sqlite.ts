import { Database as Sqlite } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { syncDirectory } from '../base/durable.ts'
import { limits } from '../base/limits.ts'
import { nextTurn } from '../base/next-turn.ts'
import { Refusal } from '../base/refusal.ts'
import { Connection, setUp } from './connection.ts'
import type { AfterCommit, Lease, Locking, OpenDatabase, Plan } from './database.ts'
import { type Failure, Fold } from './fold.ts'
import { migrate, type Schema } from './migrations.ts'
import { Listeners, type NewsListener, type Topic } from './news.ts'
import { Reader, StalledOperation } from './reader.ts'
import type { Sql } from './sql.ts'
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
  time?: EngineTime
  /** Ends the process: this disk can only be used by another one. */
  end?: (cause: Failure) => void
}

/** A monotonic clock in milliseconds, and a timer. */
type EngineTime = { steadyMs(): number; after(ms: number, call: () => void): unknown }

const systemTime: EngineTime = {
  steadyMs: () => performance.now(),
  after: (ms, call) => setTimeout(call, ms),
}

/** The oldest SQLite without known WAL corruption bugs that concern us. */
const sqliteVersionMin = [3, 51, 3] as const

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
  /** Milliseconds that the last two commits waited for the disk. One alone may have been held up by something else. */
  #synced: [number, number] = [0, 0]
  #newestWrite = 0
  #newestStored = 0
  /** True if the last process closed the file properly. */
  readonly cleanStart: boolean
  readonly upkeep = []
  readonly away = false
  readonly nodes = null
  readonly buckets = null
  readonly #listeners = new Listeners()
  readonly #fold: Fold
  #sound: boolean

  constructor(options: SqliteOptions<Tx>) {
    this.#options = options
    this.#connect = options.connect ?? openConnection
    this.#time = options.time ?? systemTime
    this.#fold = new Fold(options.end)
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
  transact<T>(
    { first, rows = 1 }: Plan<Tx>,
    operation: (tx: Tx & AfterCommit & Locking) => Promise<T>,
  ): Promise<T> {
    if (this.#closed) return Promise.reject(new Refusal('shutting-down', { retryAfter: 5 }))
    const lane = rows > limits.lightRowsMax ? this.#heavy : this.#queue
    const most = lane === this.#heavy ? limits.heavyQueueMax : limits.queueMax
    if (lane.length >= most) {
      return Promise.reject(new Refusal('overloaded', { retryAfter: 1 }))
    }
    return new Promise<T>((resolve, reject) => {
      lane.push({ operation, first, resolve, reject, effects: [] })
      this.#schedule()
    })
  }

  snapshot<T>(query: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#reader.snapshot(query)
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

  /** Finish the waiting operations, fold the WAL into the file, mark it clean if it is, and close it. */
  async close(): Promise<void> {
    this.#closed = true
    while (this.#flushing) await nextTurn()
    this.#reader.close()
    try {
      this.#settleFile(this.#writer?.connection ?? this.#connect(this.#options.path))
    } catch (cause) {
      // The disk is full or broken. Answered writes are in the WAL, and the next start checks the file.
      if (!isSqliteFailure(cause)) throw cause
      this.#options.events?.failed(cause, 0)
    } finally {
      this.#writer?.connection.close()
      this.#writer = null
    }
  }

  #settleFile(connection: Sqlite): void {
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
    const flush = () => void this.#flush()
    // Nobody is answered while a commit waits for a slow disk. In the pause before it reads are answered, and operations
    // arrive that share it.
    if (Math.min(...this.#synced) < limits.slowSyncMs) setImmediate(flush)
    else this.#time.after(limits.gatherMs, flush)
  }

  async #flush(): Promise<void> {
    const batch = [...this.#queue.splice(0, limits.batchMax), ...this.#heavy.splice(0, 1)]
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
      this.#fail(batch, cause)
      return
    }
    clearImmediate(timer)
    this.#next()
    for (const job of batch) {
      for (const effect of job.effects) this.#do(effect)
      settle(job)
    }
  }

  #next(): void {
    this.#flushing = false
    if (this.#queue.length > 0 || this.#heavy.length > 0) this.#schedule()
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
    const started = performance.now()
    this.#writer ??= this.#reopen()
    const writer = this.#writer
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
    const asked = this.#time.steadyMs()
    writer.commit.run()
    this.#synced = [this.#synced[1], this.#time.steadyMs() - asked]
    if (now > this.#newestWrite) this.#newestWrite = now
    // The commit is in the log, so it stands also if this fails.
    this.#do(() => this.#fold.ifLong(writer))
    this.#options.events?.committed(batch.length, (performance.now() - started) / 1000)
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
    connection?.close()
  }

  #reopen(): Writer<Tx> {
    const { path, stores } = this.#options
    return createWriter(this.#connect(path), stores, this.#listeners)
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
    'cache_size = -8000',
    // The engine folds the WAL itself (`fold.ts`).
    'wal_autocheckpoint = 0',
    // The WAL grows during a long snapshot (check, backup). Afterwards it shrinks to this size.
    `journal_size_limit = ${limits.journalBytesMax}`,
  ])
  return connection
}

function requireVersion(): void {
  const memory = new Sqlite(':memory:')
  const row = memory.query<{ version: string }, []>('SELECT sqlite_version() AS version').get()
  memory.close()
  const found = (row?.version ?? '0').split('.').map(Number)
  for (const [index, least] of sqliteVersionMin.entries()) {
    const part = found[index] ?? 0
    if (part > least) return
    if (part < least) {
      throw new Error(
        `SQLite ${row?.version} is too old: ${sqliteVersionMin.join('.')} or newer is needed`,
      )
    }
  }
}
