import { AsyncLocalStorage } from 'node:async_hooks'
import { limits } from '../../base/limits.ts'
import { Refusal } from '../../base/refusal.ts'
import type { SqlValue } from '../sql.ts'
import { type Connection, ConnectionLost, type Result, StatementFailed } from './connection.ts'
import { appendsMax, isAppend, joinAppends } from './counters.ts'
import { shiftParameters } from './dialect.ts'
import type { Expected, Statement, Transaction } from './statements.ts'

/** A part of an operation awaited something else than its transaction, or went on after the end of it. */
export class StalledOperation extends Error {}

/** A statement wrote no row, though its operation went on as if it had. The operation has to run again and wait for it. */
export class UnexpectedRows extends Error {}

/** SQLSTATE of a statement that would write none: its row lacks a key of a counter, or a value of a changed row. */
const unexpected = '23502'

/** The transaction that the running code belongs to: the stores of a session are shared by all that follow each other. */
const own = new AsyncLocalStorage<OpenTransaction>()

/**
 * The row that proves a commit. It breaks a rule of its table once the service was moved away: a node that was cut off
 * meanwhile would go on here, and vouchers would be spent twice. It lacks its outcome, which is another breach, where
 * the schema was upgraded twice since ($2 is the newest that this program works with).
 */
const proof = `INSERT INTO commits (id, outcome) VALUES ($1,
  CASE WHEN EXISTS (SELECT 1 FROM facts WHERE name = 'moved-to') THEN 'moved'
    WHEN (SELECT version FROM schema_version) <= $2 THEN 'work' END)`

/** The reasons that the row of the proof itself was refused for, by the failure. */
const reasons: Record<string, () => Refusal> = {
  '23514': () => new Refusal('moved'),
  '23502': () => new Refusal('unavailable', { retryAfter: 30 }),
}

/** Statements of a proof by the texts of those that go along. As many as the program has operations that count. */
const proofs = new Map<string, string>()

/** The proof as one statement with others, none of which needs to see what another one writes. */
function proofWith(params: readonly SqlValue[], along: readonly Statement[]): Statement {
  const name = along.map(({ text }) => text).join(';')
  let text = proofs.get(name)
  if (text === undefined) {
    text = proofTextWith(params.length, along)
    proofs.set(name, text)
  }
  return { text, params: [...params, ...along.flatMap((one) => one.params)] }
}

function proofTextWith(params: number, along: readonly Statement[]): string {
  let before = params
  const parts = along.map((one, at) => {
    const from = before
    before += one.params.length
    return `along${at} AS (${shiftParameters(one.text, from)})`
  })
  return parts.length === 0 ? proof : `WITH ${parts.join(', ')} ${proof}`
}

/** Classes of failures of COMMIT after which nothing of the transaction stands. */
const undone = /^(23|25|40)/

/** A connection with its stores, for one transaction at a time. */
export class Session<Tx> {
  readonly connection: Connection
  readonly tx: Tx
  readonly #schema: number
  #current: OpenTransaction | null = null
  #idleSince = performance.now()

  /** `schema`: the version that the stores are made for. */
  constructor(
    connection: Connection,
    { stores, schema }: { stores: (transaction: Transaction) => Tx; schema: number },
  ) {
    this.connection = connection
    this.#schema = schema
    this.tx = stores({
      async send(text, params) {
        return ownTransaction().send(text, params)
      },
      post: (text, params) => ownTransaction().post(text, params),
      expect: (one, params) => ownTransaction().expect(one, params),
    })
  }

  /** `patient`: wait for the answer to each statement that has one. */
  begin(text: string, patient = false): OpenTransaction {
    this.#current = new OpenTransaction(this.connection, this.#schema, patient)
    this.#current.post(text, [])
    return this.#current
  }

  /** The transaction has ended, whatever became of it. */
  free(): void {
    this.#current?.finish()
    this.#current = null
    this.#idleSince = performance.now()
  }

  get idleMs(): number {
    return performance.now() - this.#idleSince
  }

  /** Stop what runs: the connection has ended, or its operation awaits something else. */
  stop(cause: Error): void {
    this.#current?.stop(cause)
    this.connection.destroy()
  }

  get stalled(): boolean {
    return (this.#current?.quietMs ?? 0) > limits.databaseStalledSeconds * 1000
  }
}

function ownTransaction(): OpenTransaction {
  const transaction = own.getStore()
  if (!transaction) throw new StalledOperation('a statement outside of an operation')
  return transaction.running
}

/** A transaction of one operation. Its statements are sent without waiting for those before them. */
export class OpenTransaction {
  readonly #connection: Connection
  readonly #schema: number
  readonly #patient: boolean
  /** False from when the operation has ended: a branch of it that still runs writes nothing any more. */
  #takes = true
  #open = true
  #sent = 0
  #under = 0
  #quietSince: number | null = performance.now()
  #settled: (() => void) | null = null
  /** The first failure, which later ones only follow from, and the number of its statement. */
  #failed: { cause: Error; at: number } | null = null
  #savepointAt = 0
  /** Changes of counters that go out before the next statement or with the proof, as one: both may read the same row, such as that of a till. */
  #appends: Statement[] = []
  /** True once a statement was taken for written. */
  #expects = false
  readonly #stopped = Promise.withResolvers<never>()

  constructor(connection: Connection, schema: number, patient: boolean) {
    this.#connection = connection
    this.#schema = schema
    this.#patient = patient
    // It is told to those who wait for it.
    this.#stopped.promise.catch(() => undefined)
  }

  /** This transaction, for a statement of its operation. Throws after the end of that. */
  get running(): this {
    if (!this.#takes) throw new StalledOperation('a statement after the end of its operation')
    return this
  }

  /** The failure that broke the transaction, if one did. A row that was taken for written is waited for. */
  async failure(): Promise<Error | null> {
    if (this.#expects) {
      this.#flush()
      await this.#answered()
    }
    return this.#failed?.cause ?? null
  }

  /** Milliseconds for which the operation has asked the server nothing. */
  get quietMs(): number {
    return this.#takes && this.#quietSince !== null ? performance.now() - this.#quietSince : 0
  }

  stop(cause: Error): void {
    this.#stopped.reject(cause)
  }

  /**
   * Run a part of the operation, and the steps that it leaves for the end. Rejects when the transaction is stopped, even if
   * the part never ends.
   */
  run<T>(part: () => Promise<T>, steps: readonly (() => void)[] = []): Promise<T> {
    const whole = async () => {
      const value = await part()
      for (const step of steps) step()
      return value
    }
    return Promise.race([own.run(this, whole), this.#stopped.promise])
  }

  send(text: string, params: readonly SqlValue[]): Promise<Result> {
    this.#flush()
    return this.#send({ text, params })
  }

  async #send({ text, params }: Statement): Promise<Result> {
    const at = ++this.#sent
    this.#under++
    this.#quietSince = null
    try {
      return await this.#connection.sendWithin(text, params)
    } catch (failed) {
      const wrong = this.#expects && failed instanceof StatementFailed && failed.code === unexpected
      const cause = wrong ? new UnexpectedRows() : (failed as Error)
      this.#failed ??= { cause, at }
      throw cause
    } finally {
      if (--this.#under === 0) {
        this.#quietSince = performance.now()
        this.#settled?.()
      }
    }
  }

  /** Send a statement that nobody awaits. Its failure is told by the end of the transaction. */
  post(text: string, params: readonly SqlValue[]): void {
    if (!isAppend(text)) {
      this.send(text, params).catch(() => undefined)
      return
    }
    if (this.#appends.push({ text, params }) === appendsMax) this.#flush()
  }

  /** Send a statement that should write one row. If it does not, the transaction breaks with `UnexpectedRows`. */
  async expect({ text, failing }: Expected, params: readonly SqlValue[]): Promise<boolean> {
    if (this.#patient) return (await this.send(text, params)).count === 1
    this.#expects = true
    this.post(failing, params)
    return true
  }

  #flush(): void {
    for (const joined of this.#joined()) this.#send(joined).catch(() => undefined)
  }

  /** The changes of counters that are to go out, as one statement at most. */
  #joined(): Statement[] {
    const appends = this.#appends
    if (appends.length === 0) return []
    this.#appends = []
    return [joinAppends(appends)]
  }

  /** Statements from here on can be undone alone. */
  savepoint(): void {
    this.post('SAVEPOINT operation', [])
    this.#savepointAt = this.#sent
  }

  /** Take back everything after the savepoint. Rejects if the part before it failed. */
  async undo(): Promise<void> {
    this.#takes = false
    this.#appends = []
    await this.#answered()
    if (this.#failed && this.#failed.at <= this.#savepointAt) throw this.#failed.cause
    this.#failed = null
    this.post('ROLLBACK TO SAVEPOINT operation', [])
  }

  /** Wait for every statement so far. Rejects if one of them failed. */
  async settle(): Promise<void> {
    this.#takes = false
    this.#flush()
    await this.#answered()
    if (this.#failed) throw this.#failed.cause
  }

  /**
   * Commit, with a row that proves it, the counters that are left and the rows of `news`. Resolves to true when the server has it on disk, and on its standby if it
   * has one; to false when nobody knows. Rejects if nothing of it stands.
   */
  async commit(id: string, news: readonly Statement[] = []): Promise<boolean> {
    this.#takes = false
    if (this.#failed) throw this.#failed.cause
    if (!this.#connection.open) throw new ConnectionLost('the connection has ended')
    // Behind the statements that nobody awaited. If one of them fails, the server makes a ROLLBACK of it.
    this.#connection.takeWarning()
    const along = [...this.#joined(), ...news.slice(0, 1)]
    for (const { text, params } of news.slice(1)) this.post(text, params)
    // A node works with the schema after its own, too.
    const { text, params } = proofWith([id, this.#schema + 1], along)
    this.post(text, params)
    const proofAt = this.#sent
    let command: string
    try {
      command = (await this.send('COMMIT', [])).command
    } catch (cause) {
      // It was skipped behind a statement that failed, or failed itself. The transaction is open still.
      if (cause instanceof StatementFailed && undone.test(cause.code)) throw this.#reasonAt(proofAt)
      this.#connection.destroy()
      return false
    }
    this.#open = false
    if (command !== 'COMMIT') throw this.#reasonAt(proofAt)
    // The server gave up waiting for its standby. The commit stands here, and may be lost with this server.
    if (!this.#connection.takeWarning()) return true
    this.#connection.destroy()
    return false
  }

  /** End it. Nothing stays of one that did not commit. */
  finish(): void {
    this.#takes = false
    if (!this.#open) return
    this.#open = false
    if (this.#connection.open) {
      this.#connection.send('ROLLBACK', []).catch(() => this.#connection.destroy())
    }
  }

  /** The reason why the commit was refused. `proofAt`: the number of the statement of its proof. */
  #reasonAt(proofAt: number): Error {
    if (this.#failed === null) return new ConnectionLost('the commit was refused')
    const { cause, at } = this.#failed
    if (at !== proofAt || !(cause instanceof StatementFailed)) return cause
    // Other rows go along with that of the proof.
    const reason = cause.table === 'commits' && reasons[cause.code]
    return reason ? reason() : cause
  }

  async #answered(): Promise<void> {
    if (this.#under === 0) return
    await new Promise<void>((resolve) => {
      this.#settled = resolve
    })
  }
}
