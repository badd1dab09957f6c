import type { Database as Sqlite, Statement } from 'bun:sqlite'
import { limits } from '../base/limits.ts'
import { createSql, type Ran } from './connection.ts'
import type { Sql } from './sql.ts'

/** An operation or a snapshot awaited something else than its transaction. */
export class StalledOperation extends Error {}

/** A look that waits for the end of its turn. */
type Look<Tx> = {
  query: (tx: Tx) => Promise<unknown>
  resolve: (found: unknown) => void
  reject: (cause: unknown) => void
}

/**
 * The connection for reads. Overlapping snapshots share one transaction, and so do the looks of one turn of the event loop.
 * Each transaction ends within one turn, but for a pinned state.
 */
export class Reader<Tx> {
  readonly #connection: Sqlite
  readonly #tx: Tx
  readonly #begin: Statement
  readonly #end: Statement
  readonly #readOne: Statement
  readonly #ran: Ran = { statements: 0 }
  #running = 0
  #pinned = false
  #looks: Look<Tx>[] = []
  /** The call that waits for the end of a turn with looks. */
  #behind: (() => void) | null = null
  /** Looks that may still run at once, because none came beside the last one that waited. */
  #atOnce = 0

  constructor(connection: Sqlite, stores: (sql: Sql) => Tx) {
    connection.run('PRAGMA query_only = ON')
    this.#connection = connection
    // The writer has prepared the same statements. Once more, all at once, would slow down the start.
    this.#tx = stores(createSql(connection, 'later', null, this.#ran))
    this.#begin = connection.query('BEGIN')
    this.#end = connection.query('COMMIT')
    this.#readOne = connection.query('SELECT 1 FROM sqlite_schema LIMIT 1')
  }

  /** Keep the present state for all snapshots until `unpin`. */
  pin(): void {
    if (this.#running === 0) this.#begin.run()
    this.#pinned = true
    // A transaction has its state from its first read on.
    this.#readOne.get()
  }

  unpin(): void {
    if (!this.#pinned) return
    this.#pinned = false
    if (this.#running === 0 && this.#connection.inTransaction) this.#end.run()
  }

  async snapshot<T>(query: (tx: Tx) => Promise<T>): Promise<T> {
    // Counted when it has begun: after a failed BEGIN the next snapshot has to try again.
    const pinned = this.#pinned
    if (this.#running === 0 && !pinned) this.#begin.run()
    this.#running++
    const watch = { stalled: false }
    const timer = setImmediate(() => {
      watch.stalled = true
    })
    try {
      const result = await query(this.#tx)
      if (watch.stalled) throw new StalledOperation('a snapshot awaited more than its transaction')
      // A read error has ended the transaction, and what was read since then may not be on disk.
      const kept = this.#connection.inTransaction || !(pinned || this.#pinned)
      if (!kept) throw lost()
      return result
    } finally {
      clearImmediate(timer)
      // An idle service holds no transaction: it would keep its state, and the WAL, from other connections.
      if (--this.#running === 0 && !this.#pinned) this.#end.run()
    }
  }

  /**
   * A snapshot of one statement, which has run when `query` returns. Looks wait for the end of their turn of the event loop, or
   * for the next commit, and share a transaction then, so that each sees all that was written before it was asked for, of a
   * pinned state all that was answered. Their answers leave together, too. A caller that is alone waits seldom: one more turn costs as much as the statement.
   */
  look<T>(query: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#running === 0 && this.#atOnce > 0) {
      this.#atOnce--
      return this.#lookNow(query)
    }
    return new Promise<T>((resolve, reject) => {
      this.#looks.push({ query, resolve: resolve as Look<Tx>['resolve'], reject })
      if (this.#looks.length === 1) setImmediate(() => this.#endTurn())
    })
  }

  /** Run the looks that wait, and `call` when their answers have left, in the next turn at the latest. Without any, at once. */
  behindLooks(call: () => void): void {
    if (this.#looks.length === 0) {
      call()
      return
    }
    this.#lookAll()
    // The end of the turn is an immediate that is queued, and what follows from settled promises runs before it.
    this.#behind = call
  }

  #endTurn(): void {
    this.#lookAll()
    const behind = this.#behind
    this.#behind = null
    behind?.()
  }

  #lookAll(): void {
    const looks = this.#looks
    if (looks.length === 0) return
    this.#looks = []
    this.#atOnce = looks.length === 1 ? limits.looksAtOnce : 0
    try {
      const shared = looks.length > 1 && !this.#pinned && !this.#connection.inTransaction
      if (shared) this.#begin.run()
      for (const look of looks) this.#lookNow(look.query).then(look.resolve, look.reject)
      // A read error has ended the transaction.
      if (shared && this.#connection.inTransaction) this.#end.run()
    } catch (cause) {
      for (const { reject } of looks) reject(cause)
    }
  }

  async #lookNow<T>(query: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#pinned && !this.#connection.inTransaction) throw lost()
    const before = this.#ran.statements
    const result = query(this.#tx)
    const good = this.#ran.statements === before + 1
    const found = await result
    if (good) return found
    throw new StalledOperation('a look did not begin with its only statement')
  }

  /** Run the looks that wait, and close the connection. */
  close(): void {
    this.#lookAll()
    this.#connection.close()
  }
}

function lost(): Error {
  return new Error('the pinned state is lost')
}
