import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import type { AfterCommit, First, Lease, Locking, OpenDatabase, Plan, Upkeep } from '../database.ts'
import type { Root } from '../roots.ts'
import type { Sql } from '../sql.ts'
import { type Connection, ConnectionLost, StatementFailed } from './connection.ts'
import { foldCounters } from './counters.ts'
import { Leasing } from './leases.ts'
import { locksFor } from './locks.ts'
import { Pool, type Session } from './pool.ts'
import { createSql } from './statements.ts'

/** Events of the engine for the metrics. */
type EngineEvents = {
  committed(operations: number, seconds: number): void
  failed(cause: unknown, operations: number): void
}

export type PostgresOptions<Tx> = {
  url: string
  now: Clock
  /** Build the stores of a connection. */
  stores: (sql: Sql) => Tx
  events?: EngineEvents
  /** The most connections that operations use at once. */
  connections?: number
}

/** SQLSTATE of an operation that another one stopped: it runs again, as often as it takes within bounds. */
const stoppedByOther = new Set(['40001', '40P01', '55P03'])
/** A unique key that another operation took at the same moment: the operation runs again and finds the row. */
const keyTaken = '23505'

/** The operation as one caller asked for it. */
type Work<Tx> = {
  roots: readonly Root[]
  first: First<Tx> | undefined
  operation: (tx: Tx & AfterCommit & Locking) => Promise<unknown>
}

/** The end of an operation whose transaction has ended as it should. */
type Outcome = { effects: (() => void)[] } & ({ value: unknown } | { refused: unknown })

/**
 * The engine for several nodes: each operation is a transaction at READ COMMITTED on a connection of its own. It
 * locks its roots first, so that operations behave as if they ran one after the other.
 */
export class PostgresEngine<Tx> implements OpenDatabase<Tx> {
  readonly #options: PostgresOptions<Tx>
  readonly #pool: Pool<Tx>
  readonly #leasing: Leasing
  #closed = false
  /** The clock of the server (Unix seconds) when our steady clock began. */
  #serverBeganAt = Number.NEGATIVE_INFINITY
  readonly cleanStart = true
  readonly upkeep: readonly Upkeep[] = [
    { lease: 'fold counters', step: () => this.#fold() },
    { lease: 'forget commits', step: () => this.#forget() },
  ]

  constructor(options: PostgresOptions<Tx>) {
    this.#options = options
    const most = options.connections ?? limits.databaseConnections
    this.#pool = new Pool(options.url, {
      most,
      stores: (transaction) => options.stores(createSql(transaction)),
      onClock: (clock) => {
        this.#serverBeganAt = clock - performance.now() / 1000
      },
    })
    this.#leasing = new Leasing(() => this.#pool.connect())
  }

  /** True while our clock is behind that of the server, which goes on between two looks at it. */
  get clockBehind(): boolean {
    const server = this.#serverBeganAt + performance.now() / 1000
    return this.#options.now() < server - limits.clockBackSeconds
  }

  /** The database itself says whether it was stopped properly, and recovers. */
  checked(_problems: number): void {}

  async transact<T>(
    { roots, first, rows = 1 }: Plan<Tx>,
    operation: (tx: Tx & AfterCommit & Locking) => Promise<T>,
  ): Promise<T> {
    if (this.#closed) throw new Refusal('shutting-down', { retryAfter: 5 })
    if (this.clockBehind) throw new Refusal('clock-behind', { retryAfter: 30 })
    const work = { roots: roots === 'none' ? [] : roots, first, operation }
    const started = performance.now()
    const lane = rows > limits.lightRowsMax ? 'heavy' : 'light'
    const outcome = await this.#retried(() =>
      this.#pool.use(lane, (session) => this.#run(session, work)),
    )
    for (const effect of outcome.effects) this.#do(effect)
    if ('refused' in outcome) throw outcome.refused
    this.#options.events?.committed(1, (performance.now() - started) / 1000)
    return outcome.value as T
  }

  async snapshot<T>(query: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#retried(() =>
      this.#pool.use('light', async (session) => {
        session.begin('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
        try {
          const result = await query(session.tx)
          await session.settle()
          return result
        } finally {
          session.finish()
        }
      }),
    )
  }

  /** Run statements outside of an operation, on a connection of their own. */
  async administer<T>(run: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#pool.connect()
    try {
      return await run(connection)
    } finally {
      connection.destroy()
    }
  }

  async lease(name: string): Promise<Lease | null> {
    return this.#leasing.lease(name)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#pool.close()
    await this.#leasing.close()
  }

  async #fold(): Promise<boolean> {
    const most = limits.foldedCountersMax
    return (await this.administer((connection) => foldCounters(connection, most))) === most
  }

  /** Delete the marks of commits whose fate nobody asks for any more. */
  async #forget(): Promise<boolean> {
    const { count } = await this.administer((connection) =>
      connection.send(
        `DELETE FROM commits WHERE id IN (
           SELECT id FROM commits WHERE at < now() - make_interval(secs => $1) ORDER BY id LIMIT $2)`,
        [limits.commitsKeptSeconds, limits.foldedCountersMax],
      ),
    )
    return count === limits.foldedCountersMax
  }

  #do(effect: () => void): void {
    try {
      effect()
    } catch (cause) {
      this.#options.events?.failed(cause, 0)
    }
  }

  /** Run again what others stopped and what a lost connection took along, for a while. */
  async #retried<T>(run: () => Promise<T>): Promise<T> {
    const end = performance.now() + limits.databasePatienceSeconds * 1000
    for (let attempt = 1; ; attempt++) {
      try {
        return await run()
      } catch (cause) {
        if (!isOfDatabase(cause)) throw cause
        if (performance.now() > end || !mayRunAgain(cause, attempt)) {
          this.#options.events?.failed(cause, 1)
          throw cause instanceof ConnectionLost ? unavailable() : cause
        }
        await Bun.sleep(Math.random() * Math.min(2 ** attempt, limits.databaseRetryMsMax))
      }
    }
  }

  /** Run the operation in a transaction and end it. Rejects if none of it stands, or if nobody knows. */
  async #run(session: Session<Tx>, { roots, first, operation }: Work<Tx>): Promise<Outcome> {
    const effects: (() => void)[] = []
    const lock = (more: readonly Root[]) => {
      for (const { text, params } of locksFor(more)) session.transaction.post(text, params)
    }
    const tx = {
      ...session.tx,
      afterCommit: (effect: () => void) => void effects.push(effect),
      async lock(...more: Root[]) {
        lock(more)
      },
    }
    session.begin('BEGIN')
    lock(roots)
    let kept: number | null = null
    try {
      if (first) {
        await first(tx)
        kept = effects.length
        session.transaction.post('SAVEPOINT operation', [])
      }
      const value = await operation(tx)
      await this.#commit(session)
      return { value, effects }
    } catch (cause) {
      const failure = session.failureOf(cause)
      if (failure !== cause || isOfDatabase(failure)) {
        session.finish()
        throw failure
      }
      if (kept === null) {
        session.finish()
        return { refused: cause, effects: [] }
      }
      await session.undo()
      await this.#commit(session)
      return { refused: cause, effects: effects.slice(0, kept) }
    }
  }

  /** Commit. Where the connection ends with the commit under way, its fate is settled on another one. */
  async #commit(session: Session<Tx>): Promise<void> {
    const id = Bun.randomUUIDv7()
    try {
      await session.commit(id)
    } catch (cause) {
      if (!(cause instanceof ConnectionLost) || !session.commitSent) throw cause
      if (!(await this.#stands(id))) throw cause
    }
  }

  /**
   * True if a transaction whose commit got lost stands. The fence waits for the transaction while the server still has it open,
   * and stops it from standing later.
   */
  async #stands(id: string): Promise<boolean> {
    const end = performance.now() + limits.databaseSettleSeconds * 1000
    for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 2, 1000)) {
      try {
        const connection = await this.#pool.connect()
        try {
          // A write in either case: its commit reaches the standby behind the one that is asked for.
          const { rows } = await connection.send(
            `INSERT INTO commits (id, outcome) VALUES ($1, 'fence')
             ON CONFLICT (id) DO UPDATE SET at = now() RETURNING outcome`,
            [id],
          )
          if (connection.takeWarning())
            throw new ConnectionLost('the fence did not reach the standby')
          return rows[0]?.outcome === 'work'
        } finally {
          connection.destroy()
        }
      } catch (cause) {
        if (performance.now() > end) throw cause
        await Bun.sleep(pauseMs)
      }
    }
  }
}

function isOfDatabase(cause: unknown): cause is StatementFailed | ConnectionLost {
  return cause instanceof StatementFailed || cause instanceof ConnectionLost
}

function mayRunAgain(cause: ConnectionLost | StatementFailed, attempt: number): boolean {
  if (cause instanceof ConnectionLost) return true
  return cause.code === keyTaken ? attempt === 1 : stoppedByOther.has(cause.code)
}

function unavailable(): Refusal {
  return new Refusal('unavailable', { retryAfter: 2 })
}
