import type { Database as Sqlite, Statement } from 'bun:sqlite'
import { createSql } from './connection.ts'
import type { Sql } from './sql.ts'

/** An operation or a snapshot awaited something else than its transaction. */
export class StalledOperation extends Error {}

/**
 * The connection for reads. Snapshots of one turn of the event loop share one transaction, which ends with the turn:
 * an idle service holds none. It would keep its state, and the WAL, from other connections.
 */
export class Reader<Tx> {
  readonly #connection: Sqlite
  readonly #tx: Tx
  readonly #begin: Statement
  readonly #end: Statement
  /** The transaction of this turn. Null if there is none yet. */
  #shared: { over: boolean } | null = null

  constructor(connection: Sqlite, stores: (sql: Sql) => Tx) {
    connection.run('PRAGMA query_only = ON')
    this.#connection = connection
    // The writer has prepared the same statements. Once more, all at once, would slow down the start.
    this.#tx = stores(createSql(connection, 'later'))
    this.#begin = connection.query('BEGIN')
    this.#end = connection.query('COMMIT')
  }

  async snapshot<T>(query: (tx: Tx) => Promise<T>): Promise<T> {
    // A read error has ended the transaction. Reads without one may see two states.
    if (!this.#connection.inTransaction) this.renew()
    this.#shared ??= this.#share()
    const shared = this.#shared
    const result = await query(this.#tx)
    if (shared.over) throw new StalledOperation('a snapshot awaited more than its transaction')
    return result
  }

  #share(): { over: boolean } {
    // Its end has failed.
    if (this.#connection.inTransaction) this.#end.run()
    this.#begin.run()
    const shared = { over: false }
    setImmediate(() => {
      if (this.#shared !== shared) return
      try {
        this.renew()
      } catch {
        // Nobody waits for it. The next snapshot ends it, or is told why it cannot.
      }
    })
    return shared
  }

  /** The next snapshot sees all that is committed by now. */
  renew(): void {
    if (!this.#shared) return
    this.#shared.over = true
    this.#shared = null
    if (this.#connection.inTransaction) this.#end.run()
  }

  close(): void {
    this.renew()
    this.#connection.close()
  }
}
