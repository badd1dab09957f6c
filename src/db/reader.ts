import type { Database as Sqlite, Statement } from 'bun:sqlite'
import { createSql } from './connection.ts'
import type { Sql } from './sql.ts'

/** An operation or a snapshot awaited something else than its transaction. */
export class StalledOperation extends Error {}

/**
 * The connection for reads. Its transaction stays open from one snapshot to the next, because to begin and end it costs as
 * much as most reads. It ends before each commit, so that the next snapshot sees that commit, and the WAL can begin anew.
 */
export class Reader<Tx> {
  readonly #connection: Sqlite
  readonly #tx: Tx
  readonly #begin: Statement
  readonly #end: Statement
  #running = 0
  #open = false
  #outdated = false

  constructor(connection: Sqlite, stores: (sql: Sql) => Tx) {
    connection.run('PRAGMA query_only = ON')
    this.#connection = connection
    // The writer has prepared the same statements. Once more, all at once, would slow down the start.
    this.#tx = stores(createSql(connection, 'later'))
    this.#begin = connection.query('BEGIN')
    this.#end = connection.query('COMMIT')
  }

  async snapshot<T>(query: (tx: Tx) => Promise<T>): Promise<T> {
    // Overlapping snapshots share one transaction. All of them end within the same turn of the loop.
    if (!this.#open) {
      this.#begin.run()
      this.#open = true
    }
    this.#running++
    const watch = { stalled: false }
    const timer = setImmediate(() => {
      watch.stalled = true
    })
    try {
      const result = await query(this.#tx)
      if (watch.stalled) throw new StalledOperation('a snapshot awaited more than its transaction')
      return result
    } catch (cause) {
      this.#outdated = true
      throw cause
    } finally {
      clearImmediate(timer)
      this.#running--
      if (this.#outdated) this.outdate()
    }
  }

  /** The next snapshot has to see a newer state. Called before each commit. */
  outdate(): void {
    this.#outdated = this.#open && this.#running > 0
    if (!this.#open || this.#outdated) return
    this.#open = false
    this.#end.run()
  }

  close(): void {
    this.#connection.close()
  }
}
