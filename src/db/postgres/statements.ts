import type { Sql, SqlQuery, SqlValue } from '../sql.ts'
import type { Result } from './connection.ts'
import { appendedCounters, failingAppend } from './counters.ts'
import { digestIn, translateStatement } from './dialect.ts'

/** A text with numbered parameters, and their values. */
export type Statement = { text: string; params: readonly SqlValue[] }

/** A statement that should write one row. `failing`: the same one, which fails where it would write none. */
export type Expected = { text: string; failing: string }

/** Where statements run: the transaction that a connection has open. */
export type Transaction = {
  send(text: string, params: readonly SqlValue[]): Promise<Result>
  /** Send a statement whose result nobody reads. The transaction waits for it before it commits. */
  post(text: string, params: readonly SqlValue[]): void
  /** Send a statement that should write one row, and take it for written. Where this is missing, the answer is awaited. */
  expect?(one: Expected, params: readonly SqlValue[]): Promise<boolean>
}

/** The server divides by zero where another number of rows is written than one. */
function failingWrite(text: string): string {
  return (
    failingAppend(text) ??
    `WITH written AS (${text} RETURNING 1)
     SELECT 1 / (CASE count(*) WHEN 1 THEN 1 ELSE 0 END) FROM written`
  )
}

/** The statement port on a transaction. */
export function createSql(transaction: Transaction): Sql {
  const query = <Row, Params extends SqlValue[]>(text: string): SqlQuery<Row, Params> => {
    const translated = translateStatement(text)
    let expected: Expected | null = null
    return {
      async get(...params) {
        return ((await transaction.send(translated, params)).rows[0] ?? null) as Row | null
      },
      async all(...params) {
        return (await transaction.send(translated, params)).rows as Row[]
      },
      async changes(...params) {
        return (await transaction.send(translated, params)).count
      },
      async expectOne(...params) {
        if (!transaction.expect) return (await transaction.send(translated, params)).count === 1
        expected ??= { text: translated, failing: translateStatement(failingWrite(text)) }
        return transaction.expect(expected, params)
      },
      run(...params) {
        transaction.post(translated, params)
      },
    }
  }
  return {
    query,
    // Each operation has a transaction of its own.
    kept: query,
    integersIn: (parameter) =>
      `(SELECT CAST(value AS BIGINT) FROM json_array_elements_text(${parameter}) AS value)`,
    longTexts: {
      indexed: digestIn,
      is: (column, parameter) =>
        `${column} = ${parameter} AND ${digestIn(column)} = ${digestIn(parameter)}`,
    },
    counters: appendedCounters,
  }
}
