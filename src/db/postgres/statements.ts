import type { ChangeThenInsert, Sql, SqlQuery, SqlValue } from '../sql.ts'
import type { Result } from './connection.ts'
import { appendedCounters, failingAppend } from './counters.ts'
import { digestIn, translateStatement } from './dialect.ts'

/** A text with numbered parameters, and their values. */
export type Statement = { text: string; params: readonly SqlValue[] }

/** A statement that should write one row. `failing`: the same one, which fails with 23502 where it would write none. */
export type Expected = { text: string; failing: string }

/** Where statements run: the transaction that a connection has open. */
export type Transaction = {
  send(text: string, params: readonly SqlValue[]): Promise<Result>
  /** Send a statement whose result nobody reads. The transaction waits for it before it commits. */
  post(text: string, params: readonly SqlValue[]): void
  /** Send a statement that should write one row, and take it for written. Where this is missing, the answer is awaited. */
  expect?(one: Expected, params: readonly SqlValue[]): Promise<boolean>
}

/** Both statements of a pair as one. The INSERT fails, or inserts nothing, where the UPDATE has changed no row. */
function expectedOf({ update, into, values }: ChangeThenInsert): Expected {
  const given = Object.values(values)
  const changed = given.flatMap((value) => (typeof value === 'string' ? [] : value.changed))
  const head = `WITH changed AS (${update} RETURNING ${[...new Set(changed)].join(', ')})
    INSERT INTO ${into} (${Object.keys(values).join(', ')})`
  const listOf = (columnOf: (name: string) => string) =>
    given.map((value) => (typeof value === 'string' ? value : columnOf(value.changed))).join(', ')
  return {
    text: translateStatement(`${head} SELECT ${listOf((name) => `changed.${name}`)} FROM changed`),
    failing: translateStatement(
      `${head} VALUES (${listOf((name) => `(SELECT ${name} FROM changed)`)})`,
    ),
  }
}

/** The statement port on a transaction. */
export function createSql(transaction: Transaction): Sql {
  const expectOne = async (one: Expected, params: readonly SqlValue[]) =>
    transaction.expect
      ? transaction.expect(one, params)
      : (await transaction.send(one.text, params)).count === 1
  const query = <Row, Params extends SqlValue[]>(text: string): SqlQuery<Row, Params> => {
    const translated = translateStatement(text)
    const append = failingAppend(text)
    const expected = append && { text: translated, failing: translateStatement(append) }
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
        if (expected) return expectOne(expected, params)
        return (await transaction.send(translated, params)).count === 1
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
    changeThenInsert<Params extends SqlValue[]>(pair: ChangeThenInsert) {
      const expected = expectedOf(pair)
      return { expectOne: (...params: Params) => expectOne(expected, params) }
    },
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
