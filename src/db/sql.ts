import type { Counters } from './counters.ts'

/**
 * The statement port of the stores. Each text is written once, in the common part of SQLite and PostgreSQL.
 * Parameters are `?`, or `?1` if one occurs twice. The texts avoid:
 * - a truth value as a number. `CASE WHEN … THEN 1 ELSE 0 END` selects or stores one.
 * - ON CONFLICT without its columns, and a column name that could also mean the conflicting row,
 * - `sum` without `CAST(… AS BIGINT)`, `max` of two values, `LIMIT` inside a recursive part,
 * - `INSERT … SELECT` for one row: SQLite keeps a journal for a statement that may insert many.
 */
export type Sql = {
  /** Prepare a statement, once. */
  query<Row, Params extends SqlValue[]>(text: string): SqlQuery<Row, Params>
  /**
   * A read for `get` that an engine may do once for all operations of a commit, until one of them writes to one of the tables
   * of the statement. The statement reads no counter, and nobody changes its row.
   */
  kept<Row, Params extends SqlValue[]>(
    text: string,
    tables: readonly string[],
  ): SqlQuery<Row, Params>
  /**
   * A guarded UPDATE of one row, and an INSERT that follows from it: one statement where an engine can, with the counters that
   * were changed before. Neither reads a counter.
   */
  changeThenInsert<Params extends SqlValue[]>(
    pair: ChangeThenInsert,
  ): Pick<SqlQuery<null, Params>, 'expectOne'>
  /** The text after `IN` for a JSON array of integers, bound to `parameter`. */
  integersIn(parameter: string): string
  /** Columns of an index with texts of any length, which `long` of their schema names. */
  longTexts: {
    /** The column in the words of its index, for ON CONFLICT. */
    indexed(column: string): string
    /** The condition that a column has the text of a parameter, as an index finds it. */
    is(column: string, parameter: string): string
  }
  counters: Counters
}

/** A guarded UPDATE of one row, and the INSERT behind it. */
export type ChangeThenInsert = {
  /** Its parameters have numbers, and come before those that only the INSERT has. */
  update: string
  into: string
  /**
   * Texts by column. At least one value is `changed`, a column of the changed row, each in a column that is NOT NULL: an engine
   * may know by that alone that there was no such row. `found` is the same value for one that has run the UPDATE before.
   */
  values: Record<string, string | { changed: string; found: string }>
}

export type SqlValue = string | number | bigint | Uint8Array | null

export type SqlQuery<Row, Params extends SqlValue[]> = {
  /** The first row, or null. */
  get(...params: Params): Promise<Row | null>
  all(...params: Params): Promise<Row[]>
  /** Write. Resolves to the number of changed rows. */
  changes(...params: Params): Promise<number>
  /**
   * Write the one row that a read under the same roots has shown, or append to its counter. Resolves to false if there was
   * none. An engine may answer before it knows: where it was wrong it commits nothing, and runs the operation again.
   */
  expectOne(...params: Params): Promise<boolean>
  /** Write. The engine waits for the end before it commits. */
  run(...params: Params): void
}
