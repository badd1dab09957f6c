import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { createSql } from '../../src/db/connection.ts'
import { relaySchema } from '../../src/db/migrations.ts'
import { createEventStore } from '../../src/relay/store.ts'

describe('every statement finds its rows by an index', () => {
  const database = new Database(':memory:', { strict: true })
  database.run(relaySchema.text)
  const statements: string[] = []
  createEventStore(
    createSql(
      new Proxy(database, {
        get(target, name) {
          if (name !== 'query') return Reflect.get(target, name, target)
          return (sql: string) => {
            statements.push(sql)
            return target.query(sql)
          }
        },
      }),
    ),
  )
  const planOf = (sql: string) =>
    database
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail)

  test('all of them are seen', () => expect(statements.length).toBeGreaterThan(18))

  for (const sql of statements) {
    test(sql.replaceAll(/\s+/g, ' ').trim(), () => {
      const plan = planOf(sql)
      expect(plan.filter((step) => /^SCAN (events|tags|deletions|[et]\b)/.test(step))).toEqual([])
      const sorted = plan.filter((step) => /TEMP B-TREE|AUTOMATIC/.test(step))
      expect({ sql, sorted }).toEqual({ sql, sorted: [] })
    })
  }

  test('a statement that walks a table is found out', () => {
    expect(planOf('SELECT id FROM events WHERE event LIKE ?')).toEqual(['SCAN events'])
  })
})
