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

/** True of the failure of a statement that would write no row: that lacks a key of a counter, or a value of a changed row. */
function lacksRow(failed: unknown): boolean {
  return failed instanceof StatementFailed && failed.code === '23502' && failed.table !== 'commits'
}

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

/** Joined statements by the texts of their parts. As many as the program has operations that count. */
const joinedTexts = new Map<string, string>()

/** A statement as one with others, none of which needs to see what another one writes. */
function withAlong(one: Statement, along: readonly Statement[]): Statement {
  if (along.length === 0) return one
  const all = [one, ...along]
  const name = all.map(({ text }) => text).join(';')
  let text = joinedTexts.get(name)
  if (text === undefined) {
    text = textWith(one, along)
    joinedTexts.set(name, text)
  }
  return { text, params: all.flatMap(({ params }) => params) }
}

function textWith({ text, params }: Statement, along: readonly Statement[]): string {
  let before = params.length
  const parts = along.map((one, at) => {
    const from = before
    before += one.params.length
    return `along${at} AS (${shiftParameters(one.text, from)})`
  })
  const rest = text.startsWith('WITH ') ? `, ${text.slice('WITH '.length)}` : ` ${text}`
  return `WITH ${parts.join(', ')}${rest}`
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
  /**
   * Changes of counters, which go out as one: within a change that is taken for written or the proof, and before any other
   * statement. A change may read the same row, such as that of a till, and has to find the same there.
   */
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
      const cause = this.#expects && lacksRow(failed) ? new UnexpectedRows() : (failed as Error)
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
    if (isAppend(failing)) this.post(failing, params)
    else this.#post(withAlong({ text: failing, params }, this.#joined()))
    return true
  }

  #post(one: Statement): void {
    this.#send(one).catch(() => undefined)
  }

  #flush(): void {
    for (const joined of this.#joined()) this.#post(joined)
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
    const along = [...this.#joined(), ...news.slice(-1)]
    for (const one of news.slice(0, -1)) this.#post(one)
    // A node works with the schema after its own, too.
    this.#post(withAlong({ text: proof, params: [id, this.#schema + 1] }, along))
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
