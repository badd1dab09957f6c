import { type SQLQueryBindings, Database as Sqlite, type Statement } from 'bun:sqlite'
import type { Sql, SqlQuery, SqlValue } from './sql.ts'

/**
 * A connection whose statements are planned once. SQLite looks at what is bound to a bare parameter
 * while it plans (`WHERE a = ?`, `LIMIT ?`), and then prepares the statement anew each time something
 * else is bound: ten times the cost of most of ours. It sees nothing through `likely()`, which is no
 * more than its argument.
 */
export class Connection extends Sqlite {
  override query<Row, Params extends SQLQueryBindings | SQLQueryBindings[]>(
    text: string,
  ): ReturnType<typeof Sqlite.prototype.query<Row, Params>> {
    return super.query(hideParameters(text))
  }
}

/** The statement port on one connection. Each call has ended when it returns. */
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

/** Strings and comments stay as they are. */
function hideParameters(text: string): string {
  return text.replace(/'[^']*'|--[^\n]*|\?\d*/g, (part) =>
    part.startsWith('?') ? `likely(${part})` : part,
  )
}
