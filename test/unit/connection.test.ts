import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { Connection } from '../../src/db/connection.ts'

/** The plan that SQLite runs for this statement when `limit` is bound. */
function programOf(connection: Database, limit: number): string {
  return JSON.stringify(connection.query('EXPLAIN SELECT id FROM rows LIMIT ?').all(limit))
}

function open<Opened extends Database>(opened: Opened): Opened {
  opened.run('CREATE TABLE rows (id INTEGER PRIMARY KEY)')
  return opened
}

test('a statement is planned once, without its bound values', () => {
  const looking = open(new Database(':memory:', { strict: true }))
  // The reason for the class: SQLite by itself omits the part of a plan that LIMIT 0 never runs.
  expect(programOf(looking, 0)).not.toBe(programOf(looking, 5))
  const connection = open(new Connection(':memory:', { strict: true }))
  expect(programOf(connection, 0)).toBe(programOf(connection, 5))
})

test('parameters keep their places and numbers; strings and comments stay unchanged', () => {
  const connection = new Connection(':memory:', { strict: true })
  const text = `SELECT '?' AS mark, 'it''s ?' AS quoted, ?2 AS second, -- why?
    ?1 AS first`
  expect(connection.query<unknown, [string, number]>(text).get('a', 2)).toEqual({
    mark: '?',
    quoted: "it's ?",
    second: 2,
    first: 'a',
  })
})
