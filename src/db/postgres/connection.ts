import type { Duplex } from 'node:stream'
import { Client, type ClientConfig, DatabaseError, types } from 'pg'
import { limits } from '../../base/limits.ts'
import type { SqlValue } from '../sql.ts'
import { type Asked, Prepared, Turn } from './turn.ts'

/** A statement that the server refused: the connection and its transaction are as the server says. */
export class StatementFailed extends Error {
  /** SQLSTATE, five characters. */
  readonly code: string
  /** The table whose rule was broken, if the server names one. */
  readonly table: string | null

  constructor(code: string, message: string, table: string | null = null) {
    super(message)
    this.code = code
    this.table = table
  }
}

/** The connection ended with statements under way: nobody told whether they ran. */
export class ConnectionLost extends Error {}

type Row = Record<string, unknown>

export type Result = {
  rows: Row[]
  /** The number of rows that the statement wrote or found. */
  count: number
  /** The word of the server for what it did: COMMIT of a failed transaction does a ROLLBACK. */
  command: string
}

/** SQLSTATE of a statement behind one that failed. */
const inFailedTransaction = '25P02'

/** SQLSTATE of a server that goes away, and those of the class "connection exception". */
const gone = /^(08|57P0)/

const [bytea, int8, text] = [17, 20, 25]

// A text of PostgreSQL holds no NUL, and a text of a stranger (the tag of an event) may. A noncharacter takes its place.
const escapes: Record<string, string> = { '\0': '\uFFFF0', '\uFFFF': '\uFFFF1' }
const escaped = /[\0\uFFFF]/
const escapedAll = /[\0\uFFFF]/g
const kept = /\uFFFF[01]/g

function escapeText(value: SqlValue): SqlValue {
  if (typeof value !== 'string' || !escaped.test(value)) return value
  return value.replace(escapedAll, (found) => escapes[found] ?? found)
}

function parseText(value: string): string {
  return value.includes('\uFFFF')
    ? value.replace(kept, (found) => (found.endsWith('0') ? '\0' : '\uFFFF'))
    : value
}

/** Numbers stay numbers, since the stores know no other kind; bytes are plain ones. */
function parserOf(oid: number): (text: string) => unknown {
  if (oid === int8) return parseInteger
  if (oid === text) return parseText
  if (oid === bytea) return (text) => Uint8Array.fromHex(text.slice(2))
  return types.getTypeParser(oid)
}

function parseInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError('an integer beyond 2^53 - 1')
  return value
}

/** The failure of the statements that the server skipped behind one that failed. Where the server goes away it is the same. */
function skippedBehind(cause: Error): Error {
  if (!(cause instanceof DatabaseError) || gone.test(cause.code ?? '')) return cause
  const skipped = new DatabaseError('skipped, since a statement before it failed', 0, 'error')
  skipped.code = inFailedTransaction
  return skipped
}

/** Throws ConnectionLost where a file that the address names (`sslrootcert`, `sslkey`) cannot be read. */
function createClient(config: ClientConfig, timeoutMs: number): Client {
  try {
    return new Client({
      ...config,
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: timeoutMs,
      types: { getTypeParser: parserOf },
    } as ClientConfig)
  } catch (cause) {
    throw new ConnectionLost(cause instanceof Error ? cause.message : String(cause))
  }
}

/**
 * One connection, pipelined: statements are sent without waiting for those before them, and the server runs
 * them in their order. It is never opened again by itself: what a broken transaction left is unknown.
 */
export class Connection {
  readonly #client: Client
  #open = true
  #silent = false
  #under = 0
  /** Seconds of `performance.now` since when the server owes an answer; null while it owes none. */
  #waitingSince: number | null = null
  #warned = false
  #gathers = false
  readonly #names = new Map<string, string>()
  /** Statements of a transaction that wait for the end of this turn of the loop. */
  #asked: Asked[] = []
  /** Those that turns have sent, by their texts. */
  readonly #prepared = new Map<string, Prepared>()
  #turnNames = 0
  /** The newest BEGIN of a turn, unless the server has taken it. */
  #begin: Asked | null = null
  readonly #onEnd: () => void
  readonly #watch: ReturnType<typeof setInterval>

  private constructor(client: Client, onEnd: () => void, silenceMs: number) {
    this.#client = client
    this.#onEnd = onEnd
    // A server that owes an answer for too long is given up: without its standby a commit waits for ever.
    const endSilent = () => {
      if (this.#waitingMs > silenceMs) this.#giveUp()
    }
    // Answers that came while this process was busy are read first.
    this.#watch = setInterval(() => {
      if (this.#waitingMs > silenceMs) setImmediate(endSilent)
    }, 500)
    this.#watch.unref()
    // A notice of class 01 at COMMIT says that a standby was not waited for.
    client.on('notice', ({ code }) => {
      if (code === '01000') this.#warned = true
    })
    client.on('error', () => this.#ended())
    client.on('end', () => this.#ended())
  }

  /** Open a connection. Rejects after `timeoutMs`. It ends when an answer takes longer than `silenceMs`. */
  static async open(
    config: ClientConfig,
    timeoutMs: number,
    onEnd: () => void,
    silenceMs = limits.databaseAnswerSeconds * 1000,
  ): Promise<Connection> {
    const client = createClient(config, timeoutMs)
    const connection = new Connection(client, onEnd, silenceMs)
    try {
      await client.connect()
    } catch (cause) {
      connection.destroy()
      throw new ConnectionLost(cause instanceof Error ? cause.message : String(cause))
    }
    return connection
  }

  get open(): boolean {
    return this.#open
  }

  /** True if it was ended because the server owed an answer for too long. */
  get silent(): boolean {
    return this.#silent
  }

  /** Call `listener` with the text of each notification of the channels that this connection listens to. */
  onNotification(listener: (text: string) => void): void {
    this.#client.on('notification', ({ payload = '' }) => listener(payload))
  }

  /** True once after the server warned that a commit is not where it should be. */
  takeWarning(): boolean {
    const warned = this.#warned
    this.#warned = false
    return warned
  }

  /** Send a statement behind those under way. Each text is prepared once. */
  async send(text: string, params: readonly SqlValue[]): Promise<Result> {
    this.#sendTurn()
    if (!this.#open) throw new ConnectionLost('the connection has ended')
    this.#under++
    this.#waitingSince ??= performance.now()
    this.#gather()
    try {
      const { rows, rowCount, command } = await this.#client.query<Row>({
        ...(params.length > 0 && { name: this.#nameOf(text) }),
        text,
        values: params.map(escapeText),
      })
      return { rows, count: rowCount ?? 0, command }
    } catch (cause) {
      throw this.#failureOf(cause)
    } finally {
      this.#answered()
    }
  }

  /**
   * The same for a statement of an open transaction, or for its BEGIN: those of one turn of the loop go out together. If one of
   * them fails, the server skips those behind it, a COMMIT included.
   */
  async sendWithin(text: string, params: readonly SqlValue[]): Promise<Result> {
    if (!this.#open) throw new ConnectionLost('the connection has ended')
    this.#under++
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const statement = this.#statementOf(text)
    this.#asked.push({ statement, values: params.map(escapeText), resolve, reject })
    if (this.#asked.length === 1) process.nextTick(() => this.#sendTurn())
    try {
      return await promise
    } catch (cause) {
      throw this.#failureOf(cause)
    } finally {
      this.#answered()
    }
  }

  /** False, and the connection ends, if the server says nothing within `ms`. */
  async answers(ms: number): Promise<boolean> {
    const timer = setTimeout(() => this.#giveUp(), ms)
    try {
      await this.send('SELECT 1', [])
      return this.#open
    } catch {
      this.destroy()
      return false
    } finally {
      clearTimeout(timer)
    }
  }

  /** End it properly; statements under way are answered first. On a dead network it ends all the same. */
  async end(): Promise<void> {
    this.#open = false
    clearInterval(this.#watch)
    const timer = setTimeout(() => this.destroy(), limits.databaseFarewellSeconds * 1000)
    await this.#client.end().finally(() => clearTimeout(timer))
  }

  /** End it at once. Whatever is under way is lost. */
  destroy(): void {
    this.#ended()
    this.#stream.destroy()
  }

  /** Another one after the begin of TLS. */
  get #stream(): Duplex {
    return (this.#client as unknown as { connection: { stream: Duplex } }).connection.stream
  }

  #sendTurn(): void {
    const asked = this.#asked
    if (asked.length === 0) return
    this.#asked = []
    const sentAt = performance.now()
    this.#waitingSince ??= sentAt
    const [first] = asked as [Asked]
    if (first.statement.text.startsWith('BEGIN')) this.#expectBegin(first)
    else if (this.#begin !== null) asked.unshift(this.#requireTransaction())
    const turn = new Turn(asked, {
      parserOf,
      newName: () => `t${this.#turnNames++}`,
      skipped: skippedBehind,
      answered: () => this.#answeredOf(sentAt),
    })
    try {
      this.#client.query(turn)
    } catch (cause) {
      // A part of it may be on its way, without its end.
      for (const { reject } of asked) reject(cause)
      this.destroy()
    }
  }

  /**
   * A statement of a turn that was sent then is answered: the server does something. A turn goes on in this way for as long
   * as its caller waits. The server tells small answers with the last one of the turn, so few statements have one wait together.
   */
  #answeredOf(sentAt: number): void {
    const now = performance.now()
    if (now - sentAt < limits.databaseCallerSeconds * 1000) this.#waitingSince = now
  }

  #expectBegin(asked: Asked): void {
    const { resolve } = asked
    this.#begin = asked
    asked.resolve = (answer) => {
      if (this.#begin === asked) this.#begin = null
      resolve(answer)
    }
  }

  /**
   * The first statement of a turn that does not know whether its transaction has begun. A BEGIN may fail (somebody cancels it,
   * for one), and the turn would be a transaction of its own. Outside of one a savepoint fails, and the turn behind it.
   */
  #requireTransaction(): Asked {
    const ignored = () => undefined
    const statement = this.#statementOf('SAVEPOINT begun')
    return { statement, values: [], resolve: ignored, reject: ignored }
  }

  #statementOf(text: string): Prepared {
    const known = this.#prepared.get(text)
    if (known !== undefined) return known
    const statement = new Prepared(text, `t${this.#turnNames++}`)
    this.#prepared.set(text, statement)
    return statement
  }

  #answered(): void {
    this.#under--
    this.#waitingSince = this.#under > 0 ? performance.now() : null
  }

  /** Send the statements of one turn of the loop as one piece: each piece costs both sides a system call or more. */
  #gather(): void {
    if (this.#gathers) return
    this.#gathers = true
    const stream = this.#stream
    stream.cork()
    process.nextTick(() => {
      this.#gathers = false
      stream.uncork()
    })
  }

  /** Milliseconds for which the server has owed an answer. */
  get #waitingMs(): number {
    return this.#waitingSince === null ? 0 : performance.now() - this.#waitingSince
  }

  #giveUp(): void {
    this.#silent = true
    this.destroy()
  }

  #ended(): void {
    if (!this.#open) return
    this.#open = false
    clearInterval(this.#watch)
    this.#onEnd()
  }

  #nameOf(text: string): string {
    const known = this.#names.get(text)
    if (known !== undefined) return known
    const name = `s${this.#names.size}`
    this.#names.set(text, name)
    return name
  }

  #failureOf(cause: unknown): Error {
    // A value that cannot be read: the statement ran.
    if (cause instanceof RangeError) return cause
    if (cause instanceof DatabaseError && !gone.test(cause.code ?? '')) {
      return new StatementFailed(cause.code ?? '', cause.message, cause.table)
    }
    this.destroy()
    return new ConnectionLost(cause instanceof Error ? cause.message : String(cause))
  }
}
