/**
 * The statement port: every store is written on it, once for all engines. The texts are in the common
 * part of SQLite and PostgreSQL. Parameters are `?`, or `?1` where one stands twice. What they avoid:
 * - a truth value as a number: `CASE WHEN … THEN 1 ELSE 0 END` where one is selected or stored,
 * - a conflict without its columns, and a column that could also be the row that conflicts,
 * - `sum` without `CAST(… AS BIGINT)`, `max` of two values, `LIMIT` inside a recursive part.
 */
export type Sql = {
  /** A statement, prepared once. */
  query<Row, Params extends SqlValue[]>(text: string): SqlQuery<Row, Params>
  /** The text behind `IN` for a JSON array of integers that is bound to `parameter`. */
  integersIn(parameter: string): string
}

export type SqlValue = string | number | bigint | Uint8Array | null

export type SqlQuery<Row, Params extends SqlValue[]> = {
  /** The first row, or null. */
  get(...params: Params): Promise<Row | null>
  all(...params: Params): Promise<Row[]>
  /** Write; how many rows changed. */
  changes(...params: Params): Promise<number>
  /** Write. Nobody waits here for the end: the engine does, before it commits. */
  run(...params: Params): void
}
