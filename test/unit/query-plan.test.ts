import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStores } from '../../src/app/stores.ts'
import { createSql, insertOf } from '../../src/db/connection.ts'
import { columnCounters } from '../../src/db/counters.ts'
import { couponSchema, migrate, relaySchema } from '../../src/db/migrations.ts'
import type { ChangeThenInsert, Sql } from '../../src/db/sql.ts'
import { openConnection } from '../../src/db/sqlite.ts'
import { createEventStore } from '../../src/relay/store.ts'

const directory = mkdtempSync(join(tmpdir(), 'cuponera-plan-'))
const connection = openConnection(join(directory, 'plan.db'))
migrate(connection, couponSchema)
afterAll(() => {
  connection.close()
  rmSync(directory, { recursive: true, force: true })
})

/** Every statement that the stores prepare on a connection. */
function preparedBy(stores: (sql: Sql) => unknown): string[] {
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
  stores(createSql(recording))
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
  // A plan names a table by its alias where the statement has one.
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

  test('has a plan that the test reads', () => {
    expect(statements.length).toBeGreaterThan(40)
  })

  for (const sql of statements) {
    test(sql.replaceAll(/\s+/g, ' ').trim().slice(0, 90), () => {
      expect(scansOf(sql)).toEqual([])
    })
  }
})

test.each([
  ['coupons', couponSchema, 40],
  ['relay', relaySchema, 3],
])('no CHECK of the %s builds an ephemeral table at each write', (_, schema, least) => {
  using file = new Sqlite(':memory:')
  migrate(file, schema)
  const tables = file
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'",
    )
    .all()
  expect(tables.length).toBeGreaterThan(least)
  for (const { name } of tables) {
    const columns = file
      .query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)')
      .all(name)
    const program = file
      .query<{ opcode: string }, []>(
        `EXPLAIN INSERT INTO ${name} VALUES (${columns.map(() => '?').join(', ')})`,
      )
      .all()
      .map(({ opcode }) => opcode)
    expect(program, name).toContain('MakeRecord')
    expect(program, name).not.toContain('OpenEphemeral')
  }
})

test('a picture is looked for in the definitions of its owner, however many others name it', () => {
  const settle = preparedBy(createStores).find((sql) =>
    sql.startsWith('UPDATE pictures SET unused_at = CASE'),
  )
  const plan = connection.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${settle}`).all()
  const steps = plan.map(({ detail }) => detail).join('\n')
  expect(steps).toContain('revisions_by_picture (picture=? AND definition_id=?)')
})

test('a value of a changed row goes into a column that is never null: PostgreSQL knows by it that there is no such row', () => {
  const pairs: ChangeThenInsert[] = []
  const sql = createSql(connection)
  createStores({
    ...sql,
    changeThenInsert(pair) {
      pairs.push(pair)
      return sql.changeThenInsert(pair)
    },
  })
  expect(pairs.map(({ into }) => into)).toEqual(['vouchers', 'redemptions'])
  for (const { into, values } of pairs) {
    const changed = Object.keys(values).filter((column) => typeof values[column] !== 'string')
    const columns = connection
      .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${into}') WHERE "notnull"`)
      .all()
    expect(changed).not.toEqual([])
    expect(columns.map(({ name }) => name)).toEqual(expect.arrayContaining(changed))
  }
})

test('every statement is in the common part of SQLite and PostgreSQL', () => {
  const texts: string[] = []
  const nothing = async () => null
  const query = (text: string) => {
    texts.push(text)
    const writes = { changes: async () => 0, expectOne: async () => false, run: () => undefined }
    return { get: nothing, all: async () => [], ...writes }
  }
  const recording: Sql = {
    ...{ query, kept: query },
    changeThenInsert(pair) {
      texts.push(insertOf(pair))
      return query(pair.update)
    },
    integersIn: (parameter) => `(${parameter})`,
    longTexts: { indexed: (column) => column, is: (...both) => both.join(' = ') },
    counters: columnCounters,
  }
  createStores(recording)
  createEventStore(recording)
  expect(texts.length).toBeGreaterThan(180)
  expect(texts.filter(ofSqliteAlone)).toEqual([])
  expect(dialects.filter((text) => !ofSqliteAlone(text))).toEqual([])
})

/** Each uses something that only SQLite takes. */
const dialects = [
  'SELECT ifnull(a, 1) FROM t',
  'SELECT iif(a, 1, 2) FROM t',
  "SELECT a FROM t WHERE a GLOB 'x'",
  'SELECT value FROM json_each(?)',
  'SELECT unhex(a), hex(a) FROM t',
  'UPDATE t SET a = max(a, ?)',
  'INSERT OR REPLACE INTO t VALUES (?)',
  'INSERT INTO t VALUES (?) ON CONFLICT DO NOTHING',
  "DELETE FROM t WHERE a >= x'00'",
  'SELECT EXISTS (SELECT 1 FROM t) AS found',
  "SELECT a FROM t ORDER BY a = 'x' DESC",
  'SELECT sum(a) AS a FROM t',
  'SELECT a FROM t WHERE a IN chain',
  'WITH RECURSIVE c (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c LIMIT 3) SELECT id FROM c',
]

function ofSqliteAlone(text: string): boolean {
  const words =
    /\b(ifnull|iif|json_each|unhex|hex|zeroblob|last_insert_rowid|total)\(|\bGLOB\b|\bINSERT OR\b|ON CONFLICT DO\b|\bx'/i
  const pairOfValues = /\b(max|min)\([^()]*,/i
  const truthAsNumber = /SELECT EXISTS|,\s*EXISTS|ORDER BY \w+ = /i
  const wideSum = /(?<!CAST\((coalesce\()?)\bsum\(/i
  const inTable = /\bIN [a-z]/
  const boundedRecursion = /RECURSIVE[^;]*UNION ALL\s+SELECT (?:(?!SELECT)[^()])*\bLIMIT\b/i
  return [words, pairOfValues, truthAsNumber, wideSum, inTable, boundedRecursion].some((one) =>
    one.test(text),
  )
}

test('the test detects a statement that walks a table', () => {
  expect(scansOf('SELECT id FROM vouchers v WHERE minted_at > ?')).toEqual(['SCAN v'])
  expect(scansOf('DELETE FROM proofs WHERE accepted_until < ?')).toEqual(['SCAN proofs'])
  expect(scansOf('SELECT count(*) FROM vouchers')).toHaveLength(1)
})
