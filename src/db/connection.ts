import { type SQLQueryBindings, Database as Sqlite, type Statement } from 'bun:sqlite'
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

/** The statement port on a connection. SQLite is synchronous, so each statement has run when its call returns. */
export function createSql(connection: Sqlite): Sql {
  return {
    query: <Row, Params extends SqlValue[]>(text: string): SqlQuery<Row, Params> =>
      new Query<Row, Params>(connection.query<Row, SqlValue[]>(text)),
    integersIn: (parameter) => `(SELECT value FROM json_each(${parameter}))`,
  }
}

class Query<Row, Params extends SqlValue[]> implements SqlQuery<Row, Params> {
  readonly #statement: Statement<Row, SqlValue[]>

  constructor(statement: Statement<Row, SqlValue[]>) {
    this.#statement = statement
  }

  async get(...params: Params): Promise<Row | null> {
    return this.#statement.get(...params)
  }

  async all(...params: Params): Promise<Row[]> {
    return this.#statement.all(...params)
  }

  async changes(...params: Params): Promise<number> {
    return this.#statement.run(...params).changes
  }

  run(...params: Params): void {
    this.#statement.run(...params)
  }
}

/** Wrap each parameter of a statement in `likely()`. Strings and comments stay. */
function hideParameters(text: string): string {
  return text.replace(/'[^']*'|--[^\n]*|\?\d*/g, (part) =>
    part.startsWith('?') ? `likely(${part})` : part,
  )
}
