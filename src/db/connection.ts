import { constants, type SQLQueryBindings, Database as Sqlite, type Statement } from 'bun:sqlite'
import assert from 'node:assert/strict'
import type { Batch } from './batch.ts'
import {
  type CounterTable,
  columnCounters,
  counterTables,
  countOf,
  type Summable,
} from './counters.ts'
import { lateTables } from './database.ts'
import type { ChangeThenInsert, Sql, SqlQuery, SqlValue } from './sql.ts'

/** The oldest SQLite without known WAL corruption bugs that concern us. */
const sqliteVersionMin = [3, 51, 3] as const

/**
 * A connection that plans each statement once. SQLite uses the value of a bare parameter (`WHERE a = ?`,
 * `LIMIT ?`) for its plan, and prepares the statement again when another value is bound. That costs ten
 * times as much as most statements. `likely()` returns its argument and hides the value from the planner.
 */
export class Connection extends Sqlite {
  override query<Row, Params extends SQLQueryBindings | SQLQueryBindings[]>(
    text: string,
  ): ReturnType<typeof Sqlite.prototype.query<Row, Params>> {
    return super.query(hideParameters(text))
  }
}

/** Throws if the SQLite of the program is too old. */
export function requireVersion(): void {
  const memory = new Sqlite(':memory:')
  const row = memory.query<{ version: string }, []>('SELECT sqlite_version() AS version').get()
  memory.close()
  const found = (row?.version ?? '0').split('.').map(Number)
  for (const [index, least] of sqliteVersionMin.entries()) {
    const part = found[index] ?? 0
    if (part > least) return
    if (part < least) {
      throw new Error(
        `SQLite ${row?.version} is too old: ${sqliteVersionMin.join('.')} or newer is needed`,
      )
    }
  }
}

/** Set up a new connection. One whose file cannot be read is closed, and the WAL beside the file stays. */
export function setUp(connection: Sqlite, pragmas: readonly string[]): void {
  try {
    for (const pragma of pragmas) connection.run(`PRAGMA ${pragma}`)
  } catch (cause) {
    // The last close of a file deletes its WAL, also of a damaged one. It may be all that is left.
    connection.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1)
    connection.close()
    throw cause
  }
}

/**
 * The statement port on a connection. SQLite is synchronous, so each statement has run when its call returns. Statements
 * are prepared at once, so that one that does not fit the schema ends the start; with `later`, at their first use.
 * The writing connection of the engine has a batch, and the one for reads counts its statements.
 */
export function createSql(
  connection: Sqlite,
  prepared: 'at once' | 'later' = 'at once',
  batch: Batch | null = null,
  ran: Ran | null = null,
): Sql {
  const made = <Q extends Query<unknown, never>>(query: Q): Q => {
    if (prepared === 'at once') query.prepare()
    return query
  }
  const query = <Row, Params extends SqlValue[]>(text: string): SqlQuery<Row, Params> => {
    const make = () => connection.query<Row, SqlValue[]>(text)
    return made(batch ? new BatchedQuery<Row, Params>(make, text, batch) : new Query(make, ran))
  }
  return {
    query,
    changeThenInsert<Params extends SqlValue[]>(pair: ChangeThenInsert) {
      const change = query<null, SqlValue[]>(pair.update)
      const insert = query<null, SqlValue[]>(insertOf(pair))
      const ofUpdate = Math.max(
        ...[...pair.update.matchAll(/\?(\d+)/g)].map(([, number]) => Number(number)),
      )
      return {
        async expectOne(...params: Params) {
          if (!(await change.expectOne(...params.slice(0, ofUpdate)))) return false
          insert.run(...params)
          return true
        },
      }
    },
    kept<Row, Params extends SqlValue[]>(text: string, tables: readonly string[]) {
      const make = () => connection.query<Row, SqlValue[]>(text)
      batch?.keeps(tables)
      return made(batch ? new KeptQuery<Row, Params>(make, batch) : new Query(make, ran))
    },
    integersIn: (parameter) => `(SELECT value FROM json_each(${parameter}))`,
    longTexts: {
      indexed: (column) => column,
      is: (column, parameter) => `${column} = ${parameter}`,
    },
    counters: columnCounters,
  }
}

/** The INSERT of a pair whose UPDATE has run. */
export function insertOf({ into, values }: ChangeThenInsert): string {
  const texts = Object.values(values).map((value) =>
    typeof value === 'string' ? value : value.found,
  )
  return `INSERT INTO ${into} (${Object.keys(values).join(', ')}) VALUES (${texts.join(', ')})`
}

/** The number of statements of a connection. */
export type Ran = { statements: number }

class Query<Row, Params extends SqlValue[]> implements SqlQuery<Row, Params> {
  readonly #make: () => Statement<Row, SqlValue[]>
  readonly #ran: Ran | null
  #made: Statement<Row, SqlValue[]> | null = null

  constructor(make: () => Statement<Row, SqlValue[]>, ran: Ran | null = null) {
    this.#make = make
    this.#ran = ran
  }

  prepare(): Statement<Row, SqlValue[]> {
    if (this.#ran) this.#ran.statements++
    this.#made ??= this.#make()
    return this.#made
  }

  async get(...params: Params): Promise<Row | null> {
    return this.prepare().get(...params)
  }

  async all(...params: Params): Promise<Row[]> {
    return this.prepare().all(...params)
  }

  async changes(...params: Params): Promise<number> {
    return this.prepare().run(...params).changes
  }

  async expectOne(...params: Params): Promise<boolean> {
    return (await this.changes(...params)) === 1
  }

  run(...params: Params): void {
    this.prepare().run(...params)
  }
}

/** A statement of the writing connection. It sees every change of a counter, and says what it writes. */
class BatchedQuery<Row, Params extends SqlValue[]> extends Query<Row, Params> {
  readonly #batch: Batch
  readonly #text: string
  /** The change of a counter that it makes. */
  readonly #count: Summable | undefined
  /** Found at the first use: a start makes hundreds of statements, and uses few. */
  #found: Tables | null = null

  constructor(make: () => Statement<Row, SqlValue[]>, text: string, batch: Batch) {
    super(make)
    this.#batch = batch
    this.#text = text
    this.#count = countOf(text)
  }

  get #tables(): Tables {
    this.#found ??= tablesOf(this.#text)
    return this.#found
  }

  #ready(): Statement<Row, SqlValue[]> {
    const { late, counters } = this.#tables
    if (late) this.#batch.runLate()
    else assert(!this.#batch.isLate, 'a step before the commit is for late tables only')
    if (counters.length > 0) this.#batch.write(counters)
    return this.prepare()
  }

  #ran(changes: number): number {
    if (changes > 0) this.#batch.wrote(this.#tables.written)
    return changes
  }

  override async get(...params: Params): Promise<Row | null> {
    const row = this.#ready().get(...params)
    this.#ran(this.#tables.written.length)
    return row
  }

  override async all(...params: Params): Promise<Row[]> {
    const rows = this.#ready().all(...params)
    this.#ran(this.#tables.written.length)
    return rows
  }

  override async changes(...params: Params): Promise<number> {
    return this.#ran(this.#ready().run(...params).changes)
  }

  override run(...params: Params): void {
    if (this.#count) this.#batch.putOff(this.#count, params)
    else this.#ran(this.#ready().run(...params).changes)
  }
}

/** A read whose row is found once in a commit. It reads no counter. */
class KeptQuery<Row, Params extends SqlValue[]> extends Query<Row, Params> {
  readonly #batch: Batch

  constructor(make: () => Statement<Row, SqlValue[]>, batch: Batch) {
    super(make)
    this.#batch = batch
  }

  override async get(...params: Params): Promise<Row | null> {
    return this.#batch.keep(this, params, () => this.prepare().get(...params))
  }
}

/** Tables that a statement concerns. */
type Tables = {
  /** Counters that it may read. */
  counters: readonly CounterTable[]
  written: readonly string[]
  /** It may read what steps write before the commit. */
  late: boolean
}

function tablesOf(text: string): Tables {
  return {
    counters: countersIn(text),
    written: tablesWritten(text),
    late: tablesNamed(text).some((table) => lateTables.includes(table)),
  }
}

/** Tables of counters whose numbers a statement may read. One that names all columns, or deletes, may read any. */
function countersIn(text: string): CounterTable[] {
  const words = new Set(text.split(/\W+/))
  const all = text.includes('*') || words.has('DELETE')
  const names = Object.keys(counterTables) as CounterTable[]
  return names.filter((table) => {
    const { numbers } = counterTables[table]
    return words.has(table) && (all || numbers.some((name) => words.has(name)))
  })
}

/** Tables that a statement reads or writes. No store joins them by commas. */
function tablesNamed(text: string): string[] {
  const found = text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)/g)
  return [...found].flatMap(([, table]) => table ?? [])
}

function tablesWritten(text: string): string[] {
  const found = text.matchAll(/\b(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)/g)
  return [...found].flatMap(([, table]) => table ?? [])
}

/** Wrap each parameter of a statement in `likely()`. Strings and comments stay. */
function hideParameters(text: string): string {
  return text.replace(/'[^']*'|--[^\n]*|\?\d*/g, (part) =>
    part.startsWith('?') ? `likely(${part})` : part,
  )
}
