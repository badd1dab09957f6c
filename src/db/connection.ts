import { constants, type SQLQueryBindings, Database as Sqlite, type Statement } from 'bun:sqlite'
import { columnCounters } from './counters.ts'
import type { Sql, SqlQuery, SqlValue } from './sql.ts'

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
 */
export function createSql(connection: Sqlite, prepared: 'at once' | 'later' = 'at once'): Sql {
  return {
    query<Row, Params extends SqlValue[]>(text: string): SqlQuery<Row, Params> {
      const query = new Query<Row, Params>(() => connection.query<Row, SqlValue[]>(text))
      if (prepared === 'at once') query.prepare()
      return query
    },
    integersIn: (parameter) => `(SELECT value FROM json_each(${parameter}))`,
    longTexts: {
      indexed: (column) => column,
      is: (column, parameter) => `${column} = ${parameter}`,
    },
    counters: columnCounters,
  }
}

class Query<Row, Params extends SqlValue[]> implements SqlQuery<Row, Params> {
  readonly #make: () => Statement<Row, SqlValue[]>
  #made: Statement<Row, SqlValue[]> | null = null

  constructor(make: () => Statement<Row, SqlValue[]>) {
    this.#make = make
  }

  prepare(): Statement<Row, SqlValue[]> {
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

  run(...params: Params): void {
    this.prepare().run(...params)
  }
}

/** Wrap each parameter of a statement in `likely()`. Strings and comments stay. */
function hideParameters(text: string): string {
  return text.replace(/'[^']*'|--[^\n]*|\?\d*/g, (part) =>
    part.startsWith('?') ? `likely(${part})` : part,
  )
}
