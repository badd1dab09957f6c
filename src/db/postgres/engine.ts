import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import {
  type First,
  type Lease,
  leader,
  type NodeFigures,
  type OpenDatabase,
  type Operation,
  type Plan,
  type Upkeep,
} from '../database.ts'
import { couponSchema, type Schema, versionOf } from '../migrations.ts'
import { Listeners, type NewsListener, type Topic } from '../news.ts'
import type { Root } from '../roots.ts'
import type { Sql } from '../sql.ts'
import { Confirmation } from './confirmation.ts'
import { type Connection, ConnectionLost } from './connection.ts'
import type { ServerFacts } from './durability.ts'
import { thisMoment } from './elapsed.ts'
import type { EngineEvents } from './engine-events.ts'
import { createSharedBuckets } from './guesses.ts'
import { Leasing } from './leases.ts'
import { lock } from './locks.ts'
import { NewsLine, serviceChannel, type Told } from './news.ts'
import { Membership, type NodeIdentity } from './nodes.ts'
import { closing, Pool } from './pool.ts'
import { requireSessions } from './pooler.ts'
import { answerTo, type Caller, inTime, isOfEngine, requireCaller, retried } from './retry.ts'
import { ServerClock } from './server-clock.ts'
import { Servers } from './servers.ts'
import type { Session } from './session.ts'
import { CommitUnknown, Settlement } from './settlement.ts'
import { StandbyWatch } from './standby-watch.ts'
import { createSql } from './statements.ts'
import { upkeepOf } from './upkeep.ts'

export type PostgresOptions<Tx> = {
  url: string
  now: Clock
  /** Build the stores of a connection. */
  stores: (sql: Sql) => Tx
  /** The schema that the stores are made for. Default: that of the service. */
  schema?: Schema
  events?: EngineEvents
  /** The most connections that operations use at once. */
  connections?: number
  /** This node, for the list of all. Without it the engine works and is not listed. */
  node?: NodeIdentity
  /** News are for the same part of every node. Default: the service. */
  channel?: 'service' | 'relay'
}

/** The operation as one caller asked for it. `patient`: it takes nothing for written before the server says so. */
type Work<Tx> = {
  roots: readonly Root[]
  first: First<Tx> | undefined
  operation: Operation<Tx, unknown>
  caller: Caller
  patient: boolean
}

/** The end of an operation whose transaction has ended as it should. */
type Outcome = { effects: (() => void)[]; told: Told[] } & (
  | { value: unknown }
  | { refused: unknown }
)

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
  readonly #standby: StandbyWatch
  readonly #listeners = new Listeners()
  readonly #news: NewsLine
  /** Operations and reads that were begun and not answered. */
  #running = 0
  #idle: (() => void) | null = null
  #retries = 0
  #outdated = false
  #closed = false
  readonly #clock: ServerClock
  /** Tell a fault that nobody is answered with. */
  readonly #failed = (cause: unknown) => this.#options.events?.failed(cause, 0)
  readonly cleanStart = true
  readonly upkeep: readonly Upkeep[]
  readonly nodes: Membership | null
  readonly look = this.snapshot
  // Many guesses may wait for one row. They leave connections for operations.
  readonly buckets = createSharedBuckets((run) =>
    this.#attempted(() => this.#pool.use('heavy', ({ connection }) => run(connection))),
  )

  constructor(options: PostgresOptions<Tx>) {
    this.#options = options
    // Each connection looks at the clock.
    this.#clock = new ServerClock(options.now, () => this.administer(async () => undefined))
    const onClock = (clock: number) => this.#clock.seen(clock)
    this.#standby = new StandbyWatch({
      connect: (silenceSeconds) => this.#servers.connect(undefined, silenceSeconds),
      judged: (verdict, refusal) => {
        if (refusal !== null) this.#pool.refuseWrites(refusal)
        options.events?.watched?.(verdict)
      },
    })
    this.#servers = new Servers(options.url, {
      onClock,
      onSilence: () => this.#standby.suspect(),
      confirmation: new Confirmation(this.#standby),
    })
    this.#pool = new Pool({
      most: options.connections ?? limits.databaseConnections,
      servers: this.#servers,
      standby: this.#standby,
      stores: (transaction) => options.stores(createSql(transaction)),
      schema: versionOf(options.schema ?? couponSchema),
    })
    this.#leasing = new Leasing(
      (onEnd) => this.#servers.connect(onEnd, limits.leaseSilenceSeconds),
      onClock,
      options.channel === 'relay' ? 'relay ' : '',
    )
    this.#settlement = new Settlement(() => this.#servers.connect(), this.#standby)
    this.#news = new NewsLine({
      channel: options.channel === 'relay' ? 'cuponera_relay' : serviceChannel,
      connect: (onEnd) => this.#servers.connectToRead(onEnd, limits.leaseSilenceSeconds),
      start: () => this.#servers.start,
      listeners: this.#listeners,
      failed: this.#failed,
      unread: options.events?.unread,
      moved: options.events?.moved,
    })
    this.nodes = options.node
      ? new Membership({
          identity: options.node,
          leasing: this.#leasing,
          administer: (run) => this.#attempted(() => this.administer(run)),
          change: (run) => this.#attempted(() => this.#change(run)),
          news: this.#news,
          figures: () => this.#figures(),
          outdated: (schema) => this.#end(schema),
        })
      : null
    this.upkeep = upkeepOf((run) => this.#change(run))
  }

  /** The server of the newest connection. Null before the first one. */
  get server(): ServerFacts | null {
    return this.#servers.facts
  }

  get clockBehind(): boolean {
    return this.#clock.apart
  }

  get away(): boolean {
    return this.#servers.away
  }

  /** The database itself says whether it was stopped properly, and recovers. */
  checked(_problems: number): void {}

  async transact<T>({ roots, first, rows = 1 }: Plan<Tx>, operation: Operation<Tx, T>): Promise<T> {
    const started = thisMoment()
    const lane = rows > limits.lightRowsMax ? 'heavy' : 'light'
    return this.#answered(async (caller) => {
      const outcome = await this.#retried(async (patient) => {
        const work = { roots: roots === 'none' ? [] : roots, first, operation, caller, patient }
        await this.#clock.requireTogether()
        const { outcome, lost } = await this.#pool.use(lane, (session) => this.#run(session, work))
        // Its connection has gone: the question waits outside of the pool.
        if (lost !== null && !(await this.#settlement.stands(lost, started))) {
          throw new ConnectionLost('the commit got lost')
        }
        return outcome
      })
      if (outcome.told.length > 0) this.#news.committed()
      for (const effect of outcome.effects) this.#do(effect)
      if ('refused' in outcome) throw outcome.refused
      this.#options.events?.committed(1, (performance.now() - started.steadyMs) / 1000)
      return outcome.value as T
    })
  }

  async snapshot<T>(query: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#attempted(() => this.#pool.use('read', (session) => this.#read(session, query)))
  }

  /** Run statements outside of an operation, on a connection of their own. */
  async administer<T>(
    run: (connection: Connection) => Promise<T>,
    silenceSeconds: number = limits.databaseAnswerSeconds,
  ): Promise<T> {
    if (this.#closed) throw closing()
    const connection = await this.#servers.connect(undefined, silenceSeconds)
    try {
      return await run(connection)
    } finally {
      connection.destroy()
    }
  }

  /** The same for statements that write: refused while commits wait for a standby. */
  async #change<T>(run: (connection: Connection) => Promise<T>): Promise<T> {
    await this.#standby.require()
    return this.administer(run)
  }

  /** True if commits of this role, at whatever node, wait for a standby that is away. */
  async commitsWait(): Promise<boolean> {
    this.#standby.suspect()
    return (await this.#standby.verdict()) === 'waiting'
  }

  /** Throws OperatorError if its connections share sessions of the server. */
  requireSessions(): Promise<void> {
    return requireSessions(() => this.#servers.connect())
  }

  /** Hear the news of other nodes from now on. Rejects while the database is away. */
  follow(): Promise<void> {
    return this.#news.follow()
  }

  async requireNews(): Promise<void> {
    if (this.#outdated) throw new Refusal('unavailable', { retryAfter: 30 })
    await this.#news.require()
  }

  listen<Body>(topic: Topic<Body>, listener: NewsListener<Body>): void {
    this.#listeners.listen(topic, listener)
  }

  tell<Body>(topic: Topic<Body>, body: Body): Promise<void> {
    return this.transact({ roots: 'none' }, async (tx) => tx.tell(topic, body))
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
    await this.nodes?.leave()
    const parts = [this.#pool, this.#leasing, this.#news, this.#standby]
    await Promise.all(parts.map((part) => part.close()))
    await this.#finished(limits.databaseFarewellSeconds)
    this.#servers.end()
  }

  /** Take no more operations, and give up every lease: other nodes have upgraded the schema twice since. */
  #end(schema: number): void {
    if (this.#outdated || this.#closed) return
    this.#outdated = true
    this.#options.events?.outdated?.(schema)
    void this.#leasing.close()
  }

  #figures(): NodeFigures {
    return {
      leads: this.#leasing.holds(leader),
      connections: this.#pool.used,
      retries: this.#retries,
      settlements: this.#settlement.asked,
      clockAhead: this.#clock.ahead,
      standbyLost: this.#standby.last === 'waiting',
      standbyUnwatched: this.#standby.last === 'forbidden',
      unreachable: this.#standby.last === 'unreachable' || this.away,
    }
  }

  #do(effect: () => void): void {
    try {
      effect()
    } catch (cause) {
      this.#failed(cause)
    }
  }

  async #answered<T>(run: (caller: Caller) => Promise<T>): Promise<T> {
    if (this.#closed) throw closing()
    return inTime((caller) => this.#counted(() => run(caller)), this.#failed)
  }

  #attempted<T>(run: () => Promise<T>): Promise<T> {
    return this.#answered(() => this.#retried(run))
  }

  async #counted<T>(run: () => Promise<T>): Promise<T> {
    this.#running++
    try {
      await this.requireNews()
      return await run()
    } finally {
      if (--this.#running === 0) this.#idle?.()
    }
  }

  async #finished(seconds: number): Promise<void> {
    if (this.#running === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, seconds * 1000)
    this.#idle = resolve
    await promise
    clearTimeout(timer)
  }

  /** Run again what others stopped and what a lost connection took along. Tell the faults that are left. */
  async #retried<T>(run: (patient: boolean) => Promise<T>): Promise<T> {
    try {
      return await retried(run, {
        closed: () => this.#closed,
        onRetry: () => void this.#retries++,
      })
    } catch (cause) {
      if (!isOfEngine(cause)) throw cause
      this.#options.events?.failed(cause, 1)
      if (cause instanceof CommitUnknown) {
        this.#options.events?.unknown?.(cause.id)
        this.#news.doubt()
      }
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
  async #run(session: Session<Tx>, work: Work<Tx>): Promise<Attempt> {
    const { roots, first, operation, caller, patient } = work
    requireCaller(caller)
    const effects: (() => void)[] = []
    const steps: (() => void)[] = []
    const told: Told[] = []
    const transaction = session.begin('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE', patient)
    const tx = {
      ...session.tx,
      afterCommit: (effect: () => void) => void effects.push(effect),
      beforeCommit: (step: () => void) => void steps.push(step),
      tell: <Body>(topic: Topic<Body>, body: Body) => {
        effects.push(() => this.#listeners.tell(topic, body))
        const news = NewsLine.encode(topic, body)
        if (!told.some((other) => isDeepStrictEqual(other, news))) told.push(news)
      },
      async lock(...more: Root[]) {
        lock(transaction.running, more)
      },
    }
    lock(transaction, roots)
    let kept: { effects: number; told: number } | null = null
    let outcome: Outcome
    try {
      if (first) {
        await transaction.run(() => first(tx))
        kept = { effects: effects.length, told: told.length }
        transaction.savepoint()
      }
      outcome = { value: await transaction.run(() => operation(tx), steps), effects, told }
    } catch (cause) {
      // Of a broken transaction the first failure is the cause, whatever the operation made of it.
      const failure = (await transaction.failure()) ?? cause
      if (failure !== cause || isOfEngine(failure)) throw failure
      // A first part that refuses keeps its writes, too: the replay guard of a caller who is over his limit.
      if (kept === null && !(first && cause instanceof Refusal)) {
        return { outcome: { refused: cause, effects: [], told: [] }, lost: null }
      }
      outcome = {
        ...{ refused: cause, effects: effects.slice(0, kept?.effects) },
        told: told.slice(0, kept?.told),
      }
      if (kept !== null) await transaction.undo()
    }
    const id = Bun.randomUUIDv7()
    const rows = outcome.told.map((news) => this.#news.rowOf(news))
    requireCaller(caller)
    return { outcome, lost: (await transaction.commit(id, rows)) ? null : id }
  }
}
