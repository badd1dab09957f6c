import { SQLiteError, type Database as Sqlite, type Statement } from 'bun:sqlite'
import { limits } from '../base/limits.ts'
import { Refusal } from '../base/refusal.ts'
import { Batch } from './batch.ts'
import { createSql } from './connection.ts'
import type { AfterCommit, BeforeCommit, First, Locking, Operation } from './database.ts'
import { stateOfLog } from './fold.ts'
import type { Listeners, Topic } from './news.ts'
import type { Sql } from './sql.ts'

/** An operation that waits for its commit. */
export type Job<Tx> = {
  operation: Operation<Tx, unknown>
  first: First<Tx> | undefined
  resolve: (value: never) => void
  reject: (cause: unknown) => void
  outcome?: { value: unknown } | { refused: unknown }
  effects: (() => void)[]
}

/** The writing connection. */
export type Writer<Tx> = {
  connection: Sqlite
  tx: Tx & AfterCommit & BeforeCommit & Locking
  batch: Batch
  /** The effects of the running operation. */
  effects: (() => void)[]
  /** Commits from now in which each operation has a savepoint. */
  careful: number
  /** Its commits only write, and are synced later (slow-disk.ts). */
  aside: boolean
  begin: Statement
  commit: Statement
  rollback: Statement
  /** Set, release and roll back to the savepoint of an operation. */
  set: Statement
  release: Statement
  undo: Statement
  /** The state of the log. */
  log: ReturnType<typeof stateOfLog>
}

const nothing = Promise.resolve()

export function createWriter<Tx>(
  connection: Sqlite,
  stores: (sql: Sql) => Tx,
  listeners: Listeners,
): Writer<Tx> {
  // The connection itself remembers no more than twenty statements.
  const counts = new Map<string, Statement>()
  const batch = new Batch((text, params) => {
    const known = counts.get(text) ?? connection.query(text)
    counts.set(text, known)
    known.run(...params)
  })
  const writer = {
    connection,
    batch,
    tx: {
      ...stores(createSql(connection, 'at once', batch)),
      afterCommit: (effect: () => void) => void writer.effects.push(effect),
      beforeCommit: (step: () => void) => batch.putLate(step),
      tell: <Body>(topic: Topic<Body>, body: Body) =>
        void writer.effects.push(() => listeners.tell(topic, body)),
      lock: () => nothing,
    },
    effects: [] as (() => void)[],
    careful: 0,
    aside: false,
    begin: connection.query('BEGIN IMMEDIATE'),
    commit: connection.query('COMMIT'),
    rollback: connection.query('ROLLBACK'),
    set: connection.query('SAVEPOINT operation'),
    release: connection.query('RELEASE operation'),
    undo: connection.query('ROLLBACK TO operation'),
    log: stateOfLog(connection),
  }
  return writer
}

/**
 * Begin a transaction and run operations in it, so that each refusal undoes its own writes only. A savepoint costs as
 * much as most operations, and few refuse after their first write. So the operations run without savepoints, and all
 * of them again with savepoints if one does. `ran` is called after each operation.
 */
export async function runJobs<Tx>(
  writer: Writer<Tx>,
  jobs: readonly Job<Tx>[],
  ran: () => void,
): Promise<void> {
  const { begin, rollback, batch } = writer
  batch.clear()
  begin.run()
  if (writer.careful === 0) {
    if (await runFreely(writer, jobs, ran)) return
    rollback.run()
    batch.clear()
    begin.run()
    writer.careful = limits.carefulCommits
  }
  writer.careful--
  for (const job of jobs) {
    await runInSavepoint(writer, job)
    ran()
  }
}

/** False if an operation was refused after its first write or step, or a step failed: the transaction has to be undone. */
async function runFreely<Tx>(
  writer: Writer<Tx>,
  jobs: readonly Job<Tx>[],
  ran: () => void,
): Promise<boolean> {
  const { tx, batch } = writer
  for (const job of jobs) {
    if (await runFirst(writer, job)) {
      const kept = job.effects.length
      const before = batch.traces
      try {
        job.outcome = { value: await job.operation(tx) }
      } catch (refused) {
        // A failure of the file concerns the whole batch.
        if (isSqliteFailure(refused)) throw refused
        if (batch.broken || batch.traces !== before) return false
        job.effects.length = kept
        job.outcome = { refused }
      }
    }
    if (batch.broken) return false
    ran()
  }
  try {
    batch.runLate()
    batch.write()
    return true
  } catch (cause) {
    // A step that fails, or a counter that its row refuses. With savepoints it refuses its own operation, and no other.
    if (isSqliteFailure(cause)) throw cause
    return false
  }
}

async function runInSavepoint<Tx>(writer: Writer<Tx>, job: Job<Tx>): Promise<void> {
  const { tx, batch, set, release, undo } = writer
  job.effects.length = 0
  if (!(await runFirst(writer, job))) return batch.write()
  batch.write()
  const kept = job.effects.length
  set.run()
  try {
    job.outcome = { value: await job.operation(tx) }
    batch.runLate()
    if (batch.broken) throw batch.broken.cause
    batch.write()
    release.run()
  } catch (refused) {
    if (isSqliteFailure(refused)) throw refused
    undo.run()
    release.run()
    batch.clear()
    job.effects.length = kept
    job.outcome = { refused }
  }
}

/** Run the part of an operation whose writes stay. False if it refused. */
async function runFirst<Tx>(writer: Writer<Tx>, job: Job<Tx>): Promise<boolean> {
  writer.effects = job.effects
  try {
    if (job.first) await job.first(writer.tx)
    return true
  } catch (refused) {
    if (!(refused instanceof Refusal)) throw refused
    job.outcome = { refused }
    return false
  }
}

/** True for a failure of the file or the disk, false for a violated constraint. */
export function isSqliteFailure(cause: unknown): boolean {
  return cause instanceof SQLiteError && !cause.code?.startsWith('SQLITE_CONSTRAINT')
}
