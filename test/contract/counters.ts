/** The contract of the counters that the statement port offers. */
import { expect } from 'bun:test'
import { type Counters, counterTables } from '../../src/db/counters.ts'
import { at, defined } from './fixtures.ts'
import type { CouponTx, It } from './harness.ts'

type Sql = CouponTx['sql']
type Numbers = [number, number, number]

export function counters(it: It<CouponTx>): void {
  it('a counter that nothing changed is zero', async (stores) => {
    await stores.read(async (tx) => {
      const none = { issued: 0, claimed: 0, voided: 0, refreshed: 0 }
      expect(await tx.vouchers.totals()).toEqual(none)
      expect(await tx.requests.load()).toBe(0)
      expect(await tx.outbox.load()).toEqual({ events: 0, bytes: 0 })
    })
  })

  it('parameters of a change may come in any order', async (stores) => {
    const count = { keys: { definition_id: '?3', expires_at: '?1' }, by: { open: '?2' } }
    const rowId = await stores.write(async (tx) => {
      const definition = await defined(tx, 1)
      for (const way of ['add', 'addToExisting'] as const) {
        const add = tx.sql.query<null, Numbers>(tx.sql.counters[way]('expiries', count))
        expect(await add.changes(at, 20, definition.rowId)).toBe(1)
      }
      return definition.rowId
    })
    expect(await stores.read(({ sql }) => open(sql, rowId))).toEqual([[at, 40]])
  })

  it('a change with a parameter that has no number is not prepared', async (stores) => {
    await stores.read(async ({ sql }) => {
      const keys = { definition_id: '?1', expires_at: '?2' }
      const bare = [
        { keys, by: { open: '?' } },
        { keys: { ...keys, expires_at: '(SELECT ? + 1)' }, by: { open: '1' } },
      ]
      for (const way of ['add', 'addToExisting'] as const) {
        const prepare = (count: Parameters<Counters['add']>[1]) => () =>
          sql.counters[way]('expiries', count)
        expect(prepare({ keys, by: { open: '?3' } })).not.toThrow()
        for (const count of bare) expect(prepare(count)).toThrow('no number')
      }
    })
  })

  it('a change of a missing row says whether it counted', async (stores) => {
    const [rowId, counted] = await stores.write(async (tx) => {
      const { rowId: id } = await defined(tx, 1)
      return [id, await adding(tx.sql).changes(id, at, 5)]
    })
    const found = await stores.read(({ sql }) => open(sql, rowId))
    expect(found).toEqual(counted === 1 ? [[at, 5]] : [])
  })

  it('a change whose key is null changes no row', async (stores) => {
    const none = '(SELECT id FROM definitions WHERE id = ?1)'
    await stores.write(async ({ sql }) => {
      const count = { keys: { definition_id: none, expires_at: '?2' }, by: { open: '?3' } }
      const text = sql.counters.addToExisting('expiries', count)
      expect(await sql.query<null, Numbers>(text).changes(1, at, 5)).toBe(0)
    })
    const expected = await stores.write(async ({ sql }) => {
      const keys = { till_id: '(SELECT id FROM tills WHERE id = ?1)', hour: '?2' }
      const text = sql.counters.addToExisting('till_hours', { keys, by: { claimed: '1' } })
      sql
        .query<null, []>(
          sql.counters.addToExisting('totals', { keys: { id: '1' }, by: { issued: '1' } }),
        )
        .run()
      return sql.query<null, [number, number]>(text).expectOne(1, at)
    })
    expect(expected).toBe(false)
  })

  it('dropped counters are zero, count on from there, and leave others as they are', async (stores) => {
    const [one, two] = await stores.write(async (tx) => {
      const [first, second] = [await defined(tx, 1), await defined(tx, 2)]
      const add = tx.sql.query<null, Numbers>(tx.sql.counters.add('expiries', byParameters))
      for (const { rowId } of [first, second]) {
        add.run(rowId, at, 3)
        add.run(rowId, at + 1, 4)
      }
      return [first.rowId, second.rowId]
    })
    const drop = (sql: Sql) => sql.query<null, [number]>(sql.counters.drop('expiries')).run(one)
    // Twice in one operation, and again in the next.
    await stores.write(async ({ sql }) => {
      drop(sql)
      drop(sql)
    })
    await stores.write(async ({ sql }) => drop(sql))
    const other = [
      [at, 3],
      [at + 1, 4],
    ]
    await stores.read(async ({ sql }) => {
      expect(await open(sql, one)).toEqual([])
      expect(await open(sql, two)).toEqual(other)
    })
    await stores.write(async ({ sql }) => {
      sql.query<null, Numbers>(sql.counters.add('expiries', byParameters)).run(one, at, 2)
    })
    await stores.read(async ({ sql }) => {
      expect(await open(sql, one)).toEqual([[at, 2]])
      expect(await open(sql, two)).toEqual(other)
    })
  })

  it('every number of a counter is kept apart', async (stores) => {
    await stores.write(async ({ sql }) => {
      const { numbers } = counterTables.totals
      const by = Object.fromEntries(numbers.map((name, index) => [name, String(10 ** index)]))
      sql.query<null, []>(sql.counters.add('totals', { keys: { id: '1' }, by })).run()
    })
    expect(await stores.read((tx) => tx.vouchers.totals())).toEqual({
      issued: 1,
      claimed: 10,
      voided: 100,
      refreshed: 1000,
    })
  })
}

const byParameters = { keys: { definition_id: '?1', expires_at: '?2' }, by: { open: '?3' } }

function adding(sql: Sql) {
  return sql.query<null, Numbers>(sql.counters.addToExisting('expiries', byParameters))
}

/** The times of a definition with open vouchers, and how many each has. */
async function open(sql: Sql, rowId: number): Promise<number[][]> {
  const rows = await sql
    .query<{ at: number; n: number }, [number]>(
      `SELECT expires_at AS at, CAST(sum(open) AS BIGINT) AS n FROM ${sql.counters.rows('expiries')}
       WHERE definition_id = ? GROUP BY expires_at HAVING sum(open) <> 0 ORDER BY expires_at`,
    )
    .all(rowId)
  return rows.map((row) => [row.at, row.n])
}
