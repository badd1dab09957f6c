import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import type { AfterCommit, First, Lease, Locking, OpenDatabase, Plan, Upkeep } from '../database.ts'
import type { Root } from '../roots.ts'
import type { Sql } from '../sql.ts'
import { type Connection, ConnectionLost, StatementFailed } from './connection.ts'
import { foldCounters } from './counters.ts'
import type { ServerFacts } from './durability.ts'
import { Leasing } from './leases.ts'
import { locksFor } from './locks.ts'
import { closing, Pool } from './pool.ts'
import { retried, stoppedByOther } from './retry.ts'
import { Servers } from './servers.ts'
import { type OpenTransaction, type Session, StalledOperation } from './session.ts'
import { CommitUnknown, Settlement } from './settlement.ts'
import { createSql } from './statements.ts'

/** Events of the engine for the metrics. */
type EngineEvents = {
  committed(operations: number, seconds: number): void
  failed(cause: unknown, operations: number): void
  /** The answer to a commit got lost, and nobody told in time whether it stands. */
  unknown?(commit: string): void
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

/** The operation as one caller asked for it. */
type Work<Tx> = {
  roots: readonly Root[]
  first: First<Tx> | undefined
  operation: (tx: Tx & AfterCommit & Locking) => Promise<unknown>
}

/** The end of an operation whose transaction has ended as it should. */
type Outcome = { effects: (() => void)[] } & ({ value: unknown } | { refused: unknown })

/** An outcome that stands, or with the id of its commit where the answer to that got lost. */
type Attempt = { outcome: Outcome; lost: string | null }

/**
 * The engine for several nodes: each operation is a transaction at READ COMMITTED on a connection of its own. It
 * locks its roots first, so that operations behave as if they ran one after the other.
 */
export class PostgresEngine<Tx> implements OpenDatabase<Tx> {
  readonly #options: PostgresOptions<Tx>
  readonly #servers: Servers
  readonly #pool: Pool<Tx>
  readonly #leasing: Leasing
  readonly #settlement: Settlement
  /** Operations and reads that were begun and not answered. */
  #running = 0
  #idle: (() => void) | null = null
  #closed = false
  /** The clock of the server (Unix seconds) when our steady clock began. */
  #serverBeganAt = Number.NaN
  #looked = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | null = null
  readonly cleanStart = true
  readonly upkeep: readonly Upkeep[] = [
    { lease: 'fold counters', step: () => this.#fold() },
    { lease: 'forget commits', step: () => this.#forget() },
  ]

  constructor(options: PostgresOptions<Tx>) {
    this.#options = options
    const onClock = (clock: number) => {
      this.#looked = performance.now() / 1000
      this.#serverBeganAt = clock - this.#looked
    }
    this.#servers = new Servers(options.url, onClock)
    this.#pool = new Pool({
      most: options.connections ?? limits.databaseConnections,
      servers: this.#servers,
      stores: (transaction) => options.stores(createSql(transaction)),
    })
    this.#leasing = new Leasing(
      (onEnd) => this.#servers.connect(onEnd, limits.leaseSilenceSeconds),
      onClock,
    )
    this.#settlement = new Settlement(() => this.#servers.connect())
  }

  /** The server of the newest connection. Null before the first one. */
  get server(): ServerFacts | null {
    return this.#servers.facts
  }

  /**
   * True while our clock and that of the server, which goes on between two looks at it, are apart: one of them is
   * behind, and the other nodes have the server's.
   */
  get clockBehind(): boolean {
    const server = this.#serverBeganAt + performance.now() / 1000
    return Math.abs(this.#options.now() - server) > limits.clockBackSeconds
  }

  /** The database itself says whether it was stopped properly, and recovers. */
  checked(_problems: number): void {}

  async transact<T>(
    { roots, first, rows = 1 }: Plan<Tx>,
    operation: (tx: Tx & AfterCommit & Locking) => Promise<T>,
  ): Promise<T> {
    const work = { roots: roots === 'none' ? [] : roots, first, operation }
    const started = performance.now()
    const lane = rows > limits.lightRowsMax ? 'heavy' : 'light'
    return this.#answered(async () => {
      const outcome = await this.#retried(async () => {
        if (this.clockBehind) await this.#compareClocks()
        const { outcome, lost } = await this.#pool.use(lane, (session) => this.#run(session, work))
        // Its connection has gone: the question waits outside of the pool.
        if (lost !== null && !(await this.#settlement.stands(lost))) {
          throw new ConnectionLost('the commit got lost')
        }
        return outcome
      })
      for (const effect of outcome.effects) this.#do(effect)
      if ('refused' in outcome) throw outcome.refused
      this.#options.events?.committed(1, (performance.now() - started) / 1000)
      return outcome.value as T
    })
  }

  async snapshot<T>(query: (tx: Tx) => Promise<T>): Promise<T> {
    const read = (session: Session<Tx>) => this.#read(session, query)
    return this.#answered(() => this.#retried(() => this.#pool.use('read', read)))
  }

  /** Run statements outside of an operation, on a connection of their own. */
  async administer<T>(run: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#closed) throw closing()
    const connection = await this.#servers.connect()
    try {
      return await run(connection)
    } finally {
      connection.destroy()
    }
  }

  async lease(name: string): Promise<Lease | null> {
    if (this.#closed) throw closing()
    return this.#leasing.lease(name)
  }

  /** Finish the operations, for a while, and close every connection. An operation that is left fails. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#finished(limits.databaseCloseSeconds)
    this.#settlement.stop()
    await Promise.all([this.#pool.close(), this.#leasing.close()])
    await this.#finished(limits.databaseFarewellSeconds)
  }

  /** Look again where the clocks are apart, since either may have been set: many operations at once, one look. */
  async #compareClocks(): Promise<void> {
    if (performance.now() / 1000 - this.#looked > limits.leaseBeatSeconds) {
      // Each connection looks at the clock.
      this.#looking ??= this.administer(async () => undefined).finally(() => {
        this.#looking = null
      })
      await this.#looking
    }
    if (this.clockBehind) throw new Refusal('clock-behind', { retryAfter: 30 })
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

  async #answered<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closed) throw closing()
    this.#running++
    try {
      return await run()
    } finally {
      if (--this.#running === 0) this.#idle?.()
    }
  }

  async #finished(seconds: number): Promise<void> {
    if (this.#running === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, seconds * 1000)
      this.#idle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Run again what others stopped and what a lost connection took along. Tell the faults that are left. */
  async #retried<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await retried(run, () => this.#closed)
    } catch (cause) {
      if (!isOfEngine(cause)) throw cause
      this.#options.events?.failed(cause, 1)
      if (cause instanceof CommitUnknown) this.#options.events?.unknown?.(cause.id)
      throw answerTo(cause)
    }
  }

  async #read<T>(session: Session<Tx>, query: (tx: Tx) => Promise<T>): Promise<T> {
    const transaction = session.begin('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const result = await transaction.run(() => query(session.tx))
    await transaction.settle()
    return result
  }

  /** Run the operation in a transaction and end it. Rejects if none of it stands. */
  async #run(session: Session<Tx>, { roots, first, operation }: Work<Tx>): Promise<Attempt> {
    const effects: (() => void)[] = []
    const transaction = session.begin('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE')
    const tx = {
      ...session.tx,
      afterCommit: (effect: () => void) => void effects.push(effect),
      async lock(...more: Root[]) {
        lock(transaction.running, more)
      },
    }
    lock(transaction, roots)
    let kept: number | null = null
    let outcome: Outcome
    try {
      if (first) {
        await transaction.run(() => first(tx))
        kept = effects.length
        transaction.savepoint()
      }
      outcome = { value: await transaction.run(() => operation(tx)), effects }
    } catch (cause) {
      // Of a broken transaction the first failure is the cause, whatever the operation made of it.
      const failure = transaction.failure ?? cause
      if (failure !== cause || isOfEngine(failure)) throw failure
      outcome = { refused: cause, effects: effects.slice(0, kept ?? 0) }
      // A first part that refuses keeps its writes, too: the replay guard of a caller who is over his limit.
      const keeps = kept !== null || (first && cause instanceof Refusal)
      if (!keeps) return { outcome, lost: null }
      if (kept !== null) await transaction.undo()
    }
    const id = Bun.randomUUIDv7()
    return { outcome, lost: (await transaction.commit(id)) ? null : id }
  }
}

function lock(transaction: OpenTransaction, roots: readonly Root[]): void {
  for (const { text, params } of locksFor(roots)) transaction.post(text, params)
}

function isOfEngine(cause: unknown): boolean {
  return [StatementFailed, ConnectionLost, CommitUnknown, StalledOperation].some(
    (kind) => cause instanceof kind,
  )
}

/** The answer to a fault that did not pass by itself. */
function answerTo(cause: unknown): unknown {
  if (cause instanceof ConnectionLost || cause instanceof CommitUnknown) {
    return new Refusal('unavailable', { retryAfter: 2 })
  }
  return stoppedByOther(cause) ? new Refusal('overloaded', { retryAfter: 1 }) : cause
}
