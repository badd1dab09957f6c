import {
  constants,
  SQLiteError,
  type SQLQueryBindings,
  type Database as Sqlite,
  type Statement,
} from 'bun:sqlite'
import { Connection } from '../../src/db/connection.ts'
import { couponSchema, migrate } from '../../src/db/migrations.ts'

const openFlags =
  constants.SQLITE_OPEN_READWRITE | constants.SQLITE_OPEN_CREATE | constants.SQLITE_OPEN_URI
/** Memory has no journal file and no sync, so that only the settings about content are left. */
const pragmas = ['foreign_keys = ON', 'temp_store = MEMORY', 'cache_size = -8000']

/**
 * A disk in memory, with SQLite on it. Its connections share it, and a commit is atomic. It outlives the connections
 * of a process, so that the next process finds exactly the commits of the one before. Disks and connections are used
 * again by later worlds, because making them takes longer than most worlds.
 */
export class Disk {
  static readonly #unused: Disk[] = []
  static #made = 0
  readonly #path = `file:/simulated-${process.pid}-${Disk.#made++}?vfs=memdb`
  /** A connection that looks at the disk from outside of the service. */
  readonly looking: Connection
  /** Its statements: to plan one takes longer than to run it. */
  readonly #looks = new Map<string, Statement>()
  readonly #idle: Prepared[] = []
  /** The rows of a new database, by table. */
  readonly #first: { table: string; rows: unknown[][] }[]

  /** A disk with a new database. */
  static take(): Disk {
    return Disk.#unused.pop() ?? new Disk()
  }

  private constructor() {
    this.looking = this.#connect()
    migrate(this.looking, couponSchema)
    const tables = this.looking
      .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
    this.#first = tables.map(({ name }) => {
      return { table: name, rows: this.looking.query(`SELECT * FROM ${name}`).values() }
    })
  }

  #connect(): Connection {
    const connection = new Connection(this.#path, openFlags)
    for (const pragma of pragmas) connection.run(`PRAGMA ${pragma}`)
    return connection
  }

  /** Connect a process. */
  connect(watch: DiskWatch): WatchedConnection {
    watch.touch()
    const prepared = this.#idle.pop() ?? new Prepared(this.#connect())
    const opened = new WatchedConnection(prepared, watch, () => {
      if (prepared.connection.inTransaction) prepared.find('ROLLBACK').run()
      prepared.find('PRAGMA query_only = OFF').run()
      this.#idle.push(prepared)
    })
    watch.opened(opened)
    return opened
  }

  /** The rows of a query from outside of the service, each as a list of values. */
  look(text: string, ...params: SQLQueryBindings[]): unknown[][] {
    const statement = this.#looks.get(text) ?? this.looking.query(text)
    this.#looks.set(text, statement)
    return statement.values(...params)
  }

  /** Wipe the disk for another world. */
  giveBack(): void {
    const { looking } = this
    looking.run('PRAGMA foreign_keys = OFF')
    looking.run('BEGIN')
    for (const { table, rows } of this.#first) {
      looking.query(`DELETE FROM ${table}`).run()
      for (const row of rows) {
        looking
          .query(`INSERT INTO ${table} VALUES (${row.map(() => '?')})`)
          .run(...(row as never[]))
      }
    }
    looking.run('COMMIT')
    looking.run('PRAGMA foreign_keys = ON')
    Disk.#unused.push(this)
  }
}

/** A connection with all its statements: SQLite takes longer to prepare most of them than to run them once. */
class Prepared {
  readonly connection: Connection
  readonly #statements = new Map<string, Statement>()

  constructor(connection: Connection) {
    this.connection = connection
  }

  find(text: string): Statement {
    const known = this.#statements.get(text) ?? this.connection.query(text)
    this.#statements.set(text, known)
    return known
  }
}

/** The watch that a process has on its disk. */
export type DiskWatch = {
  /** Called before each statement and after each commit. Throws if the process dies here or has died. */
  touch(): void
  /** The fate of the next writing statement or commit. */
  fate(kind: 'statement' | 'commit'): 'done' | 'failed' | 'done, but failed'
  /** A transaction begins. */
  began(): void
  /** A transaction is on disk. `told`: the process gets to know it. */
  committed(told: boolean): void
  /** The process opened a connection. */
  opened(connection: WatchedConnection): void
  /** The process gets this error of a statement or a commit. */
  struckBy(error: Error): void
}

/** A statement came to a connection after its end. */
export class ConnectionClosed extends Error {}

/** A connection of a process, with the methods that the engine calls. */
export class WatchedConnection {
  readonly #prepared: Prepared
  readonly #watch: DiskWatch
  #end: (() => void) | null
  #writing = false

  constructor(prepared: Prepared, watch: DiskWatch, end: () => void) {
    this.#prepared = prepared
    this.#watch = watch
    this.#end = end
  }

  /** The connection as the engine has it. */
  get asEngine(): Sqlite {
    return this as unknown as Sqlite
  }

  get inTransaction(): boolean {
    return this.#prepared.connection.inTransaction
  }

  query(text: string) {
    let made: Statement | null = null
    const statement = () => {
      made ??= this.#prepared.find(text)
      return made
    }
    return {
      get: (...params: never[]) => this.#watched(text, () => statement().get(...params)),
      all: (...params: never[]) => this.#watched(text, () => statement().all(...params)),
      run: (...params: never[]) => this.#watched(text, () => statement().run(...params)),
    }
  }

  run(text: string, params: never[] = []) {
    return this.query(text).run(...params)
  }

  #watched<T>(text: string, work: () => T): T {
    // Memory has no log, so that nothing can happen while it is folded.
    if (text.startsWith('PRAGMA wal_')) return work()
    this.#watch.touch()
    if (this.#end === null) throw new ConnectionClosed(text)
    if (text === 'COMMIT' && this.#writing) return this.#commit(work)
    if (text === 'BEGIN IMMEDIATE') {
      this.#writing = true
      this.#watch.began()
    } else if (this.#writing && this.#watch.fate('statement') !== 'done') {
      throw this.#failure('IOERR')
    }
    return work()
  }

  #commit<T>(work: () => T): T {
    const fate = this.#watch.fate('commit')
    if (fate === 'failed') throw this.#failure('FULL')
    const done = work()
    this.#writing = false
    this.#watch.committed(fate === 'done')
    if (fate === 'done, but failed') throw this.#failure('IOERR_FSYNC')
    this.#watch.touch()
    return done
  }

  /** An error as SQLite throws it. */
  #failure(code: string): Error {
    const error = Object.assign(Object.create(SQLiteError.prototype), {
      ...{ name: 'SQLiteError', code: `SQLITE_${code}`, message: 'simulated' },
    })
    this.#watch.struckBy(error)
    return error
  }

  close(): void {
    this.#end?.()
    this.#end = null
  }
}
