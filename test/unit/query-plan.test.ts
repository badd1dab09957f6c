import type { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { couponSchema, migrate } from '../../src/db/migrations.ts'
import { openConnection } from '../../src/db/sqlite.ts'
import { createStores } from '../../src/db/stores.ts'

const directory = mkdtempSync(join(tmpdir(), 'cuponera-plan-'))
const connection = openConnection(join(directory, 'plan.db'))
migrate(connection, couponSchema)
afterAll(() => {
  connection.close()
  rmSync(directory, { recursive: true, force: true })
})

/** Every statement that the stores prepare on a connection. */
function preparedBy(stores: (sql: Database) => unknown): string[] {
  const seen: string[] = []
  const recording = new Proxy(connection, {
    get(target, name) {
      if (name === 'query' || name === 'prepare') {
        return (sql: string) => {
          seen.push(sql)
          return target.query(sql)
        }
      }
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  stores(recording)
  return seen
}

/**
 * Steps of a statement's plan that walk a whole table, or build an index of their own each time;
 * those of its foreign keys are in the plan, too. To take a few rows from the start of a table in
 * the order of its key is no walk.
 */
function scansOf(sql: string): string[] {
  const tables = connection
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
    .map(({ name }) => name)
  // In a plan a table goes by its alias where the statement gives it one.
  const aliases = [...sql.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)(?:\s+(?:AS\s+)?(\w+))?/gi)]
    .filter(([, table = '']) => tables.includes(table))
    .map(([, , alias = '']) => alias)
  const names = new Set([...tables, ...aliases])
  const key = 'id|definition_id, upto_voucher_id'
  for (const [, first = ''] of sql.matchAll(
    new RegExp(`FROM (\\w+)\\s+ORDER BY (?:${key}) LIMIT`, 'g'),
  )) {
    names.delete(first)
  }
  return connection
    .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => detail)
    .filter((detail) => {
      const scanned = /^SCAN (\w+)/.exec(detail)?.[1]
      return (
        (scanned !== undefined && names.has(scanned)) ||
        /AUTOMATIC|TEMP B-TREE FOR DISTINCT/.test(detail)
      )
    })
}

describe('every statement of the stores finds its rows by an index or by their id', () => {
  const statements = preparedBy(createStores)

  test('all of them are seen', () => {
    expect(statements.length).toBeGreaterThan(40)
  })

  for (const sql of statements) {
    test(sql.replaceAll(/\s+/g, ' ').trim().slice(0, 90), () => {
      expect(scansOf(sql)).toEqual([])
    })
  }
})

test('a statement that walks a table is found out', () => {
  expect(scansOf('SELECT id FROM vouchers v WHERE minted_at > ?')).toEqual(['SCAN v'])
  expect(scansOf('DELETE FROM proofs WHERE accepted_until < ?')).toEqual(['SCAN proofs'])
  expect(scansOf('SELECT count(*) FROM vouchers')).toHaveLength(1)
})
