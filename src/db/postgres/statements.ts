import type { Sql, SqlQuery, SqlValue } from '../sql.ts'
import type { Result } from './connection.ts'
import { appendedCounters } from './counters.ts'
import { digestIn, translateStatement } from './dialect.ts'

/** A text with numbered parameters, and their values. */
export type Statement = { text: string; params: readonly SqlValue[] }

/** Where statements run: the transaction that a connection has open. */
export type Transaction = {
  send(text: string, params: readonly SqlValue[]): Promise<Result>
  /** Send a statement whose result nobody reads. The transaction waits for it before it commits. */
  post(text: string, params: readonly SqlValue[]): void
}

/** The statement port on a transaction. */
export function createSql(transaction: Transaction): Sql {
  const query = <Row, Params extends SqlValue[]>(text: string): SqlQuery<Row, Params> => {
    const translated = translateStatement(text)
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
