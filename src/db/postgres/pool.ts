import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import { addressesOf } from './address.ts'
import { Connection, ConnectionLost, type Result, StatementFailed } from './connection.ts'
import { clockOfPrimary } from './durability.ts'
import type { Transaction } from './statements.ts'

/** Operations that write many rows have few connections, so that small operations do not wait for all of them. */
type Lane = 'light' | 'heavy'

/** SQLSTATE of a statement in a transaction that an earlier one broke. */
const afterFailure = '25P02'

/** A connection with its stores, for one transaction at a time. */
export class Session<Tx> {
  readonly connection: Connection
  readonly tx: Tx
  /** Where the statements of the stores run. */
  readonly transaction: Transaction
  /** Statements that nobody awaits. */
  #posted: Promise<unknown>[] = []
  /** The first failure of the transaction: later ones only follow from it. */
  #failure: Error | null = null
  /** True from when a commit may have reached the server. */
  commitSent = false

  constructor(connection: Connection, stores: (transaction: Transaction) => Tx) {
    this.connection = connection
    this.transaction = {
      send: (text, params) => this.#send(text, params),
      post: (text, params) => void this.#post(this.#send(text, params)),
    }
    this.tx = stores(this.transaction)
  }

  begin(text: string): void {
    this.#failure = null
    this.#posted = []
    this.commitSent = false
    this.connection.takeWarning()
    this.transaction.post(text, [])
  }

  /** Commit, with a row that proves it. Resolves when the server has it on disk, and on its standby if it has one. */
  async commit(id: string): Promise<void> {
    await this.settle()
    this.transaction.post(`INSERT INTO commits (id, outcome) VALUES ($1, 'work')`, [id])
    this.commitSent = true
    const { command } = await this.#send('COMMIT', [])
    await this.#settlePosted()
    if (command !== 'COMMIT') throw this.#failure ?? new ConnectionLost('the commit was refused')
    // The server gave up waiting for its standby. The commit stands here, and may be lost with this server.
    if (this.connection.takeWarning()) {
      this.connection.destroy()
      throw new ConnectionLost('the commit did not reach the standby')
    }
  }

  /** Take back everything after the savepoint. */
  async undo(): Promise<void> {
    await this.#settlePosted()
    this.#failure = null
    this.transaction.post('ROLLBACK TO SAVEPOINT operation', [])
  }

  /** End a transaction of which nothing stays. */
  finish(): void {
    this.#post(this.connection.send('ROLLBACK', []))
  }

  /** The failure behind a cause: of a broken transaction the first one. */
  failureOf(cause: unknown): unknown {
    const follows = cause instanceof StatementFailed && cause.code === afterFailure
    return this.#failure !== null && (follows || !(cause instanceof Error)) ? this.#failure : cause
  }

  async #send(text: string, params: Parameters<Transaction['send']>[1]): Promise<Result> {
    try {
      return await this.connection.send(text, params)
    } catch (cause) {
      this.#failure ??= cause as Error
      throw cause
    }
  }

  #post(sent: Promise<unknown>): void {
    // Its failure is told by the commit.
    this.#posted.push(sent.catch(() => undefined))
  }

  /** Wait for every statement so far. Rejects if one of them failed. */
  async settle(): Promise<void> {
    await this.#settlePosted()
    if (this.#failure) throw this.#failure
  }

  async #settlePosted(): Promise<void> {
    await Promise.all(this.#posted.splice(0))
  }
}

type Waiting = { lane: Lane; resolve: () => void; reject: (cause: unknown) => void }

type PoolOptions<Tx> = {
  /** The most connections at once. */
  most: number
  stores: (transaction: Transaction) => Tx
  /** Told of the clock of the server (Unix seconds) with each new connection. */
  onClock: (clock: number) => void
}

/** The connections of one node. A broken one is closed, and the next operation opens another. */
export class Pool<Tx> {
  /** The hosts in their order. The first one that takes writes is the primary. */
  readonly #addresses: readonly string[]
  readonly #most: number
  readonly #stores: (transaction: Transaction) => Tx
  readonly #onClock: (clock: number) => void
  readonly #idle: Session<Tx>[] = []
  readonly #busy = new Set<Session<Tx>>()
  readonly #waiting: Record<Lane, Waiting[]> = { light: [], heavy: [] }
  readonly #taken: Record<Lane, number> = { light: 0, heavy: 0 }
  readonly #watch: ReturnType<typeof setInterval>
  #closing: (() => void) | null = null
  #downUntil = 0

  constructor(url: string, { most, stores, onClock }: PoolOptions<Tx>) {
    this.#addresses = addressesOf(url)
    this.#most = most
    this.#stores = stores
    this.#onClock = onClock
    this.#watch = setInterval(() => this.#endSilent(), 1000)
    this.#watch.unref()
  }

  /** A connection outside of the pool. */
  async connect(onEnd: () => void = () => undefined): Promise<Connection> {
    let failure: unknown = new ConnectionLost('no server takes writes')
    for (const connectionString of this.#addresses) {
      try {
        const timeoutMs = limits.databaseConnectSeconds * 1000
        const connection = await Connection.open({ connectionString }, timeoutMs, onEnd)
        const clock = await clockOfPrimary(connection)
        if (clock !== null) {
          this.#onClock(clock)
          return connection
        }
        connection.destroy()
      } catch (cause) {
        failure = cause
      }
    }
    throw failure
  }

  async use<T>(lane: Lane, run: (session: Session<Tx>) => Promise<T>): Promise<T> {
    await this.#enter(lane)
    let session: Session<Tx> | null = null
    try {
      session = await this.#session()
      return await run(session)
    } finally {
      this.#leave(lane, session)
    }
  }

  /** Finish what waits, and close every connection. */
  async close(): Promise<void> {
    if (this.#taken.light + this.#taken.heavy > 0) {
      await new Promise<void>((resolve) => {
        this.#closing = resolve
      })
    }
    clearInterval(this.#watch)
    await Promise.all(this.#idle.splice(0).map(({ connection }) => connection.end()))
  }

  /** Heavy operations take at most a quarter of the connections. */
  #hasRoom(lane: Lane): boolean {
    const { light, heavy } = this.#taken
    if (light + heavy >= this.#most) return false
    return lane === 'light' || heavy < Math.max(1, this.#most / 4)
  }

  async #enter(lane: Lane): Promise<void> {
    if (this.#hasRoom(lane)) {
      this.#taken[lane]++
      return
    }
    const waiting = this.#waiting[lane]
    const most = lane === 'heavy' ? limits.heavyQueueMax : limits.queueMax
    if (waiting.length >= most) throw new Refusal('overloaded', { retryAfter: 1 })
    await new Promise<void>((resolve, reject) => waiting.push({ lane, resolve, reject }))
  }

  #leave(lane: Lane, session: Session<Tx> | null): void {
    if (session) {
      this.#busy.delete(session)
      if (session.connection.open) this.#idle.push(session)
    }
    this.#taken[lane]--
    for (const next of ['light', 'heavy'] as const) {
      while (this.#waiting[next].length > 0 && this.#hasRoom(next)) {
        this.#taken[next]++
        this.#waiting[next].shift()?.resolve()
      }
    }
    if (this.#taken.light + this.#taken.heavy === 0) this.#closing?.()
  }

  async #session(): Promise<Session<Tx>> {
    for (let known = this.#idle.pop(); known; known = this.#idle.pop()) {
      if (!known.connection.open) continue
      this.#busy.add(known)
      return known
    }
    // Of all that wait only some ask a server that is down.
    if (performance.now() < this.#downUntil) throw new ConnectionLost('no server takes writes')
    try {
      const session = new Session(await this.connect(), this.#stores)
      this.#busy.add(session)
      return session
    } catch (cause) {
      this.#downUntil = performance.now() + limits.databaseDownMs
      throw cause
    }
  }

  /** A server that owes an answer for too long is given up: a commit without its standby waits for ever. */
  #endSilent(): void {
    for (const { connection } of this.#busy) {
      if (connection.waitingMs > limits.databaseAnswerSeconds * 1000) connection.destroy()
    }
  }
}
